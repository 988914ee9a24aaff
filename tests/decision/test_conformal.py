"""Conformal sets: the coverage asked for, at any coverage, by class too."""

import numpy as np
import pytest
from tests.decision.worlds import world

from linnaeus.decision import STRANGENESS, Conformal
from linnaeus.decision.conformal import FittedConformal
from linnaeus.decision.scores import softmax
from linnaeus.errors import ModelFileError, UsageError
from linnaeus.types import State


def chances(n, seed, k=4):
    S, y = world("classes", n=n, k=k, seed=seed)
    return softmax(S / 3.0), y


@pytest.mark.parametrize("name", STRANGENESS)
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.99])
def test_the_sets_cover_what_they_say(name, coverage):
    hits = []
    for seed in range(20):
        fitted = Conformal(name).fit(*chances(1000, 2 * seed))
        P, y = chances(1000, 2 * seed + 1)
        hits.append(fitted.members(P, coverage)[np.arange(1000), y].mean())
    assert np.mean(hits) == pytest.approx(coverage, abs=0.015)


def test_the_coverage_is_exact_by_rank():
    P, y = chances(99, 0)
    strange = np.sort(1 - P[np.arange(99), y])
    assert Conformal().fit(P, y).bounds(0.9) == strange[89]
    assert Conformal().fit(P, y).bounds(0.995) == np.inf
    assert Conformal().fit(P, y).members(P, 0.995).all()


def test_by_class_each_class_is_covered():
    P, y = chances(20_000, 0)
    P = P * np.array([0.3, 1.0, 1.0, 1.0])  # a model that underrates one class
    P /= P.sum(axis=1, keepdims=True)
    rates = {}
    for within in ("all", "class"):
        fitted = Conformal(within=within).fit(P[:10_000], y[:10_000])
        hit = fitted.members(P[10_000:], 0.9)[np.arange(10_000), y[10_000:]]
        rates[within] = [hit[y[10_000:] == c].mean() for c in range(4)]
    assert min(rates["all"]) < 0.85
    assert rates["class"] == pytest.approx([0.9] * 4, abs=0.02)


def test_a_class_with_too_few_rows_uses_all():
    P, y = chances(300, 0, k=5)
    y[:] = np.where(y == 4, 0, y)
    y[0] = 4
    fitted = Conformal(within="class").fit(P, y)
    assert fitted.bounds(0.9)[4] == Conformal().fit(P, y).bounds(0.9)
    assert Conformal(within="class").fit(P, np.minimum(y, 3)).bounds(0.9)[4] == pytest.approx(
        fitted.bounds(0.9)[4], abs=0.1
    )


def test_many_rows_are_kept_as_few_quantiles():
    P, y = chances(50_000, 0)
    fitted = Conformal().fit(P, y)
    assert len(fitted.values) < 2500
    strange = np.sort(1 - P[np.arange(len(y)), y])
    for coverage in (0.1, 0.5, 0.9, 0.99, 0.9999):
        rank = int(np.ceil(50_001 * coverage))
        assert strange[rank - 1] <= fitted.bounds(coverage)[0] <= strange[min(rank + 25, 50_000) - 1]


def test_an_unlikely_row_gets_an_empty_set():
    P = np.tile([0.99, 0.01], (100, 1))
    sets = Conformal().fit(P, np.zeros(100, int)).sets(np.array([[0.5, 0.5], [1.0, 0.0]]), 0.9)
    assert sets.offsets.tolist() == [0, 0, 1]


@pytest.mark.parametrize("within", ["all", "class"])
@pytest.mark.parametrize("name", STRANGENESS)
def test_state_round_trip(name, within):
    P, y = chances(300, 0)
    fitted = Conformal(name, within).fit(P, y)
    again = FittedConformal.from_state(fitted.state())
    assert again.recipe == fitted.recipe
    for coverage in (0.5, 0.9, 0.999):
        np.testing.assert_array_equal(again.members(P, coverage), fitted.members(P, coverage))


def test_bad_input_is_a_sentence():
    fitted = Conformal().fit(*chances(30, 0))
    for coverage in (0.0, 1.0, 90.0):
        with pytest.raises(UsageError, match="coverage must lie between 0 and 1"):
            fitted.bounds(coverage)
    with pytest.raises(UsageError, match="strangeness takes"):
        Conformal("odd")
    with pytest.raises(UsageError, match="within takes"):
        Conformal(within="label")


CHANGES = [
    ("values", lambda v: v[:-1]),
    ("values", lambda v: v * np.nan),
    ("ranks", lambda r: r[::-1].copy()),
    ("ranks", lambda r: r + 1),
    ("ends", lambda e: e + 1),
    ("ends", lambda e: e[:1]),
    ("counts", lambda c: c * 0),
    ("counts", lambda c: np.repeat(c, 2)),
    ("counts", lambda c: c.astype(np.float64)),
]


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_hostile_states_are_refused(name, change):
    state = Conformal().fit(*chances(30, 0)).state()
    with pytest.raises(ModelFileError):
        FittedConformal.from_state(State(state.manifest, {**state.tensors, name: change(state.tensors[name])}))
    for field in ("strangeness", "within", "kind"):
        with pytest.raises(ModelFileError):
            FittedConformal.from_state(State({**state.manifest, field: "odd"}, state.tensors))
