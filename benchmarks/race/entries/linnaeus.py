"""Linnaeus, by its public face, on one and two threads: the one place to change when the face changes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from race.entries.base import Array, Entry, Task, ladder

_LOSSES = {
    "l2-logistic": "logistic",
    "l1-logistic": "logistic",
    "l2-hinge": "hinge",
    "l2-squared-hinge": "squared_hinge",
    "multinomial": "log",
    "crammer-singer": "hinge",
}
_JOINT = ("multinomial", "crammer-singer")


def make(family: str, C: float, tol: float, classes: int, optimizer: str = "auto") -> Any:
    """The classifier that minimizes the objective of a family; `strength` is 1 / C."""
    from linnaeus import LinearClassifier
    from linnaeus.regularizers import L1, L2

    output = "multiclass" if family in _JOINT else "binary" if classes == 2 else "onevsrest"
    regularizer = (L1 if family == "l1-logistic" else L2)(strength=1.0 / C)
    return LinearClassifier(
        loss=_LOSSES[family],
        regularizer=regularizer,
        optimizer=optimizer,
        output=output,
        bias=False,
        tol=tol,
        epochs=100_000,
    )


def _fit(task: Task, threads: int) -> Any:
    import linnaeus

    with linnaeus.threads(threads):
        return make(task.family, task.C, task.tol, task.classes).fit(task.X, task.y)


def coef(model: Any) -> Array:
    """As scikit-learn has it: (1, d) for two classes, else (k, d)."""
    return np.atleast_2d(model.coef_)


ENTRIES = tuple(
    Entry(f"linnaeus, {n} thread{'s' if n > 1 else ''}", "linnaeus", tuple(_LOSSES), ladder(1e-1, 1e-9),
          partial(_fit, threads=n), coef, n)
    for n in (1, 2)
)  # fmt: skip
