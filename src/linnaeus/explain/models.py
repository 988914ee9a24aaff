"""What is explained: a linear model, or how a nonlinear one behaves around one row; and its prediction for the row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from linnaeus.arrays.csr import CSR
from linnaeus.errors import UsageError, did_you_mean
from linnaeus.explain.found import Found, find, listed, located
from linnaeus.explain.words import Span, without, words
from linnaeus.frozen import dataclass
from linnaeus.protocols import ClassScores, OutputSpace, Readout, TakesMatrices, capability
from linnaeus.types import Array, Bools, Doubles, Longs, Source

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.features.base import Fitted


Scores: TypeAlias = Callable[[Source], Doubles]


class Ranked:
    """Class scores made of scores (n, w) by an output space.

    A space whose scores are not those of the classes has `readout(k)` (w, k), as two classes with one score and
    one-vs-one have; where classes are ranked by something else than sums, also `class_scores(S)`.
    """

    space: OutputSpace
    classes: tuple[str, ...]

    @property
    def readout(self) -> Doubles | None:
        """The matrix (w, k) from scores to class scores; None if they are the same."""
        own = capability(self.space, Readout)
        return None if own is None else own.readout(len(self.classes))

    def class_scores(self, S: Doubles) -> Doubles:
        """The class scores (n, k) that the output space ranks classes by."""
        own = capability(self.space, ClassScores)
        if own is not None:
            return own.class_scores(S)
        return S if self.readout is None else S @ self.readout

    def read(self, block: Doubles, chosen: Sequence[int]) -> Doubles:
        """Weights, biases or scores (..., w) of the chosen classes (..., c)."""
        R = self.readout
        return block[..., list(chosen)] if R is None else block @ R[:, list(chosen)]

    def number(self, name: str) -> int:
        """Which class has this name."""
        if name not in self.classes:
            raise UsageError(f"The model has no class {name!r}; {did_you_mean(name, self.classes)}")
        return self.classes.index(name)


@dataclass(frozen=True, eq=False)
class Linear(Ranked):
    """Scores S = X W + b (n, w), and class scores made of them by the output space.

    W (d, w) may be float32, memory-mapped, of any type that turns into numbers: only the rows that a text needs are
    read.

    >>> from linnaeus.features import Words
    >>> from linnaeus.outputs import Binary
    >>> features = Words().fit(["good", "bad"])
    >>> model = Linear(features, np.array([[-1.0], [2.0]]), np.array([0.5]), Binary(), ("neg", "pos"))
    >>> model.class_scores(model.scores(["good good bad"])).tolist()
    [[-3.5, 3.5]]
    """

    exact: ClassVar[bool] = True

    features: Fitted
    W: Array
    b: Array
    space: OutputSpace
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(self.classes))
        if len(set(self.classes)) != len(self.classes) or not self.classes:
            raise UsageError("Linear needs the names of the classes, each of them once.")
        wanted = self.features.width, self.space.width(len(self.classes))
        if tuple(self.W.shape) != wanted or tuple(self.b.shape) != wanted[1:]:
            raise UsageError(
                f"Linear has weights {tuple(self.W.shape)} and a bias {tuple(self.b.shape)}; these features, this "
                f"output and {len(self.classes)} classes need {wanted} and {wanted[1:]}."
            )

    def found(self, row: Batch) -> Found:
        """The features of a batch of one row, and where they stand."""
        return find(self.features, row)

    def scores(self, source: Batch | Sequence[str]) -> Doubles:
        """S (n, w) in float64, from the rows of W that are needed."""
        X = self.features.rows(source)
        columns, places = np.unique(X.indices[: X.nnz], return_inverse=True)
        rows = CSR(X.indptr, places.astype(np.int32), X.data[: X.nnz], len(columns))
        return rows.dot(self.weights(columns)) + np.asarray(self.b, np.float64)

    def weights(self, columns: Array) -> Doubles:
        """The weights of these features (f, w)."""
        return np.ascontiguousarray(self.W[columns], np.float64)


Weigh: TypeAlias = Callable[[CSR], tuple[Doubles, Doubles]]
"""For a matrix of one row: a weight (f, w) for each of its values, and the bias (w,)."""


@dataclass(frozen=True, eq=False)
class RowSum(Ranked):
    """A model around one row whose scores are sums over its features: their weights are those of this row.

    A bag with the pool "mean" is one: the weight of a term depends on how many terms there are. Contributions and bias
    add up to the score exactly.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> why = TextClassifier("bag").fit(texts, labels).explain("a good film")
    >>> why.predicted, why.exact
    (('pos',), True)
    """

    exact: ClassVar[bool] = True

    features: Fitted
    score: Scores
    space: OutputSpace
    classes: tuple[str, ...]
    columns: Array
    V: Doubles
    b: Doubles

    def found(self, row: Batch) -> Found:
        """The features of the row it was made for, and where they stand."""
        return find(self.features, row)

    def scores(self, source: Source) -> Doubles:
        """S (n, w), by the model itself."""
        return self.score(source)

    def weights(self, columns: Longs) -> Doubles:
        """The weights of these features of the row (f, w)."""
        return self.V[np.searchsorted(self.columns, columns)]


def row_sum(row: Batch, model: tuple[Fitted, Scores, OutputSpace, tuple[str, ...]], weigh: Weigh) -> RowSum:
    """The model around a batch of one row, given its features, scores, output space and class names.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> reason = TextClassifier("bag").fit(texts, labels).explain("a good film").reason()
    >>> abs(reason.bias + sum(part.contribution for part in reason.parts()) - reason.score) < 1e-5
    True
    """
    X = model[0].rows(row)
    return RowSum(*model, X.indices[: X.nnz], *weigh(X))


AT_ONCE = 1 << 22
"""Characters of texts, or numbers of rows, that are scored in one call."""


@dataclass(frozen=True, eq=False)
class Local(Ranked):
    """A model around one row: for each of its words (or columns), the score of the row minus the score without it.

    Contributions and bias (the remainder) add up to the score. They are valid for this text only: if two words have the
    same effect, both may get a contribution near 0. `score` gives scores (n, w) of rows.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("knn").fit(texts, labels)
    >>> why = model.explain("a good film")
    >>> why.predicted, why.exact
    (('pos',), False)
    """

    exact: ClassVar[bool] = False

    features: Fitted
    score: Scores
    space: OutputSpace
    classes: tuple[str, ...]
    row: Batch
    seen: Found
    V: Doubles
    b: Doubles

    def found(self, row: Batch) -> Found:
        """The words of the row it was made for."""
        assert row is self.row
        return self.seen

    def scores(self, source: Source) -> Doubles:
        """S (n, w), by the model itself."""
        return self.score(source)

    def weights(self, columns: Longs) -> Doubles:
        """The contribution of each of these words (f, w)."""
        return self.V[columns]


def local(row: Batch, features: Fitted, score: Scores, space: OutputSpace, classes: tuple[str, ...]) -> Local:
    """The model around a batch of one row.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("knn").fit(texts, labels)
    >>> why = model.explain("a good film")
    >>> why.predicted, why.exact
    (('pos',), False)
    """
    S = score(row)[0]
    whole = capability(features, TakesMatrices) is None
    found, parts = _worded(row) if whole else _columns(features, row)
    blocks = [score(part) for part in parts]
    V = S - np.concatenate(blocks) if blocks else np.zeros((0, len(S)))
    return Local(features, score, space, classes, row, found, V, S - V.sum(axis=0))


def _columns(features: Fitted, row: Batch) -> tuple[Found, Iterator[Batch]]:
    """The columns of a row that are not zero, and the row without each of them."""
    from linnaeus.features.precomputed import Matrix

    X = features.rows(row)
    f, names = X.nnz, features.names()
    step = max(1, AT_ONCE // max(f, 1))

    def lacking(start: int) -> Batch:
        gone = np.arange(start, min(start + step, f))
        kept = np.arange(f) != gone[:, None]
        offsets = np.arange(len(gone) + 1) * (f - 1)
        columns, values = (np.broadcast_to(part[:f], kept.shape)[kept] for part in (X.indices, X.data))
        return Matrix(rows=CSR(offsets, columns, values, features.width))

    found = listed("", [names[i] for i in X.indices[:f].tolist()], range(f), np.ones(f), [None] * f)
    return found, (lacking(start) for start in range(0, f, step))


def _worded(row: Batch) -> tuple[Found, Iterator[Batch]]:
    """The words of a row, and the row without each of them."""
    text = "" if row.text is None else row.text[0].as_py()
    groups: dict[str, list[Span]] = {}  # where each distinct word occurs
    for start, end in words(text):
        groups.setdefault(text[start:end].casefold(), []).append((start, end))
    spans, f, step = list(groups.values()), len(groups), max(1, AT_ONCE // max(len(text), 1))
    places = [(i, *span, 1.0 / len(some)) for i, some in enumerate(spans) for span in some]
    found = located(text, np.arange(f), np.ones(f), list(groups), places)
    return found, (lacking(row, text, spans[at : at + step]) for at in range(0, f, step))


def lacking(row: Batch, text: str, gone: Sequence[Sequence[Span]]) -> Batch:
    """The row once for each of these groups of words, without them."""
    texts = [without(text, spans) for spans in gone]
    return replace(row.take([0] * len(texts)), text=pa.array(texts, pa.large_string()))


Kind: TypeAlias = Literal["one", "many", "number", "tag", "arc", "candidate"]
"""What was predicted: a class, several labels, numbers, the tag or the head of a token, one of the candidates."""


@dataclass(frozen=True, eq=False)
class Answer:
    """One class, several labels, or numbers: the predicted ones and the explained ones, by class number.

    `about` has the predicted ones first, then the best of the others.
    """

    kind: Kind
    predicted: tuple[int, ...]
    about: tuple[int, ...]
    standings: Doubles

    def margin(self, K: Doubles) -> Doubles:
        """The margin of the first predicted class in class scores (n, k); not positive if it is no longer predicted."""
        lead = self.predicted[0]
        if self.kind == "many":
            return K[:, lead]
        others: Doubles = np.delete(K, lead, axis=1)
        return K[:, lead] - others.max(axis=1, initial=-np.inf)

    def flipped(self, decided: Array) -> Bools:
        """The rows where another class is predicted, or the first label is no longer among the labels."""
        lead = self.predicted[0]
        return decided != lead if self.kind == "one" else ~decided[:, lead].astype(bool)


def answer_of(decided: Array, K: Doubles) -> Answer:
    """The prediction for one row from the decision (1,) or (1, k) and the class scores (1, k).

    >>> answer_of(np.array([1]), np.array([[0.1, 0.5, 0.3]])).about
    (1, 2)
    >>> answer_of(np.array([[True, False, True]]), np.array([[0.1, -0.5, 0.3]])).about
    (2, 0, 1)
    """
    decided, standings = np.asarray(decided), K[0]
    order = np.argsort(-standings, kind="stable").tolist()
    if decided.dtype.kind == "f":
        return Answer("number", (), tuple(range(len(standings))), standings)
    if decided.ndim == 2:
        predicted = tuple(i for i in order if decided[0, i])
        others = [i for i in order if i not in predicted]
        return Answer("many", predicted, (*predicted, *others[:1]), standings)
    first = tuple(int(i) for i in decided if i >= 0)
    others = [i for i in order if i not in first]
    return Answer("one", first, (*first, *others)[:2], standings)
