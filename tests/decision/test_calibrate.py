"""Calibrators: probabilities that are right, for any scores, to the same bits."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from tests.decision.worlds import log_loss, sets_of, world

from linnaeus.decision import CALIBRATORS, Isotonic, Sigmoid, Temperature
from linnaeus.decision.fitted import restored
from linnaeus.decision.isotonic import pool
from linnaeus.errors import DataError, ModelFileError, UsageError
from linnaeus.types import LabelSets, State

KINDS = ["binary", "classes", "labels"]
every = pytest.mark.parametrize("name", CALIBRATORS)
kinds = pytest.mark.parametrize("kind", KINDS)


@every
@kinds
def test_probabilities_are_probabilities(name, kind):
    S, truth = world(kind)
    P = CALIBRATORS[name]().fit(S, truth).probabilities(S)
    assert P.shape == (400, 2 if kind == "binary" else 4)
    assert ((P >= 0) & (P <= 1)).all()
    if kind != "labels":
        np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-14)


@pytest.mark.parametrize("name", ["temperature", "shared", "sigmoid", "isotonic"])
@kinds
def test_calibration_lowers_the_loss_on_new_rows(name, kind):
    S, truth = world(kind, n=2000)
    new, y = world(kind, n=2000, seed=1)
    before = log_loss(CALIBRATORS["none"]().fit(S, truth).probabilities(new), y)
    assert log_loss(CALIBRATORS[name]().fit(S, truth).probabilities(new), y) < 0.9 * before


@every
@kinds
def test_no_finite_scores_give_nan(name, kind):
    S, truth = world(kind)
    for scale in (1e-300, 1.0, 1e299):
        fitted = CALIBRATORS[name]().fit(S * scale, truth)
        hard = np.array([1e300, -1e300, 1.7e308, -1.7e308, 0.0, 5e-324, 1e-300])
        rows = np.stack(np.meshgrid(hard, hard, hard, hard, indexing="ij"), axis=-1).reshape(-1, 4)
        P = fitted.probabilities(rows[:, : S.shape[1]])
        assert np.isfinite(P).all()


@every
@kinds
def test_one_row_has_the_bits_it_has_among_many(name, kind):
    S, truth = world(kind, k=37)
    fitted = CALIBRATORS[name]().fit(S, truth)
    P = fitted.probabilities(S)
    for i in range(0, 400, 23):
        np.testing.assert_array_equal(fitted.probabilities(S[i : i + 1]), P[i : i + 1])
    np.testing.assert_array_equal(fitted.probabilities(np.asfortranarray(S)), P)
    np.testing.assert_array_equal(CALIBRATORS[name]().fit(S.copy(), truth).probabilities(S), P)


@every
@kinds
def test_state_round_trip(name, kind):
    S, truth = world(kind)
    fitted = CALIBRATORS[name]().fit(S, truth)
    again = restored(fitted.state())
    np.testing.assert_array_equal(again.probabilities(S), fitted.probabilities(S))


@every
def test_classes_that_never_occur(name):
    S, y = world("classes", k=6)
    y = y % 3
    P = CALIBRATORS[name]().fit(S, y).probabilities(S)
    assert np.isfinite(P).all()
    assert (P > 0).all()


@every
def test_few_rows_and_scores_without_a_mistake(name):
    for n in (1, 2, 3):
        y = np.arange(n) % 3
        S = 5.0 * np.eye(3)[y]
        P = CALIBRATORS[name]().fit(S, y).probabilities(S)
        assert np.isfinite(P).all()
        assert (P.max(axis=1) < 1).all()


def test_scores_without_a_mistake_are_trusted_as_far_as_the_rows_go():
    y = np.arange(1000) % 2
    P = Temperature().fit(np.where(y, 1.0, -1.0).reshape(-1, 1), y).probabilities([[1.0]])
    assert 1e-5 < P[0, 0] < 1e-2


@kinds
def test_temperature_finds_what_a_search_finds(kind):
    S, truth = world(kind, n=5000)
    fitted = Temperature().fit(S, truth)
    none = CALIBRATORS["none"]().fit(S, truth)
    best = minimize_scalar(lambda T: log_loss(none.probabilities(S / T), truth), bounds=(0.1, 20), method="bounded")
    assert fitted.temperature == pytest.approx(best.x, rel=2e-3)
    assert fitted.temperature == pytest.approx(3.0, rel=0.1)


def test_temperature_keeps_the_largest_score_largest():
    S, y = world("classes", k=9)
    for truth in (y, (y + 1) % 9, np.argmin(S, axis=1)):  # right, wrong, the opposite of right
        P = Temperature().fit(S, truth).probabilities(S)
        np.testing.assert_array_equal(P.argmax(axis=1), S.argmax(axis=1))


def test_temperature_of_scores_that_are_all_the_same():
    assert Temperature().fit(np.full((5, 3), 2.0), np.array([0, 1, 2, 0, 0])).temperature == 1.0


def test_temperature_of_many_rows_is_that_of_a_sample():
    S, y = world("classes", n=300_000, k=20)
    assert Temperature().fit(S, y).temperature == pytest.approx(3.0, rel=0.01)


@pytest.mark.parametrize("name", ["temperature", "shared", "sigmoid", "isotonic"])
@kinds
def test_a_weight_of_zero_is_no_row_and_the_scale_of_weights_does_not_matter(name, kind):
    S, truth = world(kind)
    keep = np.arange(400) % 3 > 0
    part = CALIBRATORS[name]().fit(S[keep], truth[keep]).probabilities(S)
    weighted = CALIBRATORS[name]().fit(S, truth, 7.0 * keep).probabilities(S)
    np.testing.assert_allclose(weighted, part, atol=2e-6)


def test_sigmoid_equals_scikit_learn():
    from sklearn.calibration import _SigmoidCalibration

    S, y = world("binary")
    theirs = _SigmoidCalibration().fit(S[:, 0], y).predict(S[:, 0])
    np.testing.assert_allclose(Sigmoid().fit(S, y).probabilities(S)[:, 1], theirs, atol=1e-5)


def test_sigmoid_never_falls():
    S, y = world("classes")
    assert (Sigmoid().fit(-S, y).slopes == 0).all()


def test_isotonic_equals_scikit_learn():
    from sklearn.isotonic import IsotonicRegression

    S, y = world("binary")
    S = S.round(1)
    theirs = IsotonicRegression(y_min=1 / 402, y_max=1 - 1 / 402, out_of_bounds="clip").fit(S[:, 0], y)
    new = np.linspace(-20, 20, 999)
    np.testing.assert_allclose(
        Isotonic().fit(S, y).probabilities(new.reshape(-1, 1))[:, 1], theirs.predict(new), atol=1e-12
    )


def test_pooling_equals_scipy():
    from scipy.optimize import isotonic_regression

    rng = np.random.default_rng(0)
    for n in (1, 2, 10, 300):
        values, mass = rng.integers(0, 5, n).astype(float), rng.random(n) + 0.1
        heights, sizes = pool(values, mass)
        np.testing.assert_allclose(np.repeat(heights, sizes), isotonic_regression(values, weights=mass).x, atol=1e-12)


def test_bad_input_is_a_sentence():
    with pytest.raises(DataError, match="row 1 are not finite"):
        Temperature().fit([[0.0], [np.nan]], np.array([0, 1]))
    with pytest.raises(UsageError, match="do not fit"):
        Temperature().fit([[0.0]], np.array([0, 1]))
    with pytest.raises(UsageError, match="class indices from 0 to 1"):
        Sigmoid().fit([[0.0], [1.0]], np.array([0, 2]))
    with pytest.raises(UsageError, match="Weights"):
        Sigmoid().fit([[0.0], [1.0]], np.array([0, 1]), [0.0, 0.0])
    with pytest.raises(UsageError, match="width 4, not 3"):
        Sigmoid().fit(*world("classes")).probabilities(np.zeros((2, 3)))


HOSTILE = [
    ({"kind": "magic"}, {}),
    ({"kind": ["temperature"]}, {}),
    ({"kind": "temperature", "scores": "binary", "temperature": 0.0}, {}),
    ({"kind": "temperature", "scores": "binary", "temperature": "1"}, {}),
    ({"kind": "temperature", "scores": "other", "temperature": 1.0}, {}),
    ({"kind": "shared", "scores": "binary", "temperature": 1.0, "offset": 0.0}, {}),
    ({"kind": "shared", "scores": "labels", "temperature": 1.0, "offset": 0.0}, {}),
    ({"kind": "shared", "scores": "classes", "temperature": -1.0, "offset": 0.0}, {}),
    ({"kind": "shared", "scores": "classes", "temperature": float("inf"), "offset": 0.0}, {}),
    ({"kind": "shared", "scores": "classes", "temperature": 1.0, "offset": float("nan")}, {}),
    ({"kind": "shared", "scores": "classes", "temperature": 1.0, "offset": float("inf")}, {}),
    ({"kind": "shared", "scores": "classes", "temperature": 1.0, "offset": float("-inf")}, {}),
    ({"kind": "shared", "scores": "classes", "temperature": 1.0}, {}),
    ({"kind": "shared", "scores": "classes", "temperature": 1.0, "offset": "0"}, {}),
    ({"kind": "sigmoid", "scores": "classes"}, {"slopes": np.ones(3), "offsets": np.ones(2)}),
    ({"kind": "sigmoid", "scores": "classes"}, {"slopes": -np.ones(3), "offsets": np.ones(3)}),
    ({"kind": "sigmoid", "scores": "binary"}, {"slopes": np.ones(3), "offsets": np.ones(3)}),
    ({"kind": "sigmoid", "scores": "classes"}, {"slopes": np.array([np.nan]), "offsets": np.ones(1)}),
    (
        {"kind": "isotonic", "scores": "binary"},
        {"ends": np.array([0, 2]), "knots": np.array([1.0, 0.0]), "values": np.array([0.1, 0.2])},
    ),
    (
        {"kind": "isotonic", "scores": "binary"},
        {"ends": np.array([0, 9]), "knots": np.array([0.0, 1.0]), "values": np.array([0.1, 0.2])},
    ),
    (
        {"kind": "isotonic", "scores": "classes"},
        {"ends": np.array([0, 1, 1, 2]), "knots": np.array([0.0, 1.0]), "values": np.array([0.1, 0.2])},
    ),
]


@pytest.mark.parametrize(("manifest", "tensors"), HOSTILE)
def test_hostile_states_are_refused(manifest, tensors):
    with pytest.raises(ModelFileError):
        restored(State(manifest, tensors))


def test_empty_label_sets():
    truth = sets_of(np.zeros((10, 3), bool))
    assert isinstance(truth, LabelSets)
    for name in CALIBRATORS:
        assert np.isfinite(CALIBRATORS[name]().fit(np.ones((10, 3)), truth).probabilities(np.ones((2, 3)))).all()
