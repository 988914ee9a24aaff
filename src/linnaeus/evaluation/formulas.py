"""The formulas of metrics: from weighted rows to one number for each weighting."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnaeus.evaluation.sample import Sample, ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles

Formula: TypeAlias = "Callable[[Sample], Doubles]"


def macro(name: str) -> Formula:
    """The plain mean of precision, recall or F1 over the classes that occur in truth or prediction."""

    def formula(sample: Sample) -> Doubles:
        counts = sample.counts
        seen = counts.seen
        return ratio((getattr(counts, name) * seen).sum(axis=1), seen.sum(axis=1))

    return formula


def weighted(name: str) -> Formula:
    """The mean over classes, weighted by support."""

    def formula(sample: Sample) -> Doubles:
        true = sample.counts.true
        return ratio((getattr(sample.counts, name) * true).sum(axis=1), true.sum(axis=1))

    return formula


def micro_precision(sample: Sample) -> Doubles:
    """The share of all predicted labels that are right."""
    return ratio(sample.counts.right.sum(axis=1), sample.counts.predicted.sum(axis=1))


def micro_recall(sample: Sample) -> Doubles:
    """The share of all true labels that are predicted."""
    return ratio(sample.counts.right.sum(axis=1), sample.counts.true.sum(axis=1))


def micro_f1(sample: Sample) -> Doubles:
    """2 right / (true + predicted), over all labels together."""
    counts = sample.counts
    return ratio(2.0 * counts.right.sum(axis=1), counts.true.sum(axis=1) + counts.predicted.sum(axis=1))


def accuracy(sample: Sample) -> Doubles:
    """The share of rows (of tokens for tags) predicted correctly; a row without a prediction counts as an error."""
    task = sample.facts.task
    if task == "tags":
        return share_of("right_tokens", "tokens")(sample)
    if task == "candidates":
        return sample.mean_of("found_at_1")
    return ratio(sample.counts.right.sum(axis=1), sample.total)


def share_of(right: str, among: str) -> Formula:
    """The ratio of the sums of two numbers of each row."""

    def formula(sample: Sample) -> Doubles:
        return ratio(sample.sum(sample.value(right)), sample.sum(sample.value(among)))

    return formula


def entity_f1(sample: Sample) -> Doubles:
    """2 right / (true + predicted), over all entities."""
    there, predicted, right = (
        sample.sum(sample.value(name)) for name in ("entities", "predicted_entities", "right_entities")
    )
    return ratio(2.0 * right, there + predicted)


def balanced_accuracy(sample: Sample) -> Doubles:
    """The mean recall of the classes that have true rows."""
    there = sample.counts.true > 0
    return ratio((sample.counts.recall * there).sum(axis=1), there.sum(axis=1))


def coverage(sample: Sample) -> Doubles:
    """The share of rows with a prediction."""
    return ratio(sample.counts.predicted.sum(axis=1), sample.total)


def cost(sample: Sample) -> Doubles:
    """The mean cost l(y', y) of the rows with a prediction."""
    return ratio(sample.sum(sample.value("cost")), sample.sum(sample.value("answered")))


def mean_of(name: str, divisor: float = 1.0) -> Formula:
    """The mean of one number of each row."""

    def formula(sample: Sample) -> Doubles:
        return sample.mean_of(name) / divisor

    return formula


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


def _sizes(sample: Sample) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """How many labels of each row are true, predicted, and both."""
    facts = sample.facts
    true, predicted, both = (np.diff(sets.offsets) for sets in (facts.truth, facts.predicted, facts.hits))
    return true, predicted, both


def sample_precision(sample: Sample) -> Doubles:
    """The mean over rows of the share of predicted labels that are right; 0 for rows without predictions."""
    _, predicted, both = _sizes(sample)
    return sample.mean(ratio(both, predicted))


def sample_recall(sample: Sample) -> Doubles:
    """The mean over rows of the share of true labels that are predicted; 0 for rows without true labels."""
    true, _, both = _sizes(sample)
    return sample.mean(ratio(both, true))


def sample_f1(sample: Sample) -> Doubles:
    """The mean over rows of 2 |Y and Y'| / (|Y| + |Y'|); 0 for rows where both are empty."""
    true, predicted, both = _sizes(sample)
    return sample.mean(ratio(2.0 * both, true + predicted))


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
    found: Doubles = np.sqrt(_each(sample, "error", np.square)).mean(axis=1)
    return found


def mean_absolute(sample: Sample) -> Doubles:
    """Mean |y' - y|."""
    found: Doubles = _each(sample, "error", np.abs).mean(axis=1)
    return found


def explained(sample: Sample) -> Doubles:
    """R2 = 1 - mean (y' - y)^2 / variance of y; where y is constant, 1 if every prediction is right and else 0."""
    left = _each(sample, "error", np.square)
    centered = _each(sample, "target", lambda y: y - _center(y))
    squares = _each(sample, "target", lambda y: np.square(y - _center(y)))
    spread = squares - centered**2
    # What is left of a constant target is rounding, and no spread.
    constant = spread <= 1e-12 * squares
    found: Doubles = np.where(constant, left == 0, 1.0 - left / np.where(constant, 1.0, spread)).mean(axis=1)
    return found


def _center(y: Doubles) -> float:
    """The mean, and exactly the value of a constant."""
    return float(y[0] if (y == y[0]).all() else y.mean())


def median_absolute(sample: Sample) -> Doubles:
    """The weighted median of |y' - y|: half of the weight lies on either side."""
    block = np.abs(sample.value("error"))
    found: Doubles = np.stack([_medians(block[:, j], sample.M) for j in range(block.shape[1])]).mean(axis=0)
    return found


def _medians(values: Doubles, M: Doubles) -> Doubles:
    order = np.argsort(values, kind="stable")
    ordered, reached = values[order], np.cumsum(np.take(M, order, axis=1), axis=1)
    half = reached[:, -1:] / 2.0
    # Where a value reaches exactly half of the weight, the median is the mean with the next one that has any.
    low, high = (reached >= half).argmax(axis=1), (reached > half).argmax(axis=1)
    found: Doubles = (ordered[low] + ordered[high]) / 2.0
    return found
