"""Twins of chain.cpp and chain_learn.cpp: best taggings and marginals of linear chains, and their learner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.kernels.online import Layout
from linnaeus.kernels.reference.online import Adaptive, Asked, Outcome, Plain, State, Steps, Truth, move
from linnaeus.kernels.reference.online import Penalty as Settings
from linnaeus.kernels.reference.rows import Rows, misfit, outside, refuse, row_of, stored
from linnaeus.types import Array, Doubles, Ints, Longs

Found: TypeAlias = tuple[float, Array, Array, int]


def chain_best(emissions: Array, shared: Array, offsets: Longs, against: Ints, tags: Ints, _threads: int) -> None:
    """The tags (m,) of the best tagging of each sequence; tags `against` (or none) lose ties."""
    _check(emissions, shared, offsets)
    refuse(len(tags) != len(emissions) or len(against) not in (0, len(tags)), "chain: there is one tag for each token")
    for _, at in sequences(offsets):
        tags[at] = best_path(emissions[at], shared, against[at] if len(against) else None)


def chain_greedy(emissions: Array, shared: Array, offsets: Longs, tags: Ints, _threads: int) -> None:
    """Tags (m,) from left to right, each the best after those already chosen."""
    _check(emissions, shared, offsets)
    refuse(len(tags) != len(emissions), "chain: there is one tag for each token")
    for _, at in sequences(offsets):
        for t, scores in enumerate(emissions[at]):
            tags[at.start + t] = _pick(scores + into(shared, tags[at], t), None)


def chain_soft(
    emissions: Doubles,
    shared: Doubles,
    truth: tuple[Longs, Doubles],
    out: tuple[Doubles, Doubles, Doubles],
    _threads: int,
) -> None:
    """Marginals of tags (m, k), those of starts and pairs summed (1 + k, k), log sum e^score of each sequence (n,)."""
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


def is_second(shared: Array) -> bool:
    """Whether there are transitions after two tags."""
    return bool(len(shared) > 1 + shared.shape[1])


def into(shared: Array, z: Ints, t: int) -> Array:
    """What the tags before token t add to each tag there (k,)."""
    first, *second = _rows(z, t, shared)
    found: Array = shared[first]
    return found + shared[second[0]] if second else found


def _rows(z: Ints, t: int, shared: Array) -> list[int]:
    """The rows of `shared` that score token t after the tags z."""
    if t == 0:
        return [0]
    k, one = shared.shape[1], 1 + int(z[t - 1])
    return [one, k + one + int(z[t - 2]) * k] if t > 1 and is_second(shared) else [one]


@dataclass(frozen=True)
class _Chain:
    """A sentence as a chain of first order, whose states are its tags, or pairs of a tag and the one before.

    `first` scores the first state, `links` the steps from a state to the next tag; in `local` stands what each further
    state has of its own.
    """

    first: Array
    links: Array
    local: list[Array]

    def ahead(self, upper: np.ufunc) -> list[Array]:
        """The best or soft score of all that ends with each state, state after state."""
        found = [self.first]
        for own in self.local:
            found.append(upper.reduce(found[-1][..., None] + self.links, axis=0) + own)
        return found

    def behind(self, upper: np.ufunc) -> list[Array]:
        """The best or soft score of all that follows each state."""
        found = [np.zeros_like(self.first)]
        for own in reversed(self.local):
            found.append(upper.reduce(self.links + (own + found[-1]), axis=-1))
        return found[::-1]


def _chain(E: Array, shared: Array) -> _Chain:
    k = E.shape[1]
    start, T = shared[0] + E[0], shared[1 : 1 + k]
    if not is_second(shared) or len(E) < 2:
        return _Chain(start, T, list(E[1:]))
    return _Chain(start[:, None] + T + E[1], shared[1 + k :].reshape(k, k, k), [T + own for own in E[2:]])


def best_path(E: Array, shared: Array, against: Ints | None = None) -> Ints:
    """Viterbi's algorithm; the lowest tag among equals, from the end on, and `against` only where no other is as good.

    >>> best_path(np.zeros((2, 2)), np.zeros((3, 2)), np.array([0, 0])).tolist()
    [1, 1]
    """
    chain, (n, k) = _chain(E, shared), E.shape
    D, z = chain.ahead(np.maximum), np.zeros(n, np.int32)
    pairs = chain.first.ndim - 1
    if pairs:
        last = _pick(D[-1].T.ravel(), None if against is None else against[-1] * k + against[-2])
        z[-1], z[-2] = divmod(last, k)
    else:
        z[-1] = _pick(D[-1], None if against is None else against[-1])
    for t in range(n - 2 - pairs, -1, -1):
        later = tuple(z[t + 1 : t + 2 + pairs])
        values = D[t][(slice(None), *later[:-1])] + chain.links[(slice(None), *later)]
        z[t] = _pick(values, None if against is None else against[t])
    return z


def marginals(E: Doubles, shared: Doubles) -> tuple[float, Doubles, Doubles]:
    """Log sum e^score over all taggings, the marginals of tags (n, k), and those of rows of `shared`, summed."""
    chain, k = _chain(E, shared), E.shape[1]
    ahead, behind = chain.ahead(np.logaddexp), chain.behind(np.logaddexp)
    total = np.logaddexp.reduce(ahead[-1], axis=None)
    states = np.exp(np.array(ahead) + np.array(behind) - total)
    moves = np.zeros_like(chain.links)
    for before, own, after in zip(ahead, chain.local, behind[1:], strict=False):
        moves += np.exp(before[..., None] + chain.links + own + after - total)
    if chain.first.ndim == 1:
        return float(total), states, np.vstack([states[:1], moves, np.zeros_like(shared[1 + k :])])
    tags = np.vstack([states[:1].sum(axis=2), states.sum(axis=1)])
    return float(total), tags, np.vstack([tags[:1], states.sum(axis=0), moves.reshape(k * k, k)])


def _pick(values: Array, against: int | None) -> int:
    """The lowest of the largest values; `against` only where no other is as large."""
    equal = np.flatnonzero(values == values.max())
    if not len(equal):
        return 0
    return int(equal[1] if len(equal) > 1 and equal[0] == against else equal[0])


def _check(emissions: Array, shared: Array, offsets: Longs) -> None:
    k = emissions.shape[1]
    refuse(not 1 <= k <= 1 << 24, "chain: there are between 1 and 2^24 tags")
    if shared.shape not in ((1 + k, k), (1 + k + k * k, k)):
        raise ValueError("chain: the shared scores are not 1 + k or 1 + k + k k rows of k")
    refuse(_lost(offsets, len(emissions)), "chain: the offsets do not fit the tokens")


def _lost(offsets: Longs, tokens: int) -> bool:
    """Whether the sequences are not all the tokens, one behind the other."""
    return not len(offsets) or offsets[0] != 0 or offsets[-1] != tokens or misfit(offsets, tokens)


PERCEPTRON, HINGE, LOG, SOFTMARGIN = range(4)
WHOLE, GREEDY = range(2)


def chain_learn(rows: Rows, truth: Truth, order: Steps, state: State, loss: Asked, settings: Settings) -> Outcome:
    """The sum of losses before each step, and how many tokens were wrong; tables and clock are changed."""
    learner = _Learner(state, settings)
    _check_learning(rows, truth, order, learner, loss)
    total, wrong = 0.0, 0
    for i, rate in zip(order[0].tolist(), order[1].tolist(), strict=True):
        at = slice(int(truth[0][i]), int(truth[0][i + 1]))
        if at.stop > at.start:
            weight = float(truth[2][i]) if len(truth[2]) else 1.0
            found = learner.learn(
                [row_of(rows, t) for t in range(at.start, at.stop)], truth[1][at], (weight, float(rate)), loss
            )
            total, wrong = total + found[0], wrong + found[1]
        learner.clock[0] += rate / settings[1]
        learner.clock[1] += 1
    return total, wrong


def chain_settle(state: State, settings: Settings) -> None:
    """Every row catches up with the penalty."""
    learner = _Learner(state, settings)
    _refuse(not learner.layout.lazy, "a penalty needs clocks")
    for row in learner.table:
        learner.settle(row)


class _Learner:
    def __init__(self, state: State, settings: Settings) -> None:
        self.table, self.shared, self.clock, (k, averaged, lazy) = state
        self.l2, total, eps = settings
        _refuse(not 1 <= k <= 1 << 24, "there are between 1 and 2^24 tags")
        sound = self.l2 >= 0 and total > 0 and eps >= 0
        _refuse(not sound, "l2 and eps are at least 0, and the total is positive")
        self.rule = Adaptive(eps) if eps > 0 else Plain()
        self.layout = Layout(k, self.rule.parts, averaged, lazy, self.table.dtype)
        self.links = Layout(k, self.rule.parts, averaged, False, self.table.dtype)
        wide = self.table.shape[1] == self.layout.stride and self.shared.shape[1] == self.links.stride
        _refuse(not wide, "the table does not have the layout")
        high = len(self.shared) in (1 + k, 1 + k + k * k)
        _refuse(not high, "the shared table does not have 1 + k or 1 + k + k k rows")
        _refuse(len(self.clock) != 2, "the clock has two numbers")
        _refuse(self.l2 > 0 and not lazy, "a penalty needs clocks")

    def learn(self, tokens: list[tuple[Ints, Array]], y: Ints, counts: tuple[float, float], asked: Asked) -> Outcome:
        (weight, rate), (search, loss, costs), k = counts, asked, self.layout.k
        E, shared = np.array([self._scores(*token) for token in tokens]), self.links.part(self.shared, 0)
        costs = (costs.reshape(k, k) if len(costs) else 1.0 - np.eye(k))[y] * (loss in (HINGE, SOFTMARGIN))
        hard = loss in (PERCEPTRON, HINGE)
        value, g, links, wrong = (_whole if search == WHOLE else _greedy)(E, shared, y, costs.astype(E.dtype), hard)
        g, links = (weight * g).astype(E.dtype), (weight * links).astype(E.dtype)
        for (columns, values), row in zip(tokens, g, strict=True):
            if not hard or row.any():
                for j, x in zip(columns, values, strict=True):
                    move(self.layout, self.table[j], self.rule, (x * row, rate), self.clock[1])
        for r in np.flatnonzero(links.any(axis=1)):
            move(self.links, self.shared[r], self.rule, (links[r], rate), self.clock[1])
        return weight * value, wrong

    def settle(self, row: Array) -> None:
        clock = row[(self.layout.parts + self.layout.averaged) * self.layout.lanes :].view(np.float64)
        time = self.table.dtype.type(-self.l2 * (self.clock[0] - clock[0]))
        clock[0] = self.clock[0]
        w = self.layout.part(row, 0)
        after = w * np.exp(time * self.rule.pace([self.layout.part(row, 1)]))
        if self.layout.averaged:
            self.layout.part(row, self.layout.parts)[:] += row.dtype.type(self.clock[1]) * (after - w)
        w[:] = after

    def _scores(self, columns: Ints, values: Array) -> Array:
        scores = np.zeros(self.layout.k, self.table.dtype)
        for j, value in zip(columns, values, strict=True):
            if self.layout.lazy:
                self.settle(self.table[j])
            scores += value * self.layout.part(self.table[j], 0)
        return scores


def _whole(E: Array, shared: Array, y: Ints, costs: Array, hard: bool) -> Found:
    """Loss, its gradient in the scores of tags and in `shared`, and how many tags are wrong."""
    gold, links = _score(E, shared, y), np.zeros(shared.shape)
    E = E + costs
    if hard:
        z = best_path(E, shared, y)
        upper, tags = _score(E, shared, z), np.eye(E.shape[1])[z]
        _link(links, z, 1.0)
    else:
        upper, tags, links = marginals(E.astype(np.float64), shared.astype(np.float64))
    _link(links, y, -1.0)
    return upper - gold, _minus(tags, y), links, _wrong(tags, y)


def _greedy(E: Array, shared: Array, y: Ints, costs: Array, hard: bool) -> Found:
    """The same for tags chosen from left to right."""
    k, total, history = E.shape[1], 0.0, np.zeros(len(E), np.int32)
    tags, links = np.zeros(E.shape), np.zeros(shared.shape)
    for t in range(len(E)):
        here = E[t] + into(shared, history, t)
        history[t] = np.argmax(here)
        alone = np.zeros((1 + k, k), E.dtype)
        if hard:
            z = best_path((here + costs[t])[None], alone, y[t : t + 1])
            upper, tags[t] = float((here + costs[t])[z[0]]), np.eye(k)[z[0]]
        else:
            upper, part, _ = marginals((here + costs[t])[None].astype(np.float64), alone.astype(np.float64))
            tags[t] = part[0]
        total += upper - float(here[y[t]])
        for row in _rows(history, t, shared):
            links[row] += tags[t] - np.eye(k)[y[t]]
    return total, _minus(tags, y), links, _wrong(tags, y)


def _wrong(tags: Doubles, y: Ints) -> int:
    """Tokens at which another tag has as much as the true one."""
    others = tags.copy()
    others[np.arange(len(y)), y] = -1.0
    return int((others.max(axis=1) >= tags[np.arange(len(y)), y]).sum())


def _minus(tags: Doubles, y: Ints) -> Doubles:
    tags = tags.copy()
    tags[np.arange(len(y)), y] -= 1.0
    return tags


def _link(links: Array, z: Ints, weight: float) -> None:
    for t in range(len(z)):
        for row in _rows(z, t, links):
            links[row, z[t]] += weight


def _score(E: Array, shared: Array, z: Ints) -> float:
    return sum(float(E[t, z[t]]) + float(into(shared, z, t)[z[t]]) for t in range(len(z)))


def _check_learning(rows: Rows, truth: Truth, order: Steps, learner: _Learner, asked: Asked) -> None:
    (offsets, tags, weights), (search, loss, costs) = truth, asked
    n, k = len(offsets) - 1, learner.layout.k
    _refuse(not 0 <= loss < 4 or not 0 <= search < 2, "there is no such search or loss")
    _refuse(len(costs) not in (0, k * k), "the costs have another size")
    _refuse(len(order[0]) != len(order[1]), "there is one rate for each step")
    _, columns, _ = stored(rows, "chain_learn")
    lost = _lost(offsets, len(tags)) or max(len(rows[0]) - 1, 0) != len(tags)
    _refuse(lost, "the offsets do not fit the tokens")
    _refuse(len(weights) not in (0, n), "there is one weight for each sequence")
    _refuse(outside(tags, k), "a tag is not one of k")
    _refuse(outside(columns, len(learner.table)), "a column is not in the table")
    _refuse(outside(order[0], n), "the order names a sequence that does not exist")


def _refuse(wrong: object, what: str) -> None:
    refuse(wrong, f"chain_learn: {what}")
