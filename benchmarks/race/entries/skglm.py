"""skglm: L1 logistic regression by working sets, and its support vector machine."""

from __future__ import annotations

import numpy as np

from race.entries.base import Array, Entry, Task, ladder, one_vs_rest


def _sparse_logistic(task: Task) -> Array:
    from skglm import SparseLogisticRegression

    X = task.X.tocsc()
    model = SparseLogisticRegression(
        alpha=1.0 / (task.C * task.n), tol=task.tol, fit_intercept=False, max_iter=1000, max_epochs=100_000
    )
    return np.concatenate(one_vs_rest(task, lambda y: model.fit(X, y).coef_.reshape(1, -1)))


def _svc(task: Task) -> Array:
    from skglm import LinearSVC

    model = LinearSVC(C=task.C, tol=task.tol, fit_intercept=False, max_iter=1000)
    return np.concatenate(one_vs_rest(task, lambda y: model.fit(task.X, y).coef_.reshape(1, -1)))


def coef(found: Array) -> Array:
    """Already in shape."""
    return found


ENTRIES = (
    Entry("skglm SparseLogisticRegression", "skglm", ("l1-logistic",), ladder(1e-2, 1e-8), _sparse_logistic, coef),
    Entry("skglm LinearSVC", "skglm", ("l2-hinge",), ladder(1e-1, 1e-7), _svc, coef),
)
