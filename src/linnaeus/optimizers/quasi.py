"""Batch solvers that use only gradients: L-BFGS and nonlinear conjugate gradients.

They do not use SciPy, because for text problems with many classes operations on long vectors dominate: SciPy passes
over each vector many times on one thread, while one pass on all threads is enough. With fewer rows than features they
work in the span of the rows (`span.py`), where vectors are shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from linnaeus.arrays.vectors import combine
from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.optimizers.pairs import Pairs
from linnaeus.optimizers.smooth import refuse_kinks
from linnaeus.optimizers.span import flatten
from linnaeus.optimizers.walk import Walk

if TYPE_CHECKING:
    from linnaeus.protocols import Objective
    from linnaeus.types import Start, Step


@dataclass(frozen=True)
class LBFGS:
    """Limited-memory BFGS (Liu and Nocedal 1989), for smooth losses and penalties. The default for most problems.

    An iteration takes two passes over the stored vectors, both on all threads: one for all inner products, one for the
    next direction, which is a linear combination of the vectors (Chen, Wang and Zhou 2014). Memory: the parameters 6
    times, and twice more for each of the last `memory` iterations, in float64; where 2 n < d the parameters twice, and
    four times the scores for each iteration.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=LBFGS()).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    memory: int = 10

    def __post_init__(self) -> None:
        expect("memory", self.memory, int)
        if self.memory < 1:
            raise UsageError(f"memory must be at least 1, not {self.memory}.")

    def refuse(self, objective: Objective) -> str | None:
        """Refuse losses and penalties that are not differentiable."""
        return refuse_kinks(objective, "LBFGS")

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Minimize until no step lowers the objective, or `report` raises."""
        walk = Walk(flatten(objective, start, report))
        pairs = Pairs(self.memory, walk.flat.products)
        pairs.resume(start.state)
        walk.flat.reporter.state = lambda: {**pairs.state(), **walk.flat.state(walk.x)}
        while not walk.done:
            steepest = not len(pairs)
            p = pairs.direction(walk.g)
            t = walk.search(p, walk.short if steepest else 1.0)
            if t is not None:
                walk.take(t, pairs.add(p, t, walk.g, walk.after))
            elif not steepest:
                pairs.forget()
            else:
                break
        walk.flat.finish()


@dataclass(frozen=True)
class ConjugateGradient:
    """Nonlinear conjugate gradients (Polak and Ribiere), for smooth losses and penalties.

    Memory: about 6 times the parameters, in float64 (where 2 n < d, twice, and 10 times the scores): less than L-BFGS,
    but with more iterations.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=ConjugateGradient()).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    def refuse(self, objective: Objective) -> str | None:
        """Refuse losses and penalties that are not differentiable."""
        return refuse_kinks(objective, "ConjugateGradient")

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Minimize until no step lowers the objective, or `report` raises."""
        walk = Walk(flatten(objective, start, report))
        p, first, steepest = combine([walk.g], [-1.0]), walk.short, True
        while not walk.done:
            t = walk.search(p, first, flatter=0.1)
            if t is not None:
                before = walk.squared
                squared, along = walk.flat.products([walk.after], [walk.after, walk.g])[0].tolist()
                walk.take(t, squared)
                # The product of step and slope stays about the same from one step to the next.
                turn = max(0.0, (squared - along) / before)
                first, steepest = t * before / max(squared, 1e-300), turn == 0.0
                combine([walk.g, p], [-1.0, turn], p)
            elif not steepest:
                combine([walk.g], [-1.0], p)
                first, steepest = walk.short, True
            else:
                break
        walk.flat.finish()
