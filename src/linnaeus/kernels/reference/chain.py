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
        tags[at] = best_path(emissions[at], shared, against[at] if len(against) else None)


def chain_greedy(emissions: Scores, shared: Scores, offsets: Longs, tags: Ints, threads: int) -> None:
    """Tags (m,) from left to right, each the best after those already chosen."""
    del threads
    _check(emissions, shared, offsets)
    if len(tags) != len(emissions):
        raise ValueError("chain: there is one tag for each token")
    for _, at in sequences(offsets):
        for t, scores in enumerate(emissions[at]):
            tags[at.start + t] = _pick(scores + into(shared, tags[at], t), None)


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
        value, tags, links = marginals(emissions[at], shared)
        values[i], parts[at] = weight * value, weight * tags
        sums += weight * links


def sequences(offsets: Longs) -> Iterator[tuple[int, slice]]:
    """Number and tokens of each sequence that has tokens."""
    for i, (begin, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        if end > begin:
            yield i, slice(begin, end)


def is_second(shared: Scores) -> bool:
    """Whether there are transitions after two tags."""
    return bool(len(shared) > 1 + shared.shape[1])


def into(shared: Scores, z: Ints, t: int) -> Scores:
    """What the tags before token t add to each tag there (k,)."""
    k = shared.shape[1]
    found: Scores = shared[1 + z[t - 1] if t else 0]
    if t > 1 and is_second(shared):
        found = found + shared[1 + k + z[t - 2] * k + z[t - 1]]
    return found


def best_path(E: Scores, shared: Scores, against: Ints | None = None) -> Ints:
    """Viterbi's algorithm; the lowest tag among equals, from the end on, and `against` only where no other is as good.

    >>> best_path(np.zeros((2, 2)), np.zeros((3, 2)), np.array([0, 0])).tolist()
    [1, 1]
    """
    if is_second(shared) and len(E) > 1:
        return _best_second(E, shared, against)
    n, T = len(E), shared[1 : 1 + E.shape[1]]
    D = np.empty_like(E)
    D[0] = shared[0] + E[0]
    for t in range(1, n):
        D[t] = (D[t - 1][:, None] + T).max(axis=0) + E[t]
    z = np.zeros(n, np.int32)
    z[-1] = _pick(D[-1], None if against is None else against[-1])
    for t in range(n - 2, -1, -1):
        z[t] = _pick(D[t] + T[:, z[t + 1]], None if against is None else against[t])
    return z


def _best_second(E: Scores, shared: Scores, against: Ints | None) -> Ints:
    """The same over pairs of tags: D[t][i, j] ends with i and j."""
    n, k = E.shape
    T, T2 = shared[1 : 1 + k], shared[1 + k :].reshape(k, k, k)
    D = [E[:1], (shared[0] + E[0])[:, None] + T + E[1]]
    for t in range(2, n):
        D.append((D[-1][:, :, None] + T2).max(axis=0) + (T + E[t]))
    z = np.zeros(n, np.int32)
    last = _pick(D[-1].T.ravel(), None if against is None else against[-1] * k + against[-2])
    z[-1], z[-2] = divmod(last, k)
    for t in range(n - 3, -1, -1):
        z[t] = _pick(D[t + 1][:, z[t + 1]] + T2[:, z[t + 1], z[t + 2]], None if against is None else against[t])
    return z


def marginals(E: Doubles, shared: Doubles) -> tuple[float, Doubles, Doubles]:
    """Log sum e^score over all taggings, the marginals of tags (n, k), and those of rows of `shared`, summed."""
    if is_second(shared) and len(E) > 1:
        return _marginals_second(E, shared)
    (n, k), T = E.shape, shared[1 : 1 + E.shape[1]]
    ahead, behind = np.empty_like(E), np.zeros_like(E)
    ahead[0] = shared[0] + E[0]
    for t in range(1, n):
        ahead[t] = np.logaddexp.reduce(ahead[t - 1][:, None] + T, axis=0) + E[t]
    for t in range(n - 2, -1, -1):
        behind[t] = np.logaddexp.reduce(T + E[t + 1] + behind[t + 1], axis=1)
    total = np.logaddexp.reduce(ahead[-1])
    tags, links = np.exp(ahead + behind - total), np.zeros_like(shared)
    links[0] = tags[0]
    for t in range(1, n):
        links[1 : 1 + k] += np.exp(ahead[t - 1][:, None] + T + E[t] + behind[t] - total)
    return float(total), tags, links


def _marginals_second(E: Doubles, shared: Doubles) -> tuple[float, Doubles, Doubles]:
    """The same over pairs of tags."""
    n, k = E.shape
    T, T2 = shared[1 : 1 + k], shared[1 + k :].reshape(k, k, k)
    ahead, behind = np.zeros((n, k, k)), np.zeros((n, k, k))
    ahead[1] = (shared[0] + E[0])[:, None] + T + E[1]
    for t in range(2, n):
        ahead[t] = np.logaddexp.reduce(ahead[t - 1][:, :, None] + T2, axis=0) + T + E[t]
    for t in range(n - 2, 0, -1):
        behind[t] = np.logaddexp.reduce(T2 + (T + E[t + 1] + behind[t + 1]), axis=2)
    total = np.logaddexp.reduce(ahead[-1], axis=None)
    pairs, links = np.exp(ahead + behind - total), np.zeros_like(shared)
    tags = pairs.sum(axis=1)
    tags[0] = links[0] = pairs[1].sum(axis=1)
    links[1 : 1 + k] = pairs[1:].sum(axis=0)
    for t in range(2, n):
        links[1 + k :] += np.exp(ahead[t - 1][:, :, None] + T2 + T + E[t] + behind[t] - total).reshape(k * k, k)
    return float(total), tags, links


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
    if shared.shape not in ((1 + k, k), (1 + k + k * k, k)):
        raise ValueError("chain: the shared scores are not 1 + k or 1 + k + k k rows of k")
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(emissions) or (np.diff(offsets) < 0).any():
        raise ValueError("chain: the offsets do not fit the tokens")
