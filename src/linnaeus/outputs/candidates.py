"""Ranking: one of the candidates of an example; each example has its own candidates."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.protocols import CurvedSpace, GroupedSpace
from linnaeus.types import Answer, Bools, Choices, Doubles, Longs, Margins


@dataclass(frozen=True)
class Candidates:
    """Ranking: one score for each candidate, S (m, 1), in groups; the largest of a group wins (the first in a tie).

    If several candidates of a group are correct, the one with the largest current score counts as the truth; losses are
    convex only if one candidate is correct. A group without a correct candidate is ignored. The costs of wrong
    candidates are in y (`types.Choices`).

    >>> from linnaeus.types import Choices
    >>> y = Choices(np.array([0, 2, 5]), np.array([False, True, True, False, False]))
    >>> S = np.array([[1.0], [2.0], [0.0], [3.0], [1.0]])
    >>> Candidates().best(S, y).value.tolist(), Candidates().gold(S, y).value.tolist()
    ([2.0, 3.0], [2.0, 0.0])
    """

    provides: ClassVar[tuple[type, ...]] = (GroupedSpace, CurvedSpace)

    def width(self, k: int) -> int:
        """One score for each candidate."""
        return 1

    def gold(self, S: Doubles, y: Choices) -> Answer:
        """The largest score of a correct candidate."""
        return _largest(np.where(y.gold, S[:, 0], -np.inf), y)

    def best(self, S: Doubles, y: Choices) -> Answer:
        """The largest score; in a tie a wrong candidate wins over a correct one."""
        s, group = S[:, 0], _numbers(y.offsets)
        top = _tops(s, y.offsets)
        rival = (s == top[group]) & ~y.gold
        among = np.where(np.isin(group, group[rival]) & ~rival, -np.inf, s)
        return _largest(among, y)

    def soft(self, S: Doubles, y: Choices) -> Answer:
        """Log sum e^s and the softmax of each group."""
        value, p = _softmax(S[:, 0], y.offsets)
        return _weighed(value, p, y)

    def soft_dot(self, S: Doubles, V: Doubles, y: Choices) -> Doubles:
        """P (v - p.v) in each group."""
        p, v, group = _softmax(S[:, 0], y.offsets)[1], V[:, 0], _numbers(y.offsets)
        mean: Doubles = np.bincount(group, p * v, len(y)).astype(np.float64)
        return _weighed(mean, p * (v - mean[group]), y).parts

    def cost(self, S: Doubles, y: Choices) -> Answer:
        """The cost of each wrong candidate: 1 by default."""
        paid = np.ones(len(S)) if y.costs is None else y.costs
        return Answer(np.zeros(len(y)), np.where(y.gold, 0.0, paid)[:, None])

    def margins(self, S: Doubles, y: Choices) -> Margins:
        """The largest score of a correct candidate minus that of a wrong one; without a wrong one, the score itself."""
        s = S[:, 0]
        right = _first(np.where(y.gold, s, -np.inf), y.offsets)
        wrong = _first(np.where(y.gold, -np.inf, s), y.offsets)
        counts, rival = _judged(y), ~_every(y.gold, y.offsets)

        def push(V: Doubles) -> Doubles:
            v = V[:, 0]
            lost = np.where(rival, v[wrong], 0.0)
            return np.where(counts > 0, v[right] - lost, 0.0)[:, None]

        def pull(slopes: Doubles) -> Doubles:
            G = np.zeros_like(S)
            np.add.at(G[:, 0], right, np.where(counts > 0, slopes[:, 0], 0.0))
            np.add.at(G[:, 0], wrong, np.where((counts > 0) & rival, -slopes[:, 0], 0.0))
            return G

        return Margins(push(S), counts[:, None], push, pull)

    def residuals(self, S: Doubles, y: Choices) -> Margins:
        """Scores minus +1 for correct candidates and -1 for wrong ones."""
        targets = np.where(y.gold, 1.0, -1.0)[:, None]
        stakes = _judged(y)[_numbers(y.offsets)][:, None]
        return Margins(S - targets, stakes, lambda V: V, lambda slopes: slopes)

    def decode(self, S: Doubles, offsets: Longs | None = None) -> Longs:
        """The position of the winner in each group, from 0; -1 for an empty group."""
        bounds = np.array([0, len(S)]) if offsets is None else offsets
        found: Longs = _first(S[:, 0], bounds) - bounds[:-1]
        return np.where(np.diff(bounds) > 0, found, -1)


def _numbers(offsets: Longs) -> Longs:
    """The group of each row (m,)."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _tops(s: Doubles, offsets: Longs) -> Doubles:
    """The largest score of each group; -inf for an empty group."""
    found = np.full(len(offsets) - 1, -np.inf)
    full = np.diff(offsets) > 0
    if len(s):
        found[full] = np.maximum.reduceat(s, offsets[:-1][full])
    return found


def _first(s: Doubles, offsets: Longs) -> Longs:
    """The row of the first largest score of each group; any row for an empty group."""
    if not len(s):
        return np.zeros(len(offsets) - 1, np.int64)
    at = np.flatnonzero(s == _tops(s, offsets)[_numbers(offsets)])
    first = at[np.minimum(np.searchsorted(at, offsets[:-1]), len(at) - 1)]
    return np.minimum(first, len(s) - 1)


def _every(mask: Bools, offsets: Longs) -> Bools:
    """Whether the mask is true in all rows of each group."""
    missing = np.bincount(_numbers(offsets), ~mask, len(offsets) - 1)
    return missing == 0


def _judged(y: Choices) -> Doubles:
    """The weight of each group: zero if no candidate is correct."""
    right = np.bincount(_numbers(y.offsets), y.gold, len(y)) > 0
    return np.where(right, 1.0 if y.weights is None else y.weights, 0.0)


def _largest(s: Doubles, y: Choices) -> Answer:
    parts = np.zeros(len(s))
    full = np.diff(y.offsets) > 0
    parts[_first(s, y.offsets)[full]] = 1.0
    return _weighed(_tops(s, y.offsets), parts, y)


def _softmax(s: Doubles, offsets: Longs) -> tuple[Doubles, Doubles]:
    group, top = _numbers(offsets), _tops(s, offsets)
    e = np.exp(s - top[group])
    total = np.bincount(group, e, len(offsets) - 1)
    with np.errstate(divide="ignore"):
        value = np.where(total > 0, top + np.log(total), 0.0)
    return value, e / total[group]


def _weighed(value: Doubles, parts: Doubles, y: Choices) -> Answer:
    """Multiply by the weights of the groups."""
    counts = _judged(y)
    return Answer(np.where(counts > 0, value, 0.0) * counts, (parts * counts[_numbers(y.offsets)])[:, None])
