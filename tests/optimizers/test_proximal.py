"""Proximal gradient: groups against conditions of the optimum, other penalties against other solvers."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from linnaeus.arrays.csr import CSR
from linnaeus.erm.objective import Objective
from linnaeus.losses import Hinge, Log, Logistic
from linnaeus.optimizers import ProximalGradient
from linnaeus.outputs import Multiclass, OneVsRest
from linnaeus.regularizers import L2, Group
from linnaeus.types import Start


def sparse(dense):
    """A dense matrix as CSR."""
    made = csr_matrix(dense)
    return CSR(made.indptr.astype(np.int64), made.indices.astype(np.int32), made.data, dense.shape[1])


class EnoughError(Exception):
    pass


def make(loss, space, penalty):
    rng = np.random.default_rng(0)
    dense = np.abs(rng.standard_normal((90, 20))) * (rng.random((90, 20)) < 0.3)
    y = np.argmax(dense @ rng.standard_normal((20, 3)), axis=1)
    return Objective(sparse(dense), y, space, loss, penalty, np.ones(90), 3)


def solve(problem, epochs=2000):
    found = []

    def report(step):
        found.append(step)
        if step.epoch >= epochs or step.gradient < 1e-9:
            raise EnoughError

    with contextlib.suppress(EnoughError):
        ProximalGradient().minimize(problem, Start(problem.initial()), report)
    return found


@pytest.mark.parametrize(("loss", "space"), [(Log(), Multiclass()), (Logistic(), OneVsRest())])
def test_features_are_dropped_as_a_whole_and_the_conditions_hold(loss, space):
    problem = make(loss, space, Group(3.0))
    steps = solve(problem)
    params = steps[-1].params()
    _, G = problem.smooth_and_grad(params)
    W, lengths = params["W"], np.linalg.norm(params["W"], axis=1)
    dropped = lengths == 0
    assert 0 < dropped.sum() < len(W)
    assert (np.linalg.norm(G["W"][dropped], axis=1) <= 3.0 + 1e-6).all()
    np.testing.assert_allclose(G["W"][~dropped], -3.0 * W[~dropped] / lengths[~dropped][:, None], atol=1e-6)
    np.testing.assert_allclose(G["b"], 0, atol=1e-6)
    np.testing.assert_allclose(steps[-1].value, problem.value(params), rtol=1e-12)


def test_a_smooth_penalty_has_the_optimum_of_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    problem = make(Log(), Multiclass(), L2(1.0))
    ours = solve(problem)[-1].value
    peer = LogisticRegression(C=1.0, tol=1e-12, max_iter=5000).fit(problem.X.to_scipy(), problem.y)
    theirs = problem.value({"W": peer.coef_.T, "b": peer.intercept_})
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_a_kink_in_the_loss_is_refused():
    assert "kink" in ProximalGradient().refuse(make(Hinge(), Multiclass(), Group(1.0)))
    assert ProximalGradient().refuse(make(Log(), Multiclass(), Group(1.0))) is None
