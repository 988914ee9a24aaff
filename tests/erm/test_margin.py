"""The widest margin against a convex solver, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.contracts.problems import separable

from linnaeus.erm import Objective, Separability, separability
from linnaeus.erm.diagnose import constraints, examined, widest_margin
from linnaeus.losses import Perceptron
from linnaeus.outputs import OUTPUTS
from linnaeus.regularizers import NoPenalty

LABELED = [name for name in OUTPUTS if name != "real"]


def hard_margin(A: csr_matrix) -> float:
    """1 / |u| of the shortest u with A u >= 1."""
    cvxpy = pytest.importorskip("cvxpy")
    u = cvxpy.Variable(A.shape[1])
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(u)), [A @ u >= 1])
    problem.solve(solver=cvxpy.CLARABEL)
    return 1.0 / float(np.linalg.norm(u.value))


def needs_of(X, y, space, k, bias="free"):
    return constraints(Objective(X, y, space, Perceptron(), NoPenalty(), np.ones(len(y)), k, bias))


@pytest.mark.parametrize("output", LABELED)
@pytest.mark.parametrize("bias", ["free", "none"])
def test_the_margin_is_that_of_the_hard_margin_problem(output, bias):
    X, y, space, k = separable(output)
    found = separability(X, y, space, k, bias, seconds=60.0)
    if found.verdict != "separable":
        assert bias == "none"
        return
    true = hard_margin(needs_of(X, y, space, k, bias).matrix())
    assert 0.98 * true <= found.margin <= true * (1 + 1e-6)
    assert true * (1 - 1e-6) <= found.widest <= 1.02 * true
    assert found.bound == pytest.approx((2 if output == "multiclass" else 1) * found.radius**2 / found.margin**2)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [2, 4])
def test_sparse_rows_like_those_of_texts(seed, k):
    """Few rows, many columns: a perceptron stops far from the widest margin."""
    rng = np.random.default_rng(seed)
    X = (rng.random((60, 300)) < 0.04) * rng.exponential(1.0, (60, 300))
    y = rng.integers(0, k, 60)
    found = separability(X, y, seconds=60.0)
    true = hard_margin(constraints(examined(X, y, "auto", None, "free")).matrix())
    assert found.margin == pytest.approx(true, rel=0.02)
    assert found.widest == pytest.approx(true, rel=0.02)
    assert f"with a margin of {found.margin:.3g} at" in found.sentence()


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_margins_have_the_scale_of_the_data(scale):
    A = csr_matrix(np.array([[1.0, 0.0], [0.6, 0.8]]) * scale)
    found = widest_margin(A, np.array([1.0, 1.0]), 60.0)
    assert found.least / scale == pytest.approx(np.cos(np.arccos(0.6) / 2), rel=0.01)
    assert found.least <= found.most <= 1.02 * found.least


def test_where_the_time_is_too_short_both_sides_are_said():
    """Directions that are nearly opposite: one epoch is not enough."""
    angles = np.linspace(0.0, np.pi - 1e-3, 200)
    A = csr_matrix(np.column_stack([np.cos(angles), np.sin(angles)]))
    hasty = widest_margin(A, np.array([5e-4, 1.0]), 0.0)
    assert 0 < hasty.least <= np.sin(5e-4) <= hasty.most
    assert hasty.most > 1.1 * hasty.least
    said = Separability("separable", 1.0, margin=hasty.least, bound=1.0, widest=hasty.most).sentence()
    assert f"a margin of at least {hasty.least:.3g} and at most {hasty.most:.3g} at" in said
