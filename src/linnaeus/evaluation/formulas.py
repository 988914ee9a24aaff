"""The formulas of metrics: from weighted rows, many weightings at once, to one number for each weighting.

A metric of the data and of their thousand resamples is one formula: a resample only gives rows other weights. M (b, n)
holds b weightings of n rows, and each formula returns b numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linnaeus.evaluation.facts import Facts, Spots, runs
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Bools, Doubles

if TYPE_CHECKING:
    from numpy.typing import NDArray


TOP = (1, 3, 5)
"""The depths of precision at k."""


def leaders(S: Doubles, depth: int) -> NDArray[np.intp]:
    """The classes with the highest scores of each row, best first (n, depth); the lowest index among equals.

    >>> leaders(np.array([[0.2, 0.5, 0.5]]), 2).tolist()
    [[1, 2]]
    """
    rest = np.array(S, dtype=np.float64)
    found = np.empty((len(S), depth), np.intp)
    rows = np.arange(len(S))
    for place in range(depth):
        found[:, place] = rest.argmax(axis=1)
        rest[rows, found[:, place]] = -np.inf
    return found


def rank_of(S: Doubles, y: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many classes rank above class y of each row: by score, and by index among equal scores."""
    mine = S[np.arange(len(S)), y][:, None]
    earlier = np.arange(S.shape[1]) < y[:, None]
    return ((mine < S) | ((mine == S) & earlier)).sum(axis=1)


def average_precisions(S: Doubles, spots: Spots, M: Doubles) -> tuple[Doubles, Bools]:
    """The average precision of each class against the rest (b, k) for weighted rows M (b, n), and where it is defined.

    AP = sum over thresholds of (R_t - R_{t-1}) P_t, thresholds at the distinct scores; rows with equal scores come
    together. It is defined for classes that have true rows.
    """
    b, k = len(M), S.shape[1]
    found, there = np.zeros((b, k)), np.zeros((b, k), bool)
    weigh = _equal if (M[:, :1] == M).all() else _unequal
    cuts = np.append(spots.starts, len(spots.rows))
    for i, label in enumerate(spots.labels):
        if label < k:
            rows = spots.rows[cuts[i] : cuts[i + 1]]
            found[:, label], there[:, label] = _average_precision(np.ascontiguousarray(S[:, label]), rows, M, weigh)
    return found, there


def _average_precision(
    s: Doubles, rows: NDArray[np.intp], M: Doubles, weigh: Callable[..., Doubles]
) -> tuple[Doubles, Bools]:
    """Recall grows at the scores of true rows only: these are the thresholds that count."""
    true = s[rows]
    ordered = np.sort(true)[::-1]
    thresholds = ordered[runs(ordered)]
    near = np.flatnonzero(s >= thresholds[-1])  # rows ranked below all true rows change nothing
    above, right = weigh(s[near], M[:, near], thresholds), weigh(true, M[:, rows], thresholds)
    total = right[:, -1]
    precision = np.divide(right, above, out=np.zeros_like(right), where=above > 0)
    gains = (np.diff(right, axis=1, prepend=0.0) * precision).sum(axis=1)
    return np.divide(gains, total, out=np.zeros_like(total), where=total > 0), total > 0


def _equal(s: Doubles, M: Doubles, thresholds: Doubles) -> Doubles:
    """The weight (b, t) of the rows that reach each threshold, where all rows weigh the same: they are counted."""
    return (len(s) - np.searchsorted(np.sort(s), thresholds)) * M[:, :1]


def _unequal(s: Doubles, M: Doubles, thresholds: Doubles) -> Doubles:
    """The same for rows with weights of their own, which takes an order: several times as long as sorting numbers."""
    order = np.argsort(-s, kind="stable")
    counts = np.searchsorted(-s[order], -thresholds, side="right")
    return np.cumsum(np.take(M, order, axis=1), axis=1)[:, counts - 1]


def ratio(a: Doubles, b: Doubles) -> Doubles:
    """A / b, and 0 where b is 0: a class never predicted has precision 0, one never true has recall 0.

    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    return np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b > 0)


@dataclass(frozen=True)
class Counts:
    """Weights by class (b, k+1), or together: of true labels, predicted labels, and those both true and predicted.

    By class, the last column is for true labels that the model does not know, which are never predicted.
    """

    true: Doubles
    predicted: Doubles
    right: Doubles

    @cached_property
    def seen(self) -> Bools:
        """Classes that occur, in the truth or in the predictions: those that macro averages are over."""
        return (self.true > 0) | (self.predicted > 0)

    def score(self, name: str) -> Doubles:
        """Precision, recall or F1: 0 where nothing is predicted, true, or either."""
        return getattr(self, name)

    @cached_property
    def precision(self) -> Doubles:
        """The share of predictions of a class that are right."""
        return ratio(self.right, self.predicted)

    @cached_property
    def recall(self) -> Doubles:
        """The share of the true rows of a class that are predicted."""
        return ratio(self.right, self.true)

    @cached_property
    def f1(self) -> Doubles:
        """2 P R / (P + R) = 2 right / (true + predicted)."""
        return ratio(2.0 * self.right, self.true + self.predicted)


@dataclass(frozen=True)
class Sample:
    """Facts of n rows under b weightings (b, n)."""

    facts: Facts
    M: Doubles

    @cached_property
    def total(self) -> Doubles:
        """The sum of weights (b,)."""
        return self.M.sum(axis=1)

    @cached_property
    def counts(self) -> Counts:
        """Weights by class."""
        return Counts(*(self._by_label(spots) for spots in self.facts.spots))

    @cached_property
    def areas(self) -> tuple[Doubles, Bools]:
        """The average precision of each class (b, k), and where it is defined; only of ranked facts."""
        assert self.facts.ranked is not None
        return average_precisions(self.facts.ranked, self.facts.spots[0], self.M)

    def _by_label(self, spots: Spots) -> Doubles:
        found = np.zeros((len(self.M), self.facts.k + 1))
        if len(spots.labels):
            found[:, spots.labels] = np.add.reduceat(np.take(self.M, spots.rows, axis=1), spots.starts, axis=1)
        return found

    def sum(self, column: Array) -> Doubles:
        """The weighted sum (b,) of one number for each row; without BLAS, whose bits depend on its threads."""
        return np.einsum("bn,n->b", self.M, column.astype(np.float64))

    def mean(self, column: Array) -> Doubles:
        """The weighted mean (b,) of one number for each row."""
        return ratio(self.sum(column), self.total)

    def value(self, name: str) -> Array:
        """A column of the facts."""
        return self.facts.values[name]

    @cached_property
    def _means(self) -> dict[str, Doubles]:
        return {}

    def mean_of(self, name: str) -> Doubles:
        """The weighted mean (b,) of a column of the facts, kept for other metrics that need it."""
        if name not in self._means:
            self._means[name] = self.mean(self.value(name))
        return self._means[name]


def whole(facts: Facts) -> Sample:
    """All rows with their own weights, once."""
    return Sample(facts, facts.weights[None, :])


Formula: TypeAlias = "Callable[[Sample], Doubles]"


def macro(name: str, sample: Sample) -> Doubles:
    """The plain mean of precision, recall or F1 over the classes that occur in truth or prediction."""
    seen = sample.counts.seen
    return ratio((sample.counts.score(name) * seen).sum(axis=1), seen.sum(axis=1))


def weighted(name: str, sample: Sample) -> Doubles:
    """The mean over classes, weighted by support."""
    true = sample.counts.true
    return ratio((sample.counts.score(name) * true).sum(axis=1), true.sum(axis=1))


def micro(name: str, sample: Sample) -> Doubles:
    """Precision, recall or F1 of all labels together."""
    counts = sample.counts
    return Counts(*(part.sum(axis=1) for part in (counts.true, counts.predicted, counts.right))).score(name)


def by_row(name: str, sample: Sample) -> Doubles:
    """The mean over rows of the precision, recall or F1 of their labels."""
    return sample.mean(Counts(*_sizes(sample)).score(name))


def of_entities(name: str, sample: Sample) -> Doubles:
    """Precision, recall or F1 of all entities together."""
    names = ("entities", "predicted_entities", "right_entities")
    return Counts(*(sample.sum(sample.value(each)) for each in names)).score(name)


def accuracy(sample: Sample) -> Doubles:
    """The share of rows (of tokens for tags) predicted correctly; a row without a prediction counts as an error."""
    task = sample.facts.task
    if task == "tags":
        return share_of("right_tokens", "tokens", sample)
    if task == "candidates":
        return sample.mean_of("found_at_1")
    return ratio(sample.counts.right.sum(axis=1), sample.total)


def share_of(right: str, among: str, sample: Sample) -> Doubles:
    """The ratio of the sums of two numbers of each row."""
    return ratio(sample.sum(sample.value(right)), sample.sum(sample.value(among)))


def balanced_accuracy(sample: Sample) -> Doubles:
    """The mean recall of the classes that have true rows."""
    there = sample.counts.true > 0
    return ratio((sample.counts.recall * there).sum(axis=1), there.sum(axis=1))


RIGHT_TOKENS = ("right_arcs", "right_heads", "right_tokens")
"""Values that count the right tokens of a sentence; the first that is there is the strictest."""


def coverage(sample: Sample) -> Doubles:
    """The share of rows with a prediction."""
    if sample.facts.task in ("candidates", "many"):
        return sample.mean_of("answered")
    if "answered_tokens" in sample.facts.values:
        return share_of("answered_tokens", "tokens", sample)
    return ratio(sample.counts.predicted.sum(axis=1), sample.total)


def answered_accuracy(sample: Sample) -> Doubles:
    """The accuracy on the rows with a prediction."""
    if sample.facts.task == "candidates":
        return share_of("found_at_1", "answered", sample)
    if sample.facts.task == "many":
        return share_of("right_answers", "answered", sample)
    if "answered_tokens" in sample.facts.values:
        right = next(name for name in RIGHT_TOKENS if name in sample.facts.values)
        return share_of(right, "answered_tokens", sample)
    return micro("precision", sample)


def mean_of(name: str, divisor: float, sample: Sample) -> Doubles:
    """The mean of one number of each row."""
    return sample.mean_of(name) / divisor


def calibration_error(sample: Sample) -> Doubles:
    """Sum over bins of |sum of (right - confidence)| / n: the mean distance of confidence and accuracy by bin.

    Confidence is the largest probability of a row, right whether its class is true (Guo et al., 2017).
    """
    order, starts, gaps = sample.facts.gaps
    weighted = np.take(sample.M, order, axis=1)
    weighted *= gaps
    return ratio(np.abs(np.add.reduceat(weighted, starts, axis=1)).sum(axis=1), sample.total)


def average_precision(sample: Sample) -> Doubles:
    """The mean over classes, each against the rest, of the area under precision over recall; see `ranking`."""
    found, there = sample.areas
    return ratio(found.sum(axis=1), there.sum(axis=1))


def _sizes(sample: Sample) -> tuple[Array, Array, Array]:
    """How many labels of each row are true, predicted, and both."""
    facts = sample.facts
    true, predicted, both = (np.diff(sets.offsets) for sets in (facts.truth, facts.predicted, facts.hits))
    return true, predicted, both


def subset_accuracy(sample: Sample) -> Doubles:
    """The share of rows whose whole label set is right."""
    true, predicted, both = _sizes(sample)
    return sample.mean((true == both) & (predicted == both))


def hamming_loss(sample: Sample) -> Doubles:
    """The share of all n k label decisions that are wrong."""
    true, predicted, both = _sizes(sample)
    return sample.mean(true + predicted - 2 * both) / sample.facts.k


def _each(sample: Sample, name: str, column: Callable[[Doubles], Doubles]) -> Doubles:
    """The weighted means (b, t) of a function of each target's numbers."""
    block = sample.value(name)
    return np.stack([sample.mean(column(block[:, j])) for j in range(block.shape[1])], axis=1)


def root_mean_square(sample: Sample) -> Doubles:
    """sqrt(mean (y' - y)^2); with several targets, the mean of theirs."""
    return np.sqrt(_each(sample, "error", np.square)).mean(axis=1)


def mean_absolute(sample: Sample) -> Doubles:
    """Mean |y' - y|."""
    return _each(sample, "error", np.abs).mean(axis=1)


def explained(sample: Sample) -> Doubles:
    """R2 = 1 - mean (y' - y)^2 / variance of y; where y is constant, 1 if every prediction is right and else 0."""
    left = _each(sample, "error", np.square)
    centered = _each(sample, "target", lambda y: y - _center(y))
    squares = _each(sample, "target", lambda y: np.square(y - _center(y)))
    spread = squares - centered**2
    # What is left of a constant target is rounding, and no spread.
    constant = spread <= 1e-12 * squares
    return np.where(constant, left == 0, 1.0 - left / np.where(constant, 1.0, spread)).mean(axis=1)


def _center(y: Doubles) -> float:
    """The mean, and exactly the value of a constant."""
    return float(y[0] if (y == y[0]).all() else y.mean())


def median_absolute(sample: Sample) -> Doubles:
    """The weighted median of |y' - y|: half of the weight lies on either side."""
    block = np.abs(sample.value("error"))
    return np.stack([_medians(block[:, j], sample.M) for j in range(block.shape[1])]).mean(axis=0)


def _medians(values: Doubles, M: Doubles) -> Doubles:
    order = np.argsort(values, kind="stable")
    ordered, reached = values[order], np.cumsum(np.take(M, order, axis=1), axis=1)
    half = reached[:, -1:] / 2.0
    # Where a value reaches exactly half of the weight, the median is the mean with the next one that has any.
    low, high = (reached >= half).argmax(axis=1), (reached > half).argmax(axis=1)
    return (ordered[low] + ordered[high]) / 2.0
