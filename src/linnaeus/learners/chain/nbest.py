"""The best taggings of one sequence, one after the other."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Ints


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
