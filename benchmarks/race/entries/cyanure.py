"""Cyanure in float32 and float64, its solver chosen by itself; threads help it where there are many classes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from race.entries.base import Array, Entry, Task, ladder

_LOSSES = {
    "l2-logistic": ("logistic", "l2"),
    "l1-logistic": ("logistic", "l1"),
    "l2-squared-hinge": ("sqhinge", "l2"),
    "multinomial": ("multiclass-logistic", "l2"),
}


def _fit(task: Task, dtype: Any, threads: int) -> Any:
    from cyanure.estimators import Classifier

    loss, penalty = _LOSSES[task.family]
    # Its squared hinge is half of everybody's.
    strength = (0.5 if loss == "sqhinge" else 1.0) / (task.C * task.n)
    model = Classifier(
        loss=loss, penalty=penalty, lambda_1=strength, tol=task.tol, fit_intercept=False, max_iter=100_000,
        n_threads=threads, verbose=False, multi_class="multinomial" if task.family == "multinomial" else "ovr",
    )  # fmt: skip
    X = task.X if dtype == np.float64 else task.X.astype(dtype)
    return model.fit(X, task.y)


def coef(model: Any) -> Array:
    """One row a class, whichever way they were returned."""
    found = np.atleast_2d(np.asarray(model.coef_, np.float64))
    return found if found.shape[0] < found.shape[1] else found.T


ENTRIES = tuple(
    Entry(f"cyanure {np.dtype(dtype).name}{', 2 threads' if n > 1 else ''}", "cyanure", tuple(_LOSSES),
          ladder(1e-1, 1e-9), partial(_fit, dtype=dtype, threads=n), coef, n)
    for dtype in (np.float32, np.float64)
    for n in (1, 2)
)  # fmt: skip
