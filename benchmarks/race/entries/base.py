"""What takes part in the race: a way to call one library, and the tolerances it is tried at, from loose to tight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Array = Any


@dataclass(frozen=True)
class Task:
    """What an entry is given: the matrix as scikit-learn made it, classes 0 .. k-1, the objective, the tolerance."""

    X: Any
    y: Any
    family: str
    C: float
    tol: float

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.X.shape[0])

    @property
    def classes(self) -> int:
        """Classes."""
        return int(self.y.max()) + 1


@dataclass(frozen=True)
class Entry:
    """One solver of one library with a number of threads.

    `fit(task)` is what is timed, all of it; `coef(model)` makes of what it returned (k, d), or (1, d) with class 1
    positive; `remark(model)` is what else is worth saying.
    """

    name: str
    library: str
    families: tuple[str, ...]
    ladder: tuple[float, ...]
    fit: Callable[[Task], Any] = field(repr=False)
    coef: Callable[[Any], Array] = field(repr=False)
    threads: int = 1
    remark: Callable[[Any], dict[str, float]] = field(default=lambda _: {}, repr=False)


def ladder(loose: float, tight: float) -> tuple[float, ...]:
    """Tolerances 1, 0.3, 0.1, 0.03 ... of powers of ten, both ends included."""
    steps, value = [], loose
    while value >= tight * 0.99:
        steps.append(float(f"{value:.1g}"))
        mantissa = float(f"{value:.0e}".split("e")[0])
        value = value * 0.3 if mantissa == 1 else value / 3
    return tuple(steps)


def one_vs_rest(task: Task, fit: Callable[[Array], Array]) -> list[Array]:
    """Coefficients of one binary problem after the other, for a library that has none of its own."""
    if task.classes == 2:
        return [fit(task.y == 1)]
    return [fit(task.y == label) for label in range(task.classes)]
