"""Snap ML: logistic regression in the dual and in the primal, support vector machines, on one and two threads."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from race.entries.base import Array, Entry, Task, ladder

MANY = 100_000


def _logistic(task: Task, dual: bool, threads: int) -> Any:
    from snapml import LogisticRegression

    penalty = "l1" if task.family == "l1-logistic" else "l2"
    model = LogisticRegression(
        regularizer=1.0 / task.C, dual=dual, penalty=penalty, tol=task.tol, n_jobs=threads, max_iter=MANY
    )
    return model.fit(task.X, task.y.astype(np.float64))


def _svm(task: Task, loss: str, threads: int) -> Any:
    from snapml import SupportVectorMachine

    model = SupportVectorMachine(loss=loss, regularizer=1.0 / task.C, tol=task.tol, n_jobs=threads, max_iter=MANY)
    return model.fit(task.X, task.y.astype(np.float64))


def coef(model: Any) -> Array:
    """One row a class."""
    found = np.asarray(model.coef_)
    return found.reshape(1, -1) if found.ndim == 1 else found


_ROWS: tuple[tuple[str, str, Any], ...] = (
    ("LogisticRegression dual", "l2-logistic", partial(_logistic, dual=True)),
    ("LogisticRegression primal", "l2-logistic", partial(_logistic, dual=False)),
    ("LogisticRegression l1", "l1-logistic", partial(_logistic, dual=False)),
    ("SVM hinge", "l2-hinge", partial(_svm, loss="hinge")),
    ("SVM squared hinge", "l2-squared-hinge", partial(_svm, loss="squared_hinge")),
)
ENTRIES = tuple(
    Entry(f"snapml {name}, {n} threads" if n > 1 else f"snapml {name}", "snapml", (family,), ladder(1e-1, 1e-9),
          partial(fit, threads=n), coef, n)
    for name, family, fit in _ROWS
    for n in (1, 2)
)  # fmt: skip
