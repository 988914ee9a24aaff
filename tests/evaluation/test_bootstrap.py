"""Intervals: reproducible, the same as drawing rows one by one would give, and covering what they should."""

import sys

import numpy as np
import pytest
from tests.evaluation.makers import numbers, sets, single

from linnaeus.errors import UsageError
from linnaeus.evaluation import METRICS, Outcome, bootstrap, evaluate, observe
from linnaeus.evaluation.intervals import redraw
from linnaeus.evaluation.metrics import fitting


def plain_bootstrap(outcome, name, rounds, seed=5):
    """Row by row: resample the facts, evaluate the metric."""
    facts, rng = observe(outcome), np.random.default_rng(seed)
    values = []
    for _ in range(rounds):
        part = facts.take(rng.integers(0, len(facts), len(facts)))
        values.append(evaluate(part, rounds=0).metrics[name])
    return np.array(values)


@pytest.mark.parametrize("make", [single, sets, numbers])
def test_the_same_seed_gives_the_same_intervals(make):
    outcome = make(0)
    first, again = bootstrap(outcome, seed=3, rounds=50), bootstrap(outcome, seed=3, rounds=50)
    assert first == again != bootstrap(outcome, seed=4, rounds=50)
    name = next(iter(first))
    assert bootstrap(outcome, [name], seed=3, rounds=50) == {name: first[name]}


@pytest.mark.parametrize("make", [single, sets, numbers])
def test_resamples_are_spread_as_those_of_rows_drawn_one_by_one(make):
    outcome = make(1, n=120)
    for name in ("accuracy", "macro_f1", "ece", "average_precision", "sample_f1", "r2", "median_absolute_error"):
        if name not in fitting(observe(outcome)):
            continue
        drawn = redraw([observe(outcome)], [name], 0, 1000)[name][0]
        wanted = plain_bootstrap(outcome, name, 300)
        assert drawn.mean() == pytest.approx(wanted.mean(), abs=4 * wanted.std() / 300**0.5)
        assert drawn.std() == pytest.approx(wanted.std(), rel=0.2)


def test_kinds_of_rows_and_rows_have_the_same_law():
    """20 kinds among 2,000 rows are drawn by a multinomial; weights that all differ force the draw of rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 2000)
    p = np.where(rng.random(2000) < 0.8, y, rng.integers(0, 4, 2000))
    kinds = Outcome(y, p, "abcd")
    rows = Outcome(y, p, "abcd", weights=1 + 1e-9 * np.arange(2000))
    for name in ("accuracy", "macro_f1"):
        a, b = (redraw([observe(o)], [name], 1, 2000)[name][0] for o in (kinds, rows))
        assert a.mean() == pytest.approx(b.mean(), abs=0.001)
        assert a.std() == pytest.approx(b.std(), rel=0.1)


def test_intervals_cover():
    """95 % intervals of an accuracy of 0.8 hold it about 95 times in 100."""
    rng = np.random.default_rng(7)
    held = 0
    for trial in range(200):
        right = rng.random(300) < 0.8
        low, high = bootstrap(Outcome(np.zeros(300, int), 1 - right, "ab"), ["accuracy"], trial, 300)["accuracy"]
        held += low <= 0.8 <= high
    assert 180 <= held <= 199


def test_more_level_is_a_wider_interval():
    narrow, wide = (bootstrap(single(0), ["ece"], level=level)["ece"] for level in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_evaluations_have_intervals_of_all_but_costly_metrics(monkeypatch):
    found = evaluate(single(0), rounds=30)
    assert set(found.metrics) == set(found.intervals)
    monkeypatch.setattr(sys.modules["linnaeus.evaluation.evaluate"], "SORTED", 300 * 5 * 30 - 1)
    large = evaluate(single(0), rounds=30)
    assert set(large.metrics) - set(large.intervals) == {"average_precision"}
    for name, (low, high) in found.intervals.items():
        assert low <= high, name
    assert METRICS["average_precision"].fits(observe(single(0)))


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"seed": -1}, {"level": 1.0}, {"metrics": ["nothing"]}])
def test_what_cannot_be_meant_is_refused(wrong):
    with pytest.raises(UsageError):
        bootstrap(single(0), **wrong)


def test_of_many_rows_fewer_resamples_make_the_intervals_of_means(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 400)
    chance = rng.uniform(0.05, 0.95, 400)
    outcome = Outcome(truth, (chance > 0.5).astype(int), ["a", "b"], np.column_stack([1 - chance, chance]))
    monkeypatch.setattr(sys.modules["linnaeus.evaluation.intervals"], "DRAWN", 400 * 300)
    found = evaluate(outcome, rounds=1000)
    assert found.intervals["log_loss"] == bootstrap(outcome, ["log_loss"], rounds=300)["log_loss"]
    assert found.intervals["accuracy"] == bootstrap(outcome, ["accuracy"], rounds=1000)["accuracy"]
