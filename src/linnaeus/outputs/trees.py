"""Dependency parsing: a head for each token, so that a sentence becomes a tree; projective, or with crossing arcs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.protocols import GroupedSpace
from linnaeus.types import Answer, Doubles, Ints, Longs, Margins, offsets_of
from linnaeus.types import Heads as Heads

_NONE = np.zeros(0, np.int32)


class TreeSpace(ABC):
    """What both spaces of trees share: scores of arcs, S (a, 1), and one tree for each sentence.

    A sentence of n tokens has n (n + 1) rows of scores. Row m (n + 1) + h of them is the arc to token m from head h,
    where head 0 is the root and head j + 1 is token j; the row of a token with itself, h = m + 1, is ignored. The score
    of a tree is the sum of its arcs, and exactly one token has the root as its head. A score of -inf forbids an arc.
    """

    @abstractmethod
    def _search(self, scores: Doubles, tokens: Longs, against: Ints) -> Ints:
        """The heads (m,) of the best trees; in a tie, fewer heads `against` are better."""

    @abstractmethod
    def _add_up(self, scores: Doubles, tokens: Longs) -> tuple[Doubles, Doubles]:
        """Log sum e^s over the trees of each sentence (n,), and the chance of each arc (a,)."""

    def width(self, k: int) -> int:
        """One score for each arc."""
        return 1

    def gold(self, S: Doubles, y: Heads) -> Answer:
        """The score of the true arcs."""
        return _along(S, y, y.heads)

    def best(self, S: Doubles, y: Heads) -> Answer:
        """The tree with the largest score; in a tie, the one with the fewest true arcs."""
        return _along(S, y, self._search(_scores(S, y.tokens), y.tokens, y.heads))

    def soft(self, S: Doubles, y: Heads) -> Answer:
        """Log sum e^s over all trees, and the marginals of the arcs."""
        values, parts = self._add_up(_scores(S, y.tokens), y.tokens)
        return _weighed(values, parts, y)

    def cost(self, S: Doubles, y: Heads) -> Answer:
        """1 for each wrong arc."""
        first, own = _places(y.tokens)
        parts = np.ones_like(S)
        parts[first + y.heads] = parts[own] = 0.0
        return Answer(np.zeros(len(y)), parts)

    def margins(self, S: Doubles, y: Heads) -> Margins:
        """Not defined for trees."""
        raise UsageError("Trees need a loss of whole trees; use log, hinge, perceptron or softmargin.")

    residuals = margins

    def decode(self, S: Doubles, offsets: Longs | None = None) -> Ints:
        """The head of each token (m,) in the best tree; `offsets` are those of the score rows, as in `Heads`."""
        tokens = token_offsets(np.array([0, len(S)]) if offsets is None else offsets)
        return self._search(_scores(S, tokens), tokens, _NONE)

    def marginals(self, S: Doubles, offsets: Longs | None = None) -> Doubles:
        """The probability of each arc, shaped like S."""
        tokens = token_offsets(np.array([0, len(S)]) if offsets is None else offsets)
        return self._add_up(_scores(S, tokens), tokens)[1][:, None]


@dataclass(frozen=True)
class ProjectiveTree(TreeSpace):
    """Dependency trees without crossing arcs: S (a, 1) has one row for each possible arc, see `TreeSpace`.

    `best` is found by Eisner's algorithm (1996), `soft` and the marginals by inside and outside sums over the same
    spans; both take n^3 steps. The cost is the number of wrong heads.

    The true tree may have crossing arcs: `gold` is its score all the same. Then it is not one of the trees that `best`
    and `soft` range over, so a loss can be negative, and it has no lower bound: nothing is clipped. Training moves the
    score of such a tree above those of all projective ones. To avoid that, leave such sentences out, or make their
    trees projective first; or use `SpanningTree`.

    >>> S = np.array([[0.0], [0.0], [3.0], [1.0], [2.0], [0.0]])  # two tokens; the arc from the second to the first: 3
    >>> y = Heads.of([2], [2, 0])
    >>> ProjectiveTree().best(S, y).value.tolist(), ProjectiveTree().decode(S).tolist()
    ([4.0], [2, 0])
    """

    provides: ClassVar[tuple[type, ...]] = (GroupedSpace,)

    def _search(self, scores: Doubles, tokens: Longs, against: Ints) -> Ints:
        heads = np.zeros(int(tokens[-1]), np.int32)
        kernels.dependency_best_projective(scores, tokens, against, heads, kernels.thread_count())
        return heads

    def _add_up(self, scores: Doubles, tokens: Longs) -> tuple[Doubles, Doubles]:
        values, chances = np.zeros(len(tokens) - 1), np.zeros(len(scores))
        kernels.dependency_soft_projective(scores, tokens, chances, values, kernels.thread_count())
        return values, chances


@dataclass(frozen=True)
class SpanningTree(TreeSpace):
    """Dependency trees whose arcs may cross: S (a, 1) has one row for each possible arc, see `TreeSpace`.

    `best` is found by the algorithm of Chu and Liu (1965) and Edmonds (1967), here with exactly one root, in n^2 steps
    (McDonald, Pereira, Ribarov and Hajic 2005). `soft` and the marginals follow from the matrix-tree theorem, in n^3
    steps (Koo, Globerson, Carreras and Collins 2007). The cost is the number of wrong heads.

    >>> S, y = np.zeros((12, 1)), Heads.of([3], [2, 0, 2])
    >>> round(np.exp(SpanningTree().soft(S, y).value[0]))  # n^(n - 1) trees
    9
    """

    provides: ClassVar[tuple[type, ...]] = (GroupedSpace,)

    def _search(self, scores: Doubles, tokens: Longs, against: Ints) -> Ints:
        heads = np.zeros(int(tokens[-1]), np.int32)
        kernels.dependency_best_spanning(scores, tokens, against, heads, kernels.thread_count())
        return heads

    def _add_up(self, scores: Doubles, tokens: Longs) -> tuple[Doubles, Doubles]:
        values, chances = np.zeros(len(tokens) - 1), np.zeros(len(scores))
        kernels.dependency_soft_spanning(scores, tokens, chances, values, kernels.thread_count())
        return values, chances


def token_offsets(offsets: Longs) -> Longs:
    """The offsets of the tokens, from those of the score rows.

    >>> token_offsets(np.array([0, 2, 14])).tolist()
    [0, 1, 4]
    """
    rows = np.diff(offsets)
    sizes = np.floor(np.sqrt(rows)).astype(np.int64)
    if (sizes * (sizes + 1) != rows).any():
        raise UsageError("A sentence of n tokens has n (n + 1) scores; the offsets do not fit.")
    return offsets_of(sizes)


def _places(tokens: Longs) -> tuple[Longs, Longs]:
    """For each token the rows of its arc from the root, after which the other heads follow, and from itself."""
    sizes = np.diff(tokens)
    n = np.repeat(sizes, sizes)
    position = np.arange(len(n)) - np.repeat(tokens[:-1], sizes)
    first = np.repeat(offsets_of(sizes * (sizes + 1))[:-1], sizes) + position * (n + 1)
    return first, first + position + 1


def _scores(S: Doubles, tokens: Longs) -> Doubles:
    """The scores (a,), if they are numbers or -inf."""
    wrong = np.isnan(S[:, 0]) | (S[:, 0] == np.inf)
    if wrong.any():
        wrong[_places(tokens)[1]] = False
    if wrong.any():
        raise UsageError("The score of an arc must be a number, or -inf where the arc is forbidden.")
    return np.ascontiguousarray(S[:, 0], np.float64)


def _along(S: Doubles, y: Heads, heads: Ints) -> Answer:
    """The score and the parts of one tree for each sentence."""
    rows, parts = _places(y.tokens)[0] + heads, np.zeros(len(S))
    parts[rows] = 1.0
    number = np.repeat(np.arange(len(y)), np.diff(y.tokens))
    values: Doubles = np.bincount(number, S[rows, 0], len(y)).astype(np.float64)
    return _weighed(values, parts, y)


def _weighed(values: Doubles, parts: Doubles, y: Heads) -> Answer:
    """Multiply by the weights of the sentences."""
    if y.weights is None:
        return Answer(values, parts[:, None])
    return Answer(values * y.weights, (parts * np.repeat(y.weights, np.diff(y.offsets)))[:, None])
