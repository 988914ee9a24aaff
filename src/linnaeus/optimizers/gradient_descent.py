"""Batch gradient descent with automatic step sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.numerics import combine, dot, norm
from linnaeus.errors import expect
from linnaeus.frozen import dataclass
from linnaeus.optimizers.flat_objective import Flat
from linnaeus.optimizers.line_search import DECREASE
from linnaeus.optimizers.requirements import refuse_kinks
from linnaeus.types import Doubles, Start, Step

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


@dataclass(frozen=True)
class GradientDescent:
    """Gradient descent w <- w - t g, with t halved until Armijo's condition holds; for smooth losses and penalties.

    The initial t is that of Barzilai and Borwein (1988), s's / s'y from the last step s and the change y of the
    gradient. A step has to improve on the worst of the last `memory` values (Grippo, Lampariello and Lucidi 1986); with
    memory 1 every step lowers the objective. The best iterate is reported. Memory: about 6 times the parameters.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=GradientDescent()).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    memory: int = 5

    def __post_init__(self) -> None:
        expect("memory", self.memory, int, 1)

    def refuse(self, objective: Objective) -> str | None:
        """Refuse losses and penalties that are not differentiable."""
        return refuse_kinks(objective, "GradientDescent")

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Minimize until no step lowers the objective, or `report` raises."""
        flat = Flat(objective.by_columns(), start, report)
        x = best = flat.x0
        value, g = flat.value_and_grad(x)
        lowest, slope, values = value, g, [value]
        rate = 1.0 / max(norm(g), 1e-300)
        while True:
            found = search(flat, (x, g), rate, max(values[-self.memory :]))
            if found is None:
                break
            t, there, value, after = found
            rate = _spectral(combine([there, x], [1.0, -1.0]), combine([after, g], [1.0, -1.0]), 2.0 * t)
            x, g = there, after
            values.append(value)
            if value < lowest:
                best, lowest, slope = x, value, g
            flat.say(best, lowest, norm(slope), rate=t)
        flat.finish()


def search(
    flat: Flat, at: tuple[Doubles, Doubles], rate: float, bar: float
) -> tuple[float, Doubles, float, Doubles] | None:
    """A step along -g to a value below the bar: its size, point, value and gradient; None if there is none."""
    x, g = at
    promise = dot(g, g)
    for _ in range(100):
        there = combine([x, g], [1.0, -rate])
        if np.array_equal(there, x):
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            value, after = flat.value_and_grad(there)
        if value <= bar - DECREASE * rate * promise and np.isfinite(after).all():
            return rate, there, value, after
        rate /= 2.0
    return None


def _spectral(s: Doubles, y: Doubles, otherwise: float) -> float:
    """The step size for constant curvature along s."""
    bend = dot(s, y)
    return min(dot(s, s) / bend, 100.0 * otherwise) if bend > 0 else otherwise
