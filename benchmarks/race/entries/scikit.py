"""scikit-learn: its own solvers of logistic regression with one BLAS thread, and the LIBLINEAR it carries."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from race.entries.base import Array, Entry, Task, ladder, one_vs_rest

MANY = 1_000_000


def _logistic(task: Task, solver: str, **extra: Any) -> Array:
    """With many classes scikit-learn's own answer is multinomial; one-vs-rest is a loop, as its wrapper does."""
    from sklearn.linear_model import LogisticRegression

    l1 = {"l1_ratio": 1.0} if task.family == "l1-logistic" else {}
    model = LogisticRegression(
        solver=solver, C=task.C, tol=task.tol, fit_intercept=False, max_iter=MANY, random_state=0, **l1, **extra
    )
    if task.family == "multinomial":
        return model.fit(task.X, task.y).coef_
    return np.concatenate(one_vs_rest(task, lambda y: model.fit(task.X, y).coef_))


def _svc(task: Task, loss: str, dual: bool, multi_class: str = "ovr") -> Array:
    from sklearn.svm import LinearSVC

    model = LinearSVC(
        loss=loss, dual=dual, multi_class=multi_class, C=task.C, tol=task.tol, fit_intercept=False, max_iter=MANY,
        random_state=0,
    )  # fmt: skip
    return model.fit(task.X, task.y).coef_


def coef(found: Array) -> Array:
    """Already in shape, but for Crammer-Singer on two classes."""
    return found


L2 = ("l2-logistic",)
_ROWS: tuple[tuple[str, tuple[str, ...], tuple[float, ...], Any], ...] = (
    ("lbfgs", ("l2-logistic", "multinomial"), ladder(1e-1, 1e-7), partial(_logistic, solver="lbfgs")),
    ("newton-cg", ("l2-logistic", "multinomial"), ladder(1e-1, 1e-7), partial(_logistic, solver="newton-cg")),
    ("saga", ("l2-logistic", "multinomial", "l1-logistic"), ladder(1e-1, 1e-7), partial(_logistic, solver="saga")),
    ("liblinear", ("l2-logistic", "l1-logistic"), ladder(1.0, 1e-7), partial(_logistic, solver="liblinear")),
    ("liblinear dual", L2, ladder(10.0, 1e-5), partial(_logistic, solver="liblinear", dual=True)),
    ("LinearSVC hinge", ("l2-hinge",), ladder(3.0, 1e-6), partial(_svc, loss="hinge", dual=True)),
    ("LinearSVC dual", ("l2-squared-hinge",), ladder(10.0, 1e-5), partial(_svc, loss="squared_hinge", dual=True)),
    ("LinearSVC primal", ("l2-squared-hinge",), ladder(1.0, 1e-6), partial(_svc, loss="squared_hinge", dual=False)),
    ("LinearSVC crammer_singer", ("crammer-singer",), ladder(3.0, 1e-6),
     partial(_svc, loss="hinge", dual=True, multi_class="crammer_singer")),
)  # fmt: skip
ENTRIES = tuple(Entry(f"sklearn {name}", "sklearn", families, steps, fit, coef) for name, families, steps, fit in _ROWS)
