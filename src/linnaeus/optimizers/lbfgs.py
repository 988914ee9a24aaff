"""Batch solvers that use only gradients: L-BFGS and nonlinear conjugate gradients.

They do not use SciPy, because for text problems with many classes operations on long vectors dominate: SciPy passes
over each vector many times on one thread, while one pass on all threads is enough. With fewer rows than features they
work in the span of the rows (`flat_objective.py`), where vectors are shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linnaeus.arrays.numerics import combine, products
from linnaeus.errors import expect
from linnaeus.frozen import dataclass
from linnaeus.optimizers.certificate import EPS
from linnaeus.optimizers.flat_objective import flatten
from linnaeus.optimizers.line_search import Walk
from linnaeus.optimizers.requirements import refuse_kinks
from linnaeus.types import Array, Arrays, Doubles, Start, Step

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective

Inner: TypeAlias = "Callable[[Sequence[Doubles], Sequence[Doubles]], Doubles]"


class Pairs:
    """At most `most` pairs, oldest first: steps s_i = t_i p_i along directions p_i, and changes y_i of the gradient.

    Vectors are allocated when they are needed and never copied: a new direction overwrites the oldest pair. `bends` has
    the inner products s_i y_j, `turns` y_i y_j, `falls` s_i g and y_i g for the current gradient g. One pass over the
    vectors computes all of them. `inner` is the inner product.
    """

    def __init__(self, most: int, inner: Inner = products) -> None:
        self.most, self.inner = most, inner
        self.ahead: list[Doubles] = []
        self.change: list[Doubles] = []
        self.steps: list[float] = []
        self.spare: list[Doubles] = []
        self.bends, self.turns = np.zeros((0, 0)), np.zeros((0, 0))
        self.falls = np.zeros((2, 0))

    def __len__(self) -> int:
        return len(self.ahead)

    def direction(self, g: Doubles) -> Doubles:
        """-H g with the matrix H of the pairs; if all places are taken, it replaces the oldest pair."""
        times = [-1.0]
        if len(self):
            times = _directed(self.bends.tolist(), self.turns.tolist(), self.falls.tolist())
        scaled = [t * c for t, c in zip(self.steps, times[1:], strict=False)]
        vectors = [g, *self.ahead, *self.change]
        full = len(self) == self.most
        place = self.ahead[0] if full else self._empty(g)
        combine(vectors, [times[0], *scaled, *times[1 + len(self) :]], place)
        if full:
            self.spare.append(self.change[0])
            self._keep(slice(1, None))
        return place

    def add(self, p: Doubles, t: float, old: Doubles, new: Doubles) -> float:
        """Add a step t along p that changed the gradient from old to new. Returns the squared length of the new one."""
        y = combine([new, old], [1.0, -1.0], self._empty(new))
        n, m = len(self), len(self) + 1
        found = self.inner([y, new, p], [*self.ahead, p, *self.change, y, new])
        steps = np.array([*self.steps, t])
        self.ahead, self.change, self.steps = [*self.ahead, p], [*self.change, y], steps.tolist()
        bends, turns = np.zeros((m, m)), np.zeros((m, m))
        bends[:n, :n], turns[:n, :n] = self.bends, self.turns
        bends[:, n] = steps * found[0, :m]
        bends[n, :] = t * found[2, m : 2 * m]
        turns[n, :] = turns[:, n] = found[0, m : 2 * m]
        self.bends, self.turns = bends, turns
        self.falls = np.array([steps * found[1, :m], found[1, m : 2 * m]])
        if not bends[n, n] > EPS * turns[n, n]:  # the curvature is at the level of rounding
            self.spare += [p, y]
            self._keep(slice(0, n))
        return float(found[1, 2 * m])

    def forget(self) -> None:
        """Remove all pairs; their memory is used again."""
        self.spare += [*self.ahead, *self.change]
        self._keep(slice(0, 0))

    def state(self) -> Arrays:
        """The arrays that are needed to resume."""
        kept: Arrays = {f"ahead.{i}": vector for i, vector in enumerate(self.ahead)}
        kept |= {f"change.{i}": vector for i, vector in enumerate(self.change)}
        small = {"bends": self.bends, "turns": self.turns, "falls": self.falls}
        return {**kept, **small, "steps": np.array(self.steps)}

    def resume(self, state: Mapping[str, Array]) -> None:
        """Restore the pairs of a state, if it has any."""
        if "steps" not in state:
            return
        self.steps = [float(t) for t in state["steps"]]
        self.ahead = [np.array(state[f"ahead.{i}"]) for i in range(len(self.steps))]
        self.change = [np.array(state[f"change.{i}"]) for i in range(len(self.steps))]
        self.bends, self.turns, self.falls = (np.array(state[name]) for name in ("bends", "turns", "falls"))

    def _empty(self, like: Doubles) -> Doubles:
        return self.spare.pop() if self.spare else np.empty_like(like)

    def _keep(self, part: slice) -> None:
        self.ahead, self.change, self.steps = self.ahead[part], self.change[part], self.steps[part]
        self.bends, self.turns = self.bends[part, part], self.turns[part, part]
        self.falls = self.falls[:, part]


def _directed(bends: list[list[float]], turns: list[list[float]], falls: list[list[float]]) -> list[float]:
    """The factors of g, the s_i and the y_i in -H g: the two loops of Nocedal (1980), on inner products only.

    The first loop solves the upper triangle of s_i y_j, the second its transpose (Byrd, Nocedal and Schnabel 1994).
    Lists are faster than arrays here, because the numbers are few.
    """
    n, (sg, yg) = len(bends), falls
    scale = bends[-1][-1] / turns[-1][-1]
    a, c = [0.0] * n, [0.0] * n
    for i in reversed(range(n)):
        a[i] = (sg[i] - sum(bends[i][j] * a[j] for j in range(i + 1, n))) / bends[i][i]
    for i in range(n):
        left = yg[i] - sum(turns[i][j] * a[j] for j in range(n))
        known = sum(bends[j][i] * c[j] for j in range(i))
        c[i] = a[i] - (scale * left + known) / bends[i][i]
    return [-scale, *(-x for x in c), *(scale * x for x in a)]


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
        expect("memory", self.memory, int, 1)

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
