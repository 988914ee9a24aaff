"""The sigmoid that classes share: what it nests, keeps, finds and leaves alone."""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.decision.worlds import log_loss, world

from linnaeus.decision import Decision, FittedDecision, SharedSigmoid, Temperature
from linnaeus.decision.calibration import FittedTemperature
from linnaeus.decision.scores import shared_chances
from linnaeus.decision.shared_sigmoid import FittedShared


def one_against_the_rest(n=3000, k=8, seed=0, curve=(0.4, 1.0)):
    """Scores of classes that may all say no, and the truth drawn from the shares of their sigmoids."""
    rng = np.random.default_rng(seed)
    S = rng.normal(-0.9, 0.3, (n, k))
    S[np.arange(n), rng.integers(k, size=n)] += 1.6 * rng.random(n)
    chances = shared_chances(S, curve)
    P = chances / chances.sum(axis=1, keepdims=True)
    return S, (P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=k - 1)


def by_hand(S, T, b):
    chances = 1 / (1 + np.exp(-(S / T + b)))
    return chances / chances.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("curve", [(0.3, -3.0), (0.4, 1.0), (0.1, 8.0)])
def test_it_finds_what_made_the_truth(curve):
    S, y = one_against_the_rest(n=20000, curve=curve)
    fitted = SharedSigmoid().fit(S, y)
    assert fitted.temperature == pytest.approx(curve[0], rel=0.1)
    assert fitted.offset == pytest.approx(curve[1], abs=0.5 + 0.1 * abs(curve[1]))


@pytest.mark.parametrize("shift", [0.0, 1e3, -50.0])
def test_it_finds_what_a_search_finds(shift):
    S, y = one_against_the_rest()
    fitted = SharedSigmoid().fit(S + shift, y)
    best = minimize(lambda at: log_loss(by_hand(S, np.exp(at[0]), at[1]), y), [-1.0, 0.0], method="Nelder-Mead")
    assert log_loss(fitted.probabilities(S + shift), y) == pytest.approx(best.fun, rel=1e-5)
    assert fitted.temperature == pytest.approx(np.exp(best.x[0]), rel=0.02)


@pytest.mark.parametrize("offset", [-800.0, -60.0, -3.0, 0.0, 5.0, 60.0])
def test_probabilities_are_shares_of_sigmoids(offset):
    S, _ = one_against_the_rest(n=50)
    L = -np.logaddexp(0.0, -(S / 0.3 + offset))
    E = np.exp(L - L.max(axis=1, keepdims=True))
    P = FittedShared("classes", 0.3, offset).probabilities(S)
    np.testing.assert_allclose(P, E / E.sum(axis=1, keepdims=True), rtol=1e-11)


def test_the_temperature_is_its_limit():
    S, _ = one_against_the_rest(n=50)
    plain = FittedTemperature("classes", 0.3).probabilities(S)
    np.testing.assert_allclose(FittedShared("classes", 0.3, -60.0).probabilities(S), plain, rtol=1e-13)
    chances = shared_chances(S, FittedTemperature("classes", 0.3).curve)
    np.testing.assert_allclose(chances / chances.sum(axis=1, keepdims=True), plain, rtol=1e-13)


def test_rows_that_need_no_offset_get_the_temperature():
    for seed in range(5):
        S, y = world("classes", seed=seed)
        found, plain = SharedSigmoid().fit(S, y), Temperature().fit(S, y)
        assert found == plain or log_loss(found.probabilities(S), y) < log_loss(plain.probabilities(S), y)
    S, y = world("classes", seed=0)
    S = S + 100.0 * np.arange(len(S)).reshape(-1, 1)  # no offset suits them all
    assert SharedSigmoid().fit(S, y) == Temperature().fit(S, y)


@pytest.mark.parametrize("kind", ["binary", "labels"])
def test_two_classes_and_label_sets_have_a_temperature(kind):
    S, truth = world(kind)
    assert SharedSigmoid().fit(S, truth) == Temperature().fit(S, truth)


def test_no_worse_than_a_temperature_on_rows_it_learned_from_and_better_on_new_ones():
    for n in (3, 30, 300, 3000):
        for seed in range(4):
            S, y = one_against_the_rest(n=n, seed=seed)
            shared, plain = (piece().fit(S, y).probabilities(S) for piece in (SharedSigmoid, Temperature))
            assert log_loss(shared, y) <= log_loss(plain, y)
    new, truth = one_against_the_rest(n=5000, seed=99)
    before = log_loss(Temperature().fit(S, y).probabilities(new), truth)
    assert log_loss(SharedSigmoid().fit(S, y).probabilities(new), truth) < 0.992 * before


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_few_rows_teach_no_offset(n):
    S, y = one_against_the_rest(n=n)
    assert isinstance(SharedSigmoid().fit(S, y), FittedTemperature)


def test_the_order_of_classes_stays():
    S, y = one_against_the_rest()
    for fitted in (SharedSigmoid().fit(S, y), FittedShared("classes", 1e-3, 40.0), FittedShared("classes", 1.0, -9.0)):
        P = fitted.probabilities(S)
        ranked = np.take_along_axis(P, np.argsort(S, axis=1), axis=1)
        assert (np.diff(ranked, axis=1) >= -1e-16).all()
        decided = FittedDecision(fitted).decide(S).labels
        np.testing.assert_array_equal(decided, S.argmax(axis=1))


def test_a_higher_score_never_lowers_its_probability():
    row = np.array([-0.5, 0.2, -1.0])
    for T, b in ((0.2, -4.0), (0.2, 0.0), (0.2, 4.0), (1e-3, 1.0)):
        rows = np.repeat(row[np.newaxis], 400, axis=0)
        rows[:, 0] = np.linspace(-3, 3, 400)
        P = FittedShared("classes", T, b).probabilities(rows)
        assert (np.diff(P[:, 0]) >= -1e-15).all()
        assert (np.diff(P[:, 1]) <= 1e-15).all()


def test_where_several_classes_say_yes_it_is_less_sure_than_a_temperature():
    S, y = one_against_the_rest()
    shared, plain = SharedSigmoid().fit(S, y), Temperature().fit(S, y)
    several = [[2.0, 1.4, *[-1.0] * 6]]
    assert shared.probabilities(several).max() < plain.probabilities(several).max()


def test_it_is_the_default_of_classes_and_saved_bit_for_bit():
    S, y = one_against_the_rest()
    fitted = Decision().learn(S, y)
    assert isinstance(fitted.calibrator, FittedShared)
    again = FittedDecision.from_state(fitted.state())
    assert again.calibrator == fitted.calibrator == Decision(calibration="shared").learn(S.copy(), y).calibrator
    assert again.probabilities(S).tobytes() == fitted.probabilities(S).tobytes()
    assert isinstance(Decision().learn(*world("binary")).calibrator, FittedTemperature)


def test_scores_of_any_size_give_the_same_probabilities():
    S, y = one_against_the_rest(n=500)
    P = SharedSigmoid().fit(S, y).probabilities(S)
    for scale in (1e-200, 1e-3, 1e200):
        np.testing.assert_allclose(SharedSigmoid().fit(S * scale, y).probabilities(S * scale), P, atol=1e-6)


@pytest.mark.parametrize(("size", "shift"), [(1e-290, 1e10), (1e290, 1e300), (1e-300, 0.0), (1.0, 1e308), (1e-9, 1e9)])
def test_rows_that_lie_far_apart_and_classes_that_hardly_differ(size, shift):
    S, y = one_against_the_rest(n=200)
    S = S * size + shift * np.linspace(-1, 1, 200).reshape(-1, 1)
    found = SharedSigmoid().fit(S, y)
    assert np.isfinite(found.probabilities(S)).all()
    assert type(found).from_state(found.state()) == found
