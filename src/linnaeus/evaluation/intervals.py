"""Score intervals: all values of a metric that lie within z standard errors of the estimate.

    |estimate - v| <= z * sd(v),   sd(v)^2 = variance of resamples * V(v) / V(estimate)

V says how the variance of a metric depends on its value: v (1 - v) for shares, v for errors that have no upper bound,
1 - v for R2, and constant for differences. For accuracy this is Wilson's interval (1927): the variance of resamples is
that of a binomial. Other shares have the interval of an accuracy that varies as much. An interval always contains its
estimate and stays in the range of its metric; where all rows and so all resamples are right, it still has a length. The
variance comes from the bootstrap: the metrics are computed again on rows drawn with replacement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import erf, exp, pi, sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError, expect
from linnaeus.evaluation.facts import Facts, distinct, only
from linnaeus.evaluation.formulas import Sample, whole
from linnaeus.evaluation.metrics import METRICS, fitting
from linnaeus.evaluation.outcome import Outcome, observe
from linnaeus.kernels.hashes import scramble
from linnaeus.types import Doubles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.evaluation.metrics import View

Scale: TypeAlias = Literal["share", "error", "explained", "free"]
"""The range of a metric: 0 to 1, 0 and above, 1 and below, any number."""

METHOD = "confidence intervals: score method, standard errors by bootstrap"
"""The note on pages that show intervals."""


def interval(estimate: float, drawn: Doubles, level: float, scale: Scale, rows: float) -> tuple[float, float]:
    """The interval of an estimate, given its values in resamples and its number of rows.

    >>> import numpy as np
    >>> low, high = interval(1.0, np.ones(1000), 0.95, "share", 20)
    >>> round(low, 3), high
    (0.839, 1.0)
    """
    z, variance = normal_quantile(level), 0.0 if drawn.min() == drawn.max() else float(drawn.var())
    if scale == "explained":
        low, high = interval(1 - estimate, drawn, level, "error", rows)
        return min(1 - high, estimate), max(1 - low, estimate)
    if scale == "share":
        low, high = _share(estimate, variance, z, rows)
    elif scale == "error" and estimate > 0:
        spread = z * z * variance / estimate
        half = sqrt(spread * estimate + spread * spread / 4)
        low, high = estimate + spread / 2 - half, estimate + spread / 2 + half
    else:
        low, high = estimate - z * sqrt(variance), estimate + z * sqrt(variance)
    return min(low, estimate), max(high, estimate)


def _share(estimate: float, variance: float, z: float, rows: float) -> tuple[float, float]:
    """Wilson's interval of as many rows as would give this variance; at 0 and 1, of the rows there are."""
    at_end = not 0 < estimate < 1
    if variance == 0 and not at_end:
        return estimate, estimate
    count = rows if at_end else estimate * (1 - estimate) / variance
    middle = (estimate + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * sqrt(estimate * (1 - estimate) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def normal_quantile(level: float) -> float:
    """The number of standard deviations around the mean that contain this share of a normal distribution.

    >>> round(normal_quantile(0.95), 4)
    1.96
    """
    expect("level", level, float)
    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, such as 0.95, not {level!r}.")
    z = 0.0
    for _ in range(60):  # from below, as the error function is concave there
        z += (level - erf(z / sqrt(2))) * sqrt(pi / 2) * exp(min(z * z / 2, 700.0))
    return z


BLOCK = 1 << 18
"""Weights held at once: 2 MB, which stay in the CPU cache while all metrics use them."""

DRAWN = 1 << 22
"""Total rows drawn for metrics that use every row; with many rows, fewer resamples suffice for the variance."""

LEAST = 200
"""The least number of resamples from which a variance is estimated."""

MERGE = 16
"""Kinds of rows are drawn instead of rows if there are this many times fewer of them."""


def bootstrap(
    outcome: Outcome | Facts, metrics: Sequence[str] = (), seed: int = 0, rounds: int = 1000, level: float = 0.95
) -> dict[str, tuple[float, float]]:
    """Score intervals (see `intervals`), with the variance of n rows drawn from n with replacement (Efron, 1979).

    Without names, all metrics that fit. The same seed gives the same intervals, whichever metrics are requested.
    `rounds` is the largest number of resamples; with many rows, metrics that use every row get fewer.

    >>> from linnaeus.evaluation import Outcome
    >>> low, high = bootstrap(Outcome([0, 1] * 50, [0] * 50 + [1, 0] * 25, ["a", "b"]), ["accuracy"])["accuracy"]
    >>> 0.1 < low < 0.25 < high < 0.4
    True
    """
    facts = observe(outcome)
    sample = whole(facts)
    names = fitting(facts, metrics)
    views = {
        view: [name for name in names if METRICS[name].view_of(facts.task) == view] for view in ("answers", "rows")
    }
    drawn = redraw([facts], views["answers"], seed, rounds)
    drawn |= redraw([facts], views["rows"], seed, min(rounds, max(LEAST, DRAWN // len(facts))))
    rows = float(facts.weights.sum() ** 2 / (facts.weights**2).sum())  # what weighted rows count as (Kish, 1965)
    found = {}
    for name in names:
        metric = METRICS[name]
        found[name] = interval(float(metric.formula(sample)[0]), drawn[name][0], level, metric.scale, rows)
    return found


def redraw(facts: Sequence[Facts], names: Sequence[str], seed: int, rounds: int) -> dict[str, Doubles]:
    """The metrics (len(facts), rounds) on resamples: several predictions for the same rows share their draws."""
    expect("seed", seed, int)
    expect("rounds", rounds, int)
    if rounds < 1 or seed < 0:
        raise UsageError(f"rounds must be at least 1 and seed not negative, not {rounds} and {seed}.")
    found = {name: np.empty((len(facts), rounds)) for name in names}
    views: tuple[View, ...] = ("answers", "rows")
    for stream, view in enumerate(views):
        wanted = [name for name in names if METRICS[name].view_of(facts[0].task) == view]
        if not wanted:
            continue
        first, group = _kinds(facts) if view == "answers" else (None, None)
        seen = list(facts) if first is None else [part.take(first) for part in facts]
        plain = all((part.weights == 1.0).all() for part in seen)
        start = 0
        for drawn in _draws(group, len(facts[0]), (seed, stream), rounds):
            for i, part in enumerate(seen):
                sample = Sample(part, drawn if plain else drawn * part.weights)
                for name in wanted:
                    found[name][i, start : start + len(drawn)] = METRICS[name].formula(sample)
            start += len(drawn)
    return found


def _kinds(facts: Sequence[Facts]) -> tuple[NDArray[np.intp] | None, NDArray[np.intp] | None]:
    """Rows with equal truth, prediction and weight: the first of each kind, and the kind of each row."""
    if facts[0].task != "single":
        return None, None
    kind = np.zeros(len(facts[0]), np.intp)
    columns = [only(facts[0].truth), *(only(part.predicted) for part in facts), facts[0].weights]
    for column in columns:
        values, codes = distinct(column)
        _, kind = distinct(kind * len(values) + codes)
    first = np.empty(int(kind.max()) + 1, np.intp)
    first[kind[::-1]] = np.arange(len(kind))[::-1]
    return first, kind


def _draws(group: NDArray[np.intp] | None, n: int, key: tuple[int, int], rounds: int) -> Iterator[Doubles]:
    """How often each kind of row (each row without kinds) is drawn, in blocks of rounds."""
    sizes = np.ones(n, np.intp) if group is None else np.bincount(group)
    merged = MERGE * len(sizes) <= n
    block = max(1, BLOCK // len(sizes))
    starts = range(0, rounds, block)
    if merged:
        rng = np.random.default_rng(key)
        for start in starts:
            yield rng.multinomial(n, sizes / n, size=min(block, rounds - start)).astype(np.float64)
        return
    kinds = (np.arange(n) if group is None else group).astype(np.int32)
    for start in starts:
        count = min(block, rounds - start)
        drawn = np.zeros((count, len(sizes)))
        kernels.draw_rows(_key(*key), (start, count), kinds, drawn.reshape(-1), kernels.thread_count())
        yield drawn


def _key(seed: int, stream: int) -> int:
    """Combine two numbers into one seed; all bits of a large seed count."""
    found = np.uint64(stream)
    while True:
        found = scramble(found ^ np.uint64(seed & (2**64 - 1)))
        seed >>= 64
        if not seed:
            return int(found)
