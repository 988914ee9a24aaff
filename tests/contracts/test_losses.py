"""Every loss in every output space: gradients and curvatures against differences, oracles against enumeration."""

import numpy as np
import pytest
from tests.contracts import cells

from linnaeus.losses import LOSSES
from linnaeus.outputs import OUTPUTS
from linnaeus.protocols import NewtonLoss, capability

PAIRS = sorted(cells.pairs_of_loss_and_output())
LABELED = [name for name in OUTPUTS if name != "real"]


def _problem(output, seed, n=6):
    rng = np.random.default_rng(seed)
    y, k = cells.truth(output, n, rng)
    return rng, y, k


@pytest.mark.parametrize(("loss", "output"), PAIRS)
def test_gradient_is_the_difference(loss, output):
    rng, y, k = _problem(output, 3)
    for space in cells.spaces(output, k):
        S = rng.normal(size=(len(y), space.width(k))) * 1.3
        V = rng.normal(size=S.shape)
        piece, step = LOSSES[loss](), 1e-6
        _, G = piece.value_and_grad(space, S, y)
        up, _ = piece.value_and_grad(space, S + step * V, y)
        down, _ = piece.value_and_grad(space, S - step * V, y)
        np.testing.assert_allclose((G * V).sum(axis=1), (up - down) / (2 * step), atol=1e-6)


@pytest.mark.parametrize(("loss", "output"), [(a, b) for a, b in PAIRS if capability(LOSSES[a](), NewtonLoss)])
def test_curvature_is_the_difference_of_gradients(loss, output):
    rng, y, k = _problem(output, 4)
    for space in cells.spaces(output, k):
        S = rng.normal(size=(len(y), space.width(k)))
        V = rng.normal(size=S.shape)
        piece, step = LOSSES[loss](), 1e-5
        _, up = piece.value_and_grad(space, S + step * V, y)
        _, down = piece.value_and_grad(space, S - step * V, y)
        np.testing.assert_allclose(piece.curvature(space, S, y)(V), (up - down) / (2 * step), atol=1e-5)


@pytest.mark.parametrize("output", LABELED)
def test_answers_are_those_of_enumeration(output):
    rng, y, k = _problem(output, 5)
    for space in cells.spaces(output, k):
        S = rng.normal(size=(len(y), space.width(k)))
        for i in range(len(y)):
            one, s = y[[i]], S[[i]]
            parts, costs = cells.outputs_of(space, one, k)
            scores = parts @ s[0]
            gold = scores[np.argmin(costs)] if (costs == 0).sum() == 1 else space.gold(s, one).value[0]
            assert space.gold(s, one).value[0] == pytest.approx(gold)
            assert space.best(s, one).value[0] == pytest.approx(scores.max())
            assert space.soft(s, one).value[0] == pytest.approx(np.logaddexp.reduce(scores))
            p = np.exp(scores - np.logaddexp.reduce(scores))
            np.testing.assert_allclose(space.soft(s, one).parts[0], p @ parts, atol=1e-12)
            cost = space.cost(s, one)
            assert space.best(s + cost.parts, one).value[0] + cost.value[0] == pytest.approx((scores + costs).max())
            soft = np.logaddexp.reduce(scores + costs)
            assert space.soft(s + cost.parts, one).value[0] + cost.value[0] == pytest.approx(soft)


@pytest.mark.parametrize("output", LABELED)
def test_soft_dot_is_the_covariance_of_the_parts(output):
    rng, y, k = _problem(output, 6)
    space = OUTPUTS[output]()
    S, V = rng.normal(size=(2, len(y), space.width(k)))
    for i in range(len(y)):
        parts, _ = cells.outputs_of(space, y[[i]], k)
        scores = parts @ S[i]
        p = np.exp(scores - np.logaddexp.reduce(scores))
        mean = p @ parts
        covariance = (parts - mean).T @ ((parts - mean) * p[:, None])
        np.testing.assert_allclose(space.soft_dot(S[[i]], V[[i]], y[[i]])[0], covariance @ V[i], atol=1e-12)


@pytest.mark.parametrize("output", LABELED)
def test_ties_go_against_the_truth(output):
    _, y, k = _problem(output, 7)
    space = OUTPUTS[output]()
    S = np.zeros((len(y), space.width(k)))
    best, gold = space.best(S, y), space.gold(S, y)
    assert (best.value == 0).all()
    assert (best.parts != gold.parts).any(axis=1).all()


def test_decoding_breaks_ties_by_the_lowest_class():
    assert OUTPUTS["multiclass"]().decode(np.zeros((1, 3))).tolist() == [0]
    assert OUTPUTS["onevsrest"]().decode(np.array([[0.0, 1.0, 1.0]])).tolist() == [1]
    assert OUTPUTS["binary"]().decode(np.zeros((1, 1))).tolist() == [0]
    assert OUTPUTS["onevsone"]().decode(np.zeros((1, 3))).tolist() == [0]


def test_votes_and_sums_can_differ():
    S = np.array([[0.1, 0.1, 9.0]])  # 0 wins two pairs narrowly, 1 beats 2 by far
    assert OUTPUTS["onevsone"](reconcile="votes").decode(S).tolist() == [0]
    assert OUTPUTS["onevsone"](reconcile="sums").decode(S).tolist() == [1]


@pytest.mark.parametrize("loss", [name for name in LOSSES if hasattr(LOSSES[name], "chance")])
def test_probabilities_minimize_the_expected_loss(loss):
    """Where a loss has a probability, the score it belongs to is the best one when labels come with it."""
    piece = LOSSES[loss]()
    if not piece.convex or loss == "softmargin":
        pytest.skip("its minimizer is not a probability's score")
    s = np.linspace(-3, 3, 6001)
    for p in (0.2, 0.5, 0.7):
        risk = p * piece.value(s) + (1 - p) * piece.value(-s)
        assert piece.chance(s[[np.argmin(risk)]])[0] == pytest.approx(p, abs=2e-3)
