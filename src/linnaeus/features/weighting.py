"""Weighting of counts (binary, count, log, square root, tf-idf, BM25, naive Bayes ratios), and the length of rows.

Each class of `Values` defines the weights of the columns, learned from the training rows, and a function of the counts
of a row. The value of a negative count (signed hashing) is minus the value of its absolute value. `Weighted` applies
them to the counts of any extractor.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from linnaeus import kernels
from linnaeus.arrays.csr import CSR
from linnaeus.data.batch import Batch
from linnaeus.errors import InputTypeError, UsageError, damaged, damaged_or_newer, expect
from linnaeus.features.base import Block, Fitted, Labeled, Narrowed
from linnaeus.features.statistics import Seen, Tally, presence
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.store.states import field, nest, tensor
from linnaeus.types import Doubles, Floats, Ints, Json, Longs, Place, State

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

LARGEST_TABLE = 1 << 16
NEAR = 1 << 15  # values looked at together: 128 kB
NONE = np.zeros(0, np.float32)

Tf: TypeAlias = Literal["binary", "count", "log", "sqrt"]
Formula: TypeAlias = "Callable[[Doubles], Doubles]"
Valued: TypeAlias = "tuple[Floats, Floats]"
"""Values, and a table in which the kernel looks them up; an empty table means that they are final."""

TF: dict[str, Formula | None] = {
    "binary": np.sign,
    "count": None,
    "log": lambda counts: np.where(counts > 0, 1 + np.log(np.where(counts > 0, counts, 1)), 0),
    "sqrt": np.sqrt,
}
"""Functions of a count (at least zero); None keeps it."""


class Values(Labeled):
    """Base class of weightings of counts."""

    by_row: ClassVar[bool] = False
    """Whether a value depends on the other counts of its row."""
    counted: ClassVar[Tf] = "count"
    """What a count is worth."""

    @property
    def learns(self) -> bool:
        """Whether columns have weights, learned from the training rows."""
        return type(self).weights is not Values.weights

    def weights(self, seen: Seen) -> Floats:
        """A weight for each column, or none."""
        del seen
        return NONE

    def formula(self) -> Formula | None:
        """What a count (at least zero) is worth; None keeps it."""
        return TF[self.counted]

    def value(self, X: CSR, mean_length: float) -> Valued:
        """The values of the rows' counts, before the weights."""
        del mean_length
        return _by_table(X, self.formula())


@dataclass(frozen=True)
class Binary(Values):
    """1 if the feature is present.

    >>> from linnaeus.features import Words
    >>> Words(values=Binary()).fit_rows(["so so good"])[1].data.tolist()
    [1.0, 1.0]
    """

    counted: ClassVar[Tf] = "binary"


@dataclass(frozen=True)
class Count(Values):
    """The count itself.

    >>> from linnaeus.features import Words
    >>> Words(values=Count()).fit_rows(["so so good"])[1].data.tolist()
    [1.0, 2.0]
    """


@dataclass(frozen=True)
class Log(Values):
    """1 + ln(count).

    >>> from linnaeus.features import Words
    >>> [round(float(x), 3) for x in Words(values=Log()).fit_rows(["so so good"])[1].data]
    [1.0, 1.693]
    """

    counted: ClassVar[Tf] = "log"


@dataclass(frozen=True)
class Sqrt(Values):
    """The square root of the count.

    >>> from linnaeus.features import Words
    >>> Words(values=Sqrt()).fit_rows(["so so so so good"])[1].data.tolist()
    [1.0, 2.0]
    """

    counted: ClassVar[Tf] = "sqrt"


@dataclass(frozen=True)
class TfIdf(Values):
    """tf-idf: tf * (ln((1 + n) / (1 + df)) + 1).

    The smoothing is scikit-learn's default; tf is the count, or the function that `tf` names. scikit-learn's
    `sublinear_tf` is `tf="log"`.

    >>> from linnaeus.features import Words
    >>> [round(float(x), 3) for x in Words(values=TfIdf()).fit_rows(["so good", "so bad"])[1].data]
    [1.405, 1.0, 1.405, 1.0]
    """

    tf: Tf = "count"

    def __post_init__(self) -> None:
        if self.tf not in TF:
            raise UsageError(f"TfIdf(tf=...) must be one of {', '.join(TF)}, not {self.tf!r}.")

    def weights(self, seen: Seen) -> Floats:
        """Inverse document frequencies."""
        return (np.log((1 + seen.n) / (1 + seen.df.astype(np.float64))) + 1).astype(np.float32)

    def formula(self) -> Formula | None:
        """The term frequency."""
        return TF[self.tf]


@dataclass(frozen=True)
class BM25(Values):
    """BM25: idf * tf (k1 + 1) / (tf + k1 (1 - b + b length / mean length)).

    idf = ln(1 + (n - df + 0.5) / (df + 0.5)), which is never negative. Counts saturate, and long texts are discounted.
    The length of a row is the sum of its counts. Robertson and Zaragoza 2009, The Probabilistic Relevance Framework.

    >>> from linnaeus.features import Words
    >>> [round(float(x), 3) for x in Words(values=BM25()).fit_rows(["so good", "so bad"])[1].data]
    [0.693, 0.182, 0.693, 0.182]
    """

    k1: float = 1.2
    b: float = 0.75
    by_row: ClassVar[bool] = True

    def __post_init__(self) -> None:
        expect("BM25(k1=...)", self.k1, float)
        expect("BM25(b=...)", self.b, float)
        if not (self.k1 >= 0 and 0 <= self.b <= 1):
            raise UsageError(f"BM25 needs k1 of at least 0 and b between 0 and 1, not {self.k1} and {self.b}.")

    def weights(self, seen: Seen) -> Floats:
        """Inverse document frequencies."""
        df = seen.df.astype(np.float64)
        return np.log(1 + (seen.n - df + 0.5) / (df + 0.5)).astype(np.float32)

    def value(self, X: CSR, mean_length: float) -> Valued:
        """The saturated count."""
        tf = np.abs(X.data[: X.nnz].astype(np.float64))
        sizes = np.diff(X.indptr)
        lengths = np.bincount(np.repeat(np.arange(len(X)), sizes), weights=tf, minlength=len(X))
        discount = np.repeat(self.k1 * (1 - self.b + self.b * lengths / mean_length), sizes)
        saturated = np.divide(tf * (self.k1 + 1), tf + discount, out=np.zeros_like(tf), where=tf > 0)
        return np.copysign(saturated, X.data[: X.nnz]).astype(np.float32), NONE


@dataclass(frozen=True)
class NaiveBayes(Values):
    """Naive Bayes log-count ratio of each feature that is present.

    r = ln((p / |p|) / (q / |q|)) with p = smoothing + the number of rows of the class that have the feature, q the same
    for all other rows, |.| the sum over features. For two classes, the class is the second one (by code point). For
    more classes and for label sets, each class is compared with the rest, and the ratio with the largest absolute value
    is used (the later class in a tie). Wang and Manning 2012, Baselines and Bigrams.

    >>> from linnaeus import read
    >>> from linnaeus.features import Words
    >>> rows = read([("good film", "pos"), ("bad film", "neg")])
    >>> [round(float(x), 3) for x in Words(values=NaiveBayes()).fit_rows(rows)[1].data]
    [0.0, 0.693, -0.693, 0.0]
    """

    smoothing: float = 1.0
    needs_labels: ClassVar[bool] = True
    counted: ClassVar[Tf] = "binary"

    def __post_init__(self) -> None:
        expect("NaiveBayes(smoothing=...)", self.smoothing, float)
        if not self.smoothing > 0:
            raise UsageError(f"NaiveBayes(smoothing=...) must be above 0, not {self.smoothing}.")

    def weights(self, seen: Seen) -> Floats:
        """Log-count ratios."""
        return log_count_ratios(seen.by_label("NaiveBayes", presence), self.smoothing).astype(np.float32)


def log_count_ratios(tally: Tally, smoothing: float) -> Doubles:
    """For each column the log-count ratio of a label and the rest that is largest in absolute value (d,).

    Most labels have no row with a column: the ratio of such a label is what all of them have in common plus a number of
    its own, so that of these only the labels with the largest and the smallest number count.
    """
    if not tally.width or tally.sums is None:
        return np.zeros(tally.width)
    sums = tally.present()
    k, d = sums.shape
    if k == 2 and not tally.many:
        sums, k = sums[1:], 1
    with_label = np.asarray(sums.sum(axis=1)).ravel()
    inside, outside = smoothing * d + with_label, smoothing * d + (tally.totals.sum() - with_label)
    common = np.log(smoothing) - np.log(smoothing + tally.totals)
    own = np.log(outside) - np.log(inside)
    columns = sums.tocsc()
    column = np.repeat(np.arange(d), np.diff(columns.indptr))
    rest = tally.totals[column] - columns.data
    ratios = np.log(smoothing + columns.data) - np.log(smoothing + rest) + own[columns.indices]
    best, owner = np.zeros(d), np.full(d, -1)
    for sign in (1, -1):
        last = _absent(columns, np.lexsort((-np.arange(k), -sign * own)))
        found = np.where(last >= 0, common + own[last], -sign * np.inf)
        _later_if_larger(best, owner, found, last)
        some = np.flatnonzero(np.diff(columns.indptr))
        if len(some):
            top = sign * np.maximum.reduceat(sign * ratios, columns.indptr[some])
            at_top = np.where(ratios == np.repeat(top, np.diff(columns.indptr)[some]), columns.indices, -1)
            found, last = np.zeros(d), np.full(d, -1)
            found[some], last[some] = top, np.maximum.reduceat(at_top, columns.indptr[some])
            _later_if_larger(best, owner, found, last)
    return best


def _later_if_larger(best: Doubles, owner: Longs, found: Doubles, label: Longs) -> None:
    """Take what is larger in absolute value; of equals that of the later label."""
    better = (label >= 0) & ((np.abs(found) > np.abs(best)) | ((np.abs(found) == np.abs(best)) & (label > owner)))
    best[better], owner[better] = found[better], label[better]


def _absent(columns: csc_matrix, order: Longs) -> Longs:
    """For each column the first label in this order that has no row with it; -1 where all have."""
    by_label = columns.tocsr()
    found, left = np.full(columns.shape[1], -1), np.arange(columns.shape[1])
    there = np.zeros(columns.shape[1], bool)
    for label in order.tolist():
        mine = by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]
        there[mine] = True
        found[left[~there[left]]] = label
        left = left[there[left]]
        there[mine] = False
        if not len(left):
            break
    return found


@dataclass(frozen=True)
class Contrast(Values):
    """tf-idf with larger weights for discriminative features: the weight is idf times sqrt(1 + r^2).

    r is the log-count ratio of `NaiveBayes`, the largest in absolute value over the classes. For a linear model with an
    L2 penalty, a feature with this weight is equivalent to two features, tf-idf and tf-idf times the ratio. In
    cross-validation on ten datasets it was more accurate than tf-idf on nine, by 0.5 points in the median.

    >>> from linnaeus import read
    >>> from linnaeus.features import Words
    >>> rows = read([("good film", "pos"), ("bad film", "neg")])
    >>> [round(float(x), 3) for x in Words(values=Contrast()).fit_rows(rows)[1].data]
    [1.0, 1.71, 1.71, 1.0]
    """

    tf: Tf = "log"
    smoothing: float = 1.0
    needs_labels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        TfIdf(self.tf)
        NaiveBayes(self.smoothing)

    def weights(self, seen: Seen) -> Floats:
        """Inverse document frequencies, each times what its feature tells."""
        ratio = NaiveBayes(self.smoothing).weights(seen).astype(np.float64)
        idf = TfIdf(self.tf).weights(seen).astype(np.float64)
        return (idf * np.sqrt(1.0 + ratio * ratio)).astype(np.float32)

    def formula(self) -> Formula | None:
        """The count, as tf says."""
        return TF[self.tf]


VALUES: dict[str, type[Values]] = {
    "binary": Binary,
    "count": Count,
    "log": Log,
    "sqrt": Sqrt,
    "tfidf": TfIdf,
    "bm25": BM25,
    "nb": NaiveBayes,
    "contrast": Contrast,
}
"""What `values=...` may name."""


def resolve(values: str | Values) -> Values:
    """Return the weighting: an object unchanged, or the one with this name.

    >>> resolve("tfidf")
    TfIdf(tf='count')
    """
    if isinstance(values, Values):
        return values
    if values not in VALUES:
        raise UsageError(f"values={values!r} is not known; choose one of {', '.join(VALUES)}, or give an object.")
    return VALUES[values]()


def _by_table(X: CSR, formula: Formula | None) -> Valued:
    """The formula for every count up to the largest, or where they are not small integers, for each of them."""
    data: Floats = np.asarray(X.data[: X.nnz], np.float32)
    if formula is None:
        return data, NONE
    largest = max(float(data.max(initial=0)), -float(data.min(initial=0)))
    if largest < LARGEST_TABLE and _whole(data):
        return data, formula(np.arange(int(largest) + 1, dtype=np.float64)).astype(np.float32)
    values: Floats = np.copysign(formula(np.abs(data).astype(np.float64)), data).astype(np.float32)
    return values, NONE


def _whole(data: Floats) -> bool:
    """Whether all are whole numbers; piece by piece, so that what is made of them on the way stays near."""
    pieces = (data[start : start + NEAR] for start in range(0, len(data), NEAR))
    return all(np.array_equal(piece, np.rint(piece)) for piece in pieces)


def _log_share(counts: Doubles) -> Doubles:
    return np.log(counts / counts.sum())


Length: TypeAlias = Literal["l1", "l2"] | None
LENGTHS: dict[Length, int] = {None: 0, "l1": 1, "l2": 2}
"""What `length=...` may be, and the kernel's number for it."""


@dataclass(frozen=True)
class Weighted(Block):
    """The features of a block, weighted by `values` (a name in VALUES or an object) and normalized by `length`.

    >>> from linnaeus.features import Affixes
    >>> Weighted(Affixes((), (1,)), "binary", length="l1").fit_rows(["is as it was"])[1].data.tolist()
    [0.5, 0.5]
    """

    block: Block
    values: str | Values = "tfidf"
    length: Length = "l2"

    def __post_init__(self) -> None:
        if not isinstance(self.block, Block):
            raise InputTypeError(f"Weighted takes an extractor, not {type(self.block).__name__}.")
        resolve(self.values)
        check_length(self.length)

    def learn(self, stream: Stream) -> Fitted:
        """Fit the block, then learn the weights of its columns."""
        return learn_weights(Seen(self.block.learn(stream), stream), self.values, self.length)

    def learn_rows(self, stream: Stream) -> tuple[Fitted, CSR]:
        """The weights are learned from the block's rows, which are then valued."""
        counts, X = self.block.learn_rows(stream)
        features = learn_weights(Seen(counts, stream, rows=X), self.values, self.length)
        return features, weigh_rows(features, X)


def check_length(length: Length) -> None:
    """Refuse a length that is not in the table."""
    if length not in LENGTHS:
        raise UsageError(f"length={length!r} is not known; choose 'l1', 'l2' or None.")


def learn_weights(seen: Seen, values: str | Values, length: Length) -> Fitted:
    """Valued features from the statistics of what they count; counts without a length stay as they are."""
    piece = resolve(values)
    check_length(length)
    if piece == Count() and length is None:
        return seen.features
    weights = piece.weights(seen)
    return FittedWeighted(seen.features, piece, weights, length, seen.mean_length if piece.by_row else 1.0)


def weigh_rows(features: Fitted, X: CSR) -> CSR:
    """The rows of `features` from the counts it would have extracted; their values are overwritten."""
    return features.apply(X) if isinstance(features, FittedWeighted) else X


@dataclass(frozen=True, eq=False)
class FittedWeighted(Fitted):
    """Features that count, a way to value them, a weight for each column (or none), and the length of rows."""

    counts: Fitted
    values: Values
    weights: Floats
    length: Length = None
    mean_length: float = 1.0

    @property
    def width(self) -> int:
        """The columns of what counts."""
        return self.counts.width

    def extract(self, batch: Batch) -> CSR:
        """Counts, then values."""
        return self.apply(self.counts.extract(batch))

    def apply(self, X: CSR) -> CSR:
        """The values of counts, written over them."""
        values, table = self.values.value(X, self.mean_length)
        data = np.require(values, np.float32, ["C", "W"])
        indices = np.ascontiguousarray(X.indices[: X.nnz])
        rows = X.indptr, indices, data
        kernels.weigh(rows, table, self.weights, LENGTHS[self.length], kernels.thread_count())
        return CSR(X.indptr, indices, data, X.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """Where the counted features stand."""
        return self.counts.locate(batch)

    def names(self) -> Sequence[str]:
        """The names of the counted features."""
        return self.counts.names()

    def keep(self, columns: Ints) -> Fitted:
        """Only these columns; where values depend on the whole row, the others must still be counted."""
        if self.length is not None or self.values.by_row:
            return Narrowed(self, columns)
        return self._with(self.counts.keep(columns), columns)

    def shrink(self, columns: Ints) -> Fitted:
        """Only these columns, also where the length of a row is that of all; but not where values need all counts."""
        return Narrowed(self, columns) if self.values.by_row else self._with(self.counts.shrink(columns), columns)

    def _with(self, counts: Fitted, columns: Ints) -> Fitted:
        weights = self.weights[columns] if len(self.weights) else self.weights
        return dataclasses.replace(self, counts=counts, weights=weights)

    def state(self) -> State:
        """The counted features, the way to value them, and the weights."""
        manifest = {
            "kind": "weighted",
            "values": describe(self.values),
            "length": self.length,
            "mean_length": self.mean_length,
        }
        return nest(manifest, (self.counts,), {"weights": self.weights})

    @classmethod
    def from_state(cls, state: State, counts: Fitted) -> FittedWeighted:
        """Restore from the stored state and the counting features."""
        weights = tensor(state.tensors, "weights", np.float32)
        length = field(state.manifest, "length", (str, type(None)))
        mean_length = field(state.manifest, "mean_length", (int, float))
        if len(weights) not in (0, counts.width) or length not in LENGTHS or not mean_length > 0:
            raise damaged("the weights do not match the features")
        return cls(counts, _described(field(state.manifest, "values", dict)), weights, length, float(mean_length))


def describe(values: Values) -> dict[str, Json]:
    """A way to value counts as JSON: its name in the table, and its hyper-parameters."""
    name = next((name for name, kind in VALUES.items() if kind is type(values)), None)
    if name is None:
        raise UsageError(f"{type(values).__name__} is not in the table VALUES, so it cannot be saved.")
    return {"kind": name, **dataclasses.asdict(values)}  # type: ignore[call-overload]


def _described(manifest: dict[str, Json]) -> Values:
    fields = {name: value for name, value in manifest.items() if name != "kind"}
    try:
        return VALUES[manifest["kind"]](**fields)
    except (KeyError, TypeError, UsageError) as error:
        raise damaged_or_newer(f"its weighting {manifest!r} is unknown") from error
