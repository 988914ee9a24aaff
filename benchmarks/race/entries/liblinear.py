"""LIBLINEAR by its own Python interface; the conversion of the matrix is inside, because whoever calls it pays it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from race.entries.base import Array, Entry, Task, ladder


def _fit(solver: int) -> Any:
    def fit(task: Task) -> tuple[Any, float]:
        from liblinear.liblinearutil import parameter, problem, train

        start = time.perf_counter()
        converted = problem(task.y.astype(np.float64), task.X)
        seconds = time.perf_counter() - start
        return train(converted, parameter(f"-s {solver} -c {task.C!r} -e {task.tol!r} -q")), seconds

    return fit


def remark(fitted: tuple[Any, float]) -> dict[str, float]:
    """How long the conversion took, of the whole."""
    return {"conversion": fitted[1]}


def coef(fitted: tuple[Any, float]) -> Array:
    """The weights lie feature after feature, the classes in order of first appearance, the first one positive."""
    model = fitted[0]
    labels = np.asarray(model.get_labels(), int)
    joint = model.param.solver_type == 4
    columns = len(labels) if joint or len(labels) > 2 else 1
    W = np.ctypeslib.as_array(model.w, (model.nr_feature * columns,)).reshape(-1, columns)
    if columns == 1:
        return W.T * (1.0 if labels[0] == 1 else -1.0)
    ordered = np.empty_like(W)
    ordered[:, labels] = W
    return ordered.T


_SOLVERS = {
    0: ("l2-logistic", ladder(1.0, 1e-6)),
    7: ("l2-logistic", ladder(10.0, 1e-5)),
    3: ("l2-hinge", ladder(3.0, 1e-6)),
    1: ("l2-squared-hinge", ladder(10.0, 1e-5)),
    2: ("l2-squared-hinge", ladder(1.0, 1e-6)),
    6: ("l1-logistic", ladder(1.0, 1e-7)),
    4: ("crammer-singer", ladder(3.0, 1e-6)),
}
ENTRIES = tuple(
    Entry(f"liblinear -s {solver}", "liblinear", (family,), tolerances, _fit(solver), coef, remark=remark)
    for solver, (family, tolerances) in _SOLVERS.items()
)
