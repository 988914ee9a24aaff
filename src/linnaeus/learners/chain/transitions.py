"""How tags follow each other: the scores of transitions, and the search for the best tags of a sentence."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Doubles, Floats, Ints, Longs, State

if TYPE_CHECKING:
    from linnaeus.tasks.tag.encoding import Allowed

LARGEST_WEIGHT = 1e20
"""The score of a tagging is a sum over all tokens in float32, which ends at 3e38."""
_NONE = np.zeros(0, np.int32)
SEARCHES = {"whole": 0, "greedy": 1}
"""Ways to find tags with the numbers kernels know: all of a sentence together, or one after the other."""


@dataclass(frozen=True, eq=False)
class Transitions:
    """`shared` scores the first tag (1 row), and each tag after each other (k rows); learners score tags of tokens.

    For second order, `shared` has k * k more rows: each tag after each pair of tags. `search` is "whole": the best
    tagging of a sentence (Viterbi), or "greedy": from left to right.

    >>> E = np.array([[1.0, 0.0], [0.0, 0.5]], np.float32)
    >>> likes_to_stay = Transitions(np.array([[0, 0], [2, 0], [0, 2]], np.float32))
    >>> likes_to_stay.decode(E, np.array([0, 2])).tolist(), likes_to_stay.decode(E, np.array([0, 1, 2])).tolist()
    ([0, 0], [0, 1])
    """

    shared: Floats
    search: str = "whole"

    @classmethod
    def from_state(cls, state: State) -> Transitions:
        """The transitions again; those that a kernel could not take are refused."""
        shared, search = state.tensors["shared"], str(state.manifest.get("search"))
        if shared.dtype != np.float32 or shared.ndim != 2:
            raise damaged("its transitions are not a table of float32")
        if len(shared) not in (1 + (k := shared.shape[1]), 1 + k + k * k):
            raise damaged("its transitions are not those of its tags")
        refuse_large(shared)
        if search not in SEARCHES:
            raise damaged("its search method is unknown")
        return cls(shared, search)

    @property
    def k(self) -> int:
        """The number of tags."""
        return int(self.shared.shape[1])

    @property
    def second(self) -> bool:
        """Whether a tag depends on the two before it."""
        return len(self.shared) > 1 + self.k

    def decode(self, E: Floats, offsets: Longs, allowed: Allowed | None = None) -> Ints:
        """The tags (m,) of the best tagging of each sentence, from scores E (m, k)."""
        E, shared = self.restricted(E, offsets, allowed)
        tags = np.zeros(len(E), np.int32)
        if self.search == "greedy":
            kernels.chain_greedy(E, shared, offsets, tags, kernels.thread_count())
        else:
            kernels.chain_best(E, shared, offsets, _NONE, tags, kernels.thread_count())
        return tags

    def marginals(self, E: Floats, offsets: Longs, allowed: Allowed | None = None) -> tuple[Doubles, Doubles]:
        """The probability of each tag at each token (m, k), and log sum e^score of each sentence (n,)."""
        wide, links = (part.astype(np.float64) for part in self.restricted(E, offsets, allowed))
        parts, sums, values = np.empty_like(wide), np.empty_like(links), np.zeros(len(offsets) - 1)
        kernels.chain_soft(wide, links, (offsets, np.zeros(0)), (parts, sums, values), kernels.thread_count())
        return parts, values

    def nbest(self, E: Floats, offsets: Longs, count: int, allowed: Allowed | None = None) -> list[tuple[Ints, float]]:
        """The best taggings of one sentence with their scores, best first."""
        E, shared = self.restricted(E, offsets, allowed)
        return best_taggings(E.astype(np.float64), shared.astype(np.float64), count)

    def rows(self, z: Ints, t: int) -> list[int]:
        """The rows of `shared` that score the tag of token t."""
        if not t:
            return [0]
        one = 1 + int(z[t - 1])
        return [one, self.k + one + int(z[t - 2]) * self.k] if self.second and t > 1 else [one]

    def restricted(self, E: Floats, offsets: Longs, allowed: Allowed | None) -> tuple[Floats, Floats]:
        """Scores in which tags that are not allowed cannot win."""
        if allowed is None:
            return E, self.shared
        ends = offsets[1:][np.diff(offsets) > 0] - 1
        E = E.copy()
        E[ends] = np.where(allowed.end, E[ends], np.float32(-np.inf))
        shared = self.shared.copy()
        shared[: len(allowed.links)][~allowed.links] = -np.inf
        return E, shared


def refuse_large(values: Array) -> None:
    """Refuse weights of a file that are not finite, or so large that scores of taggings would overflow."""
    if not np.isfinite(values).all():
        raise damaged("a weight is not a number")
    if values.size and max(values.max(), -values.min()) > LARGEST_WEIGHT:
        raise damaged(f"a weight is larger than {LARGEST_WEIGHT:g}, and scores of taggings would overflow")


def best_taggings(E: Doubles, shared: Doubles, count: int) -> list[tuple[Ints, float]]:
    """The best taggings with their scores: from the end on, the most promising rest first (A* search).

    The best score of every beginning is known exactly from Viterbi's algorithm, so taggings come out in order, each
    after at most n k steps. A chain of second order is one of first order over pairs of tags.

    >>> E, shared = np.array([[1.0, 0.0], [0.0, 0.5]]), np.zeros((3, 2))
    >>> [(z.tolist(), score) for z, score in best_taggings(E, shared, 3)]
    [([0, 1], 1.5), ([0, 0], 1.0), ([1, 1], 0.5)]
    """
    n, k = E.shape
    if not n:
        return [(np.zeros(0, np.int32), 0.0)]
    if len(shared) == 1 + k or n == 1:
        return _best(E, shared[0], shared[1 : 1 + k], count)
    # The state of token t is (tag t, tag t+1), for t = 0 .. n-2.
    T, T2 = shared[1 : 1 + k], shared[1 + k :].reshape(k, k, k)
    pairs = np.stack([(T + E[t + 1]).ravel() for t in range(n - 1)])
    pairs[0] += np.repeat(shared[0] + E[0], k)
    links = np.full((k, k, k, k), -np.inf)
    for j in range(k):
        links[:, j, j, :] = T2[:, j, :]
    found = _best(pairs, np.zeros(k * k), links.reshape(k * k, k * k), count)
    return [(np.append(z // k, z[-1] % k).astype(np.int32), score) for z, score in found]


def _best(E: Doubles, start: Doubles, T: Doubles, count: int) -> list[tuple[Ints, float]]:
    n, k = E.shape
    D = np.empty_like(E)
    D[0] = start + E[0]
    for t in range(1, n):
        D[t] = (D[t - 1][:, None] + T).max(axis=0) + E[t]
    heap: list[tuple[float, tuple[int, ...], float]] = [
        (-float(D[-1, c]), (c,), 0.0) for c in range(k) if D[-1, c] > -np.inf
    ]
    heapify(heap)
    found: list[tuple[Ints, float]] = []
    while heap and len(found) < count:
        bound, tail, behind = heappop(heap)
        t = n - len(tail)
        if t == 0:
            found.append((np.array(tail, np.int32), -bound))
            continue
        ahead = behind + E[t, tail[0]] + T[:, tail[0]]
        bounds = D[t - 1] + ahead
        for c in np.flatnonzero(bounds > -np.inf).tolist():
            heappush(heap, (-float(bounds[c]), (c, *tail), float(ahead[c])))
    return found
