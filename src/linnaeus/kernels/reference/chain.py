"""Twin of chain.cpp: the best taggings and the marginals of linear chains. See there for what each means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Doubles: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[Any]


def chain_best(emissions: Scores, shared: Scores, offsets: Longs, against: Ints, tags: Ints, threads: int) -> None:
    """The tags (m,) of the best tagging of each sequence; tags `against` (or none) lose ties."""
    del threads
    _check(emissions, shared, offsets)
    if len(tags) != len(emissions) or len(against) not in (0, len(tags)):
        raise ValueError("chain: there is one tag for each token")
    for _, at in sequences(offsets):
        tags[at] = best_path(emissions[at], shared[0], shared[1:], against[at] if len(against) else None)


def chain_soft(
    emissions: Doubles,
    shared: Doubles,
    truth: tuple[Longs, Doubles],
    out: tuple[Doubles, Doubles, Doubles],
    threads: int,
) -> None:
    """Marginals of tags (m, k), those of starts and pairs summed (1 + k, k), log sum e^score of each sequence (n,)."""
    del threads
    (offsets, weights), (parts, sums, values) = truth, out
    _check(emissions, shared, offsets)
    n = len(offsets) - 1
    if parts.shape != emissions.shape or sums.shape != shared.shape or len(values) != n or len(weights) not in (0, n):
        raise ValueError("chain: the results do not fit the scores")
    sums[:], values[:] = 0.0, 0.0
    for i, at in sequences(offsets):
        weight = float(weights[i]) if len(weights) else 1.0
        value, tags, pairs = marginals(emissions[at], shared[0], shared[1:])
        values[i], parts[at] = weight * value, weight * tags
        sums[0] += weight * tags[0]
        sums[1:] += weight * pairs


def sequences(offsets: Longs) -> Iterator[tuple[int, slice]]:
    """Number and tokens of each sequence that has tokens."""
    for i, (begin, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        if end > begin:
            yield i, slice(begin, end)


def best_path(E: Scores, start: Scores, T: Scores, against: Ints | None = None) -> Ints:
    """Viterbi's algorithm; the lowest tag among equals, from the end on, and `against` only where no other is as good.

    >>> best_path(np.zeros((2, 2)), np.zeros(2), np.zeros((2, 2)), np.array([0, 0])).tolist()
    [1, 1]
    """
    n = len(E)
    D = np.empty_like(E)
    D[0] = start + E[0]
    for t in range(1, n):
        D[t] = (D[t - 1][:, None] + T).max(axis=0) + E[t]
    z = np.zeros(n, np.int32)
    z[-1] = _pick(D[-1], None if against is None else against[-1])
    for t in range(n - 2, -1, -1):
        z[t] = _pick(D[t] + T[:, z[t + 1]], None if against is None else against[t])
    return z


def marginals(E: Doubles, start: Doubles, T: Doubles) -> tuple[float, Doubles, Doubles]:
    """Log sum e^score over all taggings, the marginals of tags (n, k), and those of pairs, summed (k, k)."""
    n = len(E)
    ahead, behind = np.empty_like(E), np.zeros_like(E)
    ahead[0] = start + E[0]
    for t in range(1, n):
        ahead[t] = np.logaddexp.reduce(ahead[t - 1][:, None] + T, axis=0) + E[t]
    for t in range(n - 2, -1, -1):
        behind[t] = np.logaddexp.reduce(T + E[t + 1] + behind[t + 1], axis=1)
    total = np.logaddexp.reduce(ahead[-1])
    pairs = np.zeros_like(T)
    for t in range(1, n):
        pairs += np.exp(ahead[t - 1][:, None] + T + E[t] + behind[t] - total)
    return float(total), np.exp(ahead + behind - total), pairs


def _pick(values: Scores, against: Any) -> int:
    """The lowest of the largest values; `against` only where no other is as large."""
    equal = np.flatnonzero(values == values.max())
    if not len(equal):
        return 0
    return int(equal[1] if len(equal) > 1 and equal[0] == against else equal[0])


def _check(emissions: Scores, shared: Scores, offsets: Longs) -> None:
    k = emissions.shape[1]
    if not 1 <= k <= 1 << 24:
        raise ValueError("chain: there are between 1 and 2^24 tags")
    if shared.shape != (1 + k, k):
        raise ValueError("chain: the shared scores are not 1 + k rows of k")
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(emissions) or (np.diff(offsets) < 0).any():
        raise ValueError("chain: the offsets do not fit the tokens")
