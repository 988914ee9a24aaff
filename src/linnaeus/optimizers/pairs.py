"""The memory of L-BFGS: the last steps and gradient changes, and their inner products."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnaeus.arrays.vectors import combine, products
from linnaeus.optimizers.certificate import EPS

if TYPE_CHECKING:
    from linnaeus.types import Doubles

Inner: TypeAlias = "Callable[[Sequence[Doubles], Sequence[Doubles]], Doubles]"


class Pairs:
    """At most `most` pairs, oldest first: steps s_i = t_i p_i along directions p_i, and y_i, the gradient's change.

    Vectors are made as they are needed, and none is copied: a direction is written where the oldest pair was, and is
    that of a step when it has been taken. `bends` has s_i y_j, `turns` y_i y_j, `falls` s_i g and y_i g for the
    gradient g of now, by the inner product `inner`: all that an iteration needs comes from one pass over the vectors.
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
        """-H g with the matrix H that the pairs describe; the oldest makes room for it."""
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
        """A step t along p changed the gradient from old to new. Returns the squared length of the new one."""
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
        if not bends[n, n] > EPS * turns[n, n]:  # no curvature that could be told from rounding
            self.spare += [p, y]
            self._keep(slice(0, n))
        return float(found[1, 2 * m])

    def forget(self) -> None:
        """No pairs; their memory is kept."""
        self.spare += [*self.ahead, *self.change]
        self._keep(slice(0, 0))

    def state(self) -> dict[str, Any]:
        """All that is needed to go on."""
        kept: dict[str, Any] = {f"ahead.{i}": vector for i, vector in enumerate(self.ahead)}
        kept |= {f"change.{i}": vector for i, vector in enumerate(self.change)}
        small = {"bends": self.bends, "turns": self.turns, "falls": self.falls}
        return {**kept, **small, "steps": np.array(self.steps)}

    def resume(self, state: Mapping[str, Any]) -> None:
        """The pairs of a state, if there are any in it."""
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
    """The factors of g, of the s_i and of the y_i in -H g: the two loops of Nocedal (1980), on inner products alone.

    The first loop is the solution of the upper triangle of s_i y_j, the second that of its transpose (Byrd, Nocedal and
    Schnabel 1994). Lists, because the numbers are few.
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
