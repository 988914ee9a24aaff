"""Intervals hold their own estimate, keep the range of their metric, and cover the truth as often as they say."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.makers import numbers, sets, single

from linnaeus.errors import UsageError
from linnaeus.evaluation import METRICS, Outcome, bootstrap, by_length, column, compare, evaluate, observe, slices
from linnaeus.evaluation.formulas import whole
from linnaeus.evaluation.intervals import interval, normal_quantile, redraw


def guesses(rng: np.random.Generator, n: int, k: int, signal: float, skew: float = 0.0, scale: float = 1.0) -> Outcome:
    """Rows of k classes, the first the most frequent, and probabilities that are calibrated if `scale` is 1."""
    shares = np.arange(1.0, k + 1) ** -skew
    truth = rng.choice(k, n, p=shares / shares.sum())
    S = rng.normal(size=(n, k))
    S[np.arange(n), truth] += signal
    P = np.exp(scale * signal * (S - S.max(axis=1, keepdims=True)))
    return Outcome(truth, P.argmax(axis=1), [str(i) for i in range(k)], P / P.sum(axis=1, keepdims=True))


def test_sixty_rows_of_sixty_classes_hold_their_average_precision():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(60), 60)
    found = evaluate(Outcome(np.arange(60), P.argmax(axis=1), [str(i) for i in range(60)], P))
    for name, (low, high) in found.intervals.items():
        assert low <= found.metrics[name] <= high, name


@pytest.mark.parametrize("make", [single, sets, numbers])
@pytest.mark.parametrize("n", [2, 7, 60])
def test_every_interval_holds_its_estimate_and_keeps_its_range(make, n):
    for seed in range(3):
        found = evaluate(make(seed, n=n), rounds=50)
        for name, (low, high) in found.intervals.items():
            scale = METRICS[name].scale
            assert low <= found.metrics[name] <= high, name
            assert scale == "explained" or low >= 0, name
            assert scale not in ("share", "explained") or high <= 1, name


@given(st.integers(1, 60), st.integers(0, 2**32), st.integers(2, 6))
def test_comparisons_hold_their_difference(n, seed, k):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    pair = [Outcome(truth, rng.integers(0, k, n), [str(i) for i in range(k)]) for _ in range(2)]
    for found in compare(*pair, rounds=20).differences:
        assert found.low <= found.difference <= found.high


def test_accuracy_has_wilsons_interval():
    right = np.arange(120) < 104
    low, high = bootstrap(Outcome(np.zeros(120, int), 1 - right, "ab"), ["accuracy"], rounds=20_000)["accuracy"]
    p, n, z = 104 / 120, 120, NormalDist().inv_cdf(0.975)
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert (low, high) == pytest.approx(
        ((middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)), abs=0.002
    )


def test_where_all_rows_are_right_the_interval_still_has_a_length():
    found = evaluate(Outcome([0, 1] * 10, [0, 1] * 10, "ab"))
    low, high = found.intervals["accuracy"]
    assert (round(low, 3), high) == (0.839, 1.0)
    weighted = evaluate(Outcome([0, 1] * 10, [0, 1] * 10, "ab", weights=[1.0] * 10 + [1e-9] * 10))
    assert weighted.intervals["accuracy"][0] < low, "rows that hardly count make nothing sure"


def test_one_number_has_one_interval():
    """The whole of a page of slices, and the page above it."""
    outcome = single(0)
    found = evaluate(outcome, seed=4)
    names = list(found.intervals)
    texts = ["x" * (i % 40) for i in range(found.rows)]
    for by in (by_length(texts), column("half", [i % 2 for i in range(found.rows)])):
        parts = slices(outcome, by, names, seed=4)
        assert parts.whole.intervals == found.intervals
        assert parts.whole.metrics == found.metrics


def test_pages_say_the_method():
    outcome = single(0)
    said = "confidence intervals: score method, standard errors by bootstrap"
    assert said in str(evaluate(outcome))
    assert said in str(slices(outcome, column("half", [i % 2 for i in range(len(observe(outcome)))])))
    assert said not in str(evaluate(outcome, rounds=0))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999999])
def test_quantiles_of_the_normal_distribution(level):
    assert normal_quantile(level) == pytest.approx(NormalDist().inv_cdf((1 + level) / 2), abs=1e-9)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0])
def test_a_level_is_a_part_of_one(level):
    with pytest.raises(UsageError, match="between 0 and 1"):
        normal_quantile(level)


SETTINGS = [(30, 2, 2.5, 0.0), (100, 5, 2.0, 0.5), (300, 20, 2.0, 1.0)]
LEAST = {"accuracy": 0.93, "macro_f1": 0.91, "weighted_f1": 0.92, "balanced_accuracy": 0.91}


def coverage(n: int, k: int, shape: tuple[float, ...], names: list[str], trials: int) -> tuple[dict[str, float], ...]:
    """How often score intervals and percentile intervals contain the metrics of a large population."""
    rng = np.random.default_rng(0)
    true = evaluate(guesses(rng, 100_000, k, *shape), rounds=0).metrics
    ours, percentiles = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for trial in range(trials):
        facts = observe(guesses(rng, n, k, *shape))
        drawn, sample = redraw([facts], names, trial, 200), whole(facts)
        for name in names:
            metric = METRICS[name]
            low, high = interval(float(metric.formula(sample)[0]), drawn[name][0], 0.95, metric.scale, n)
            ours[name] += low <= true[name] <= high
            low, high = np.quantile(drawn[name][0], [0.025, 0.975])
            percentiles[name] += low <= true[name] <= high
    return tuple({name: count / trials for name, count in found.items()} for found in (ours, percentiles))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k", "signal", "skew"), SETTINGS)
def test_intervals_cover_the_value_of_the_population(n, k, signal, skew):
    """95 % intervals hold the metrics of a large population about 95 times in 100, and oftener than percentiles do."""
    names = [*LEAST, "average_precision", "log_loss", "brier"]
    ours, percentiles = coverage(n, k, (signal, skew), names, 400)
    for name, least in LEAST.items():
        assert ours[name] >= least, name
    for name in names:
        assert ours[name] >= percentiles[name] - 0.01, name


LOW = [
    (30, 2, (2.5,), {"log_loss": 0.76, "brier": 0.76, "ece": 0.0}),
    (60, 20, (2.0, 1.0), {"macro_f1": 0.74, "average_precision": 0.50}),
    (300, 20, (2.0, 1.0), {"average_precision": 0.84, "ece": 0.0}),
    (30, 2, (2.5, 0.0, 0.5), {"ece": 0.59}),
    (100, 2, (2.5, 0.0, 0.5), {"ece": 0.68}),
    (100, 5, (2.0, 0.5, 0.5), {"ece": 0.86}),
    (1_000, 5, (2.0, 0.5, 0.5), {"ece": 0.94}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k", "shape", "shown"), LOW)
def test_low_coverage_is_what_the_page_of_evaluation_shows(n, k, shape, shown):
    """A better interval changes these figures: then the page has to change too."""
    ours, _ = coverage(n, k, shape, list(shown), 200)
    assert ours == pytest.approx(shown, abs=0.05)
