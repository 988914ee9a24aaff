"""Twin of chain_learn.cpp: a learner of linear chains, one sequence at a time. See there for what it means."""

from __future__ import annotations

from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnaeus.kernels.online import Layout
from linnaeus.kernels.reference.chain import best_path, into, is_second, marginals

Doubles: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = tuple[Longs, Ints, NDArray[Any]]
Truth: TypeAlias = tuple[Longs, Ints, Doubles]
State: TypeAlias = tuple[NDArray[Any], NDArray[Any], Doubles, tuple[int, bool, bool]]
Settings: TypeAlias = tuple[float, float, float]
Order: TypeAlias = tuple[Ints, Doubles]
Asked: TypeAlias = tuple[int, int, Doubles]
Found: TypeAlias = tuple[float, NDArray[Any], NDArray[Any], int]

PERCEPTRON, HINGE, LOG, SOFTMARGIN = range(4)
WHOLE, GREEDY = range(2)


def chain_learn(
    rows: Rows, truth: Truth, order: Order, state: State, loss: Asked, settings: Settings
) -> tuple[float, int]:
    """The sum of losses before each step, and how many tokens were wrong; tables and clock are changed."""
    learner = _Learner(state, settings)
    _check(rows, truth, order, learner, loss)
    total, wrong = 0.0, 0
    for i, rate in zip(order[0].tolist(), order[1].tolist(), strict=True):
        at = slice(int(truth[0][i]), int(truth[0][i + 1]))
        if at.stop > at.start:
            weight = float(truth[2][i]) if len(truth[2]) else 1.0
            found = learner.learn(_tokens(rows, at), truth[1][at], (weight, float(rate)), loss)
            total, wrong = total + found[0], wrong + found[1]
        learner.clock[0] += rate / settings[1]
        learner.clock[1] += 1
    return total, wrong


def chain_settle(state: State, settings: Settings) -> None:
    """Every row catches up with the penalty."""
    learner = _Learner(state, settings)
    if not learner.layout.lazy:
        _refuse("a penalty needs clocks")
    for row in learner.table:
        learner.settle(row)


class _Learner:
    def __init__(self, state: State, settings: Settings) -> None:
        self.table, self.shared, self.clock, (k, averaged, lazy) = state
        self.l2, total, self.eps = settings
        if not 1 <= k <= 1 << 24:
            _refuse("there are between 1 and 2^24 tags")
        if not self.l2 >= 0 or not total > 0 or not self.eps >= 0:
            _refuse("l2 and eps are at least 0, and the total is positive")
        self.layout = Layout(k, 2 if self.eps > 0 else 1, averaged, lazy, self.table.dtype)
        self.links = Layout(k, self.layout.parts, averaged, False, self.table.dtype)
        if self.table.shape[1] != self.layout.stride or self.shared.shape[1] != self.links.stride:
            _refuse("the table does not have the layout")
        if len(self.shared) not in (1 + k, 1 + k + k * k):
            _refuse("the shared table does not have 1 + k or 1 + k + k k rows")
        if len(self.clock) != 2:
            _refuse("the clock has two numbers")
        if self.l2 > 0 and not lazy:
            _refuse("a penalty needs clocks")

    def learn(self, tokens: Any, y: Ints, counts: tuple[float, float], asked: Asked) -> tuple[float, int]:
        (weight, rate), (search, loss, costs), k = counts, asked, self.layout.k
        E, shared = np.array([self._scores(*token) for token in tokens]), self.links.part(self.shared, 0)
        costs = (costs.reshape(k, k) if len(costs) else 1.0 - np.eye(k))[y] * (loss in (HINGE, SOFTMARGIN))
        hard = loss in (PERCEPTRON, HINGE)
        value, g, links, wrong = (_whole if search == WHOLE else _greedy)(E, shared, y, costs.astype(E.dtype), hard)
        g, links = (weight * g).astype(E.dtype), (weight * links).astype(E.dtype)
        for (columns, values), row in zip(tokens, g, strict=True):
            if not hard or row.any():
                self._step(columns, values, row, rate)
        for r in np.flatnonzero(links.any(axis=1)):
            self._move(self.links, self.shared[r], links[r], rate)
        return weight * value, wrong

    def settle(self, row: NDArray[Any]) -> None:
        clock = row[(self.layout.parts + self.layout.averaged) * self.layout.lanes :].view(np.float64)
        time = self.table.dtype.type(-self.l2 * (self.clock[0] - clock[0]))
        clock[0] = self.clock[0]
        w, G = self.layout.part(row, 0), self.layout.part(row, 1)
        after = w * np.exp(time / np.sqrt(row.dtype.type(self.eps) + G) if self.eps > 0 else time)
        if self.layout.averaged:
            self.layout.part(row, self.layout.parts)[:] += row.dtype.type(self.clock[1]) * (after - w)
        w[:] = after

    def _scores(self, columns: Ints, values: NDArray[Any]) -> NDArray[Any]:
        scores = np.zeros(self.layout.k, self.table.dtype)
        for j, value in zip(columns, values, strict=True):
            if self.layout.lazy:
                self.settle(self.table[j])
            scores += value * self.layout.part(self.table[j], 0)
        return scores

    def _step(self, columns: Ints, values: NDArray[Any], g: NDArray[Any], rate: float) -> None:
        for j, value in zip(columns, values, strict=True):
            self._move(self.layout, self.table[j], value * g, rate)

    def _move(self, layout: Layout, row: NDArray[Any], q: NDArray[Any], rate: float) -> None:
        move = row.dtype.type(rate) * q
        if self.eps > 0:
            G = layout.part(row, 1)
            G += q * q
            move = move / np.sqrt(row.dtype.type(self.eps) + G)
        layout.part(row, 0)[:] -= move
        if layout.averaged:
            layout.part(row, layout.parts)[:] -= row.dtype.type(self.clock[1]) * move


def _whole(E: NDArray[Any], shared: NDArray[Any], y: Ints, costs: NDArray[Any], hard: bool) -> Found:
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


def _greedy(E: NDArray[Any], shared: NDArray[Any], y: Ints, costs: NDArray[Any], hard: bool) -> Found:
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
        for row in _rows(history, t, k, is_second(shared)):
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


def _rows(z: Ints, t: int, k: int, second: bool) -> list[int]:
    """The rows of `shared` that score token t after the tags z."""
    if t == 0:
        return [0]
    one = 1 + int(z[t - 1])
    return [one, k + one + int(z[t - 2]) * k] if second and t > 1 else [one]


def _link(links: NDArray[Any], z: Ints, weight: float) -> None:
    for t in range(len(z)):
        for row in _rows(z, t, links.shape[1], is_second(links)):
            links[row, z[t]] += weight


def _score(E: NDArray[Any], shared: NDArray[Any], z: Ints) -> float:
    return sum(float(E[t, z[t]]) + float(into(shared, z, t)[z[t]]) for t in range(len(z)))


def _tokens(rows: Rows, at: slice) -> list[tuple[Ints, NDArray[Any]]]:
    indptr, indices, data = rows
    cuts = [slice(indptr[t], indptr[t + 1]) for t in range(at.start, at.stop)]
    return [(indices[cut], data[cut]) for cut in cuts]


def _check(rows: Rows, truth: Truth, order: Order, learner: _Learner, asked: Asked) -> None:
    (indptr, indices, data), (offsets, tags, weights), (search, loss, costs) = rows, truth, asked
    n, k, stored = len(offsets) - 1, learner.layout.k, min(len(indices), len(data))
    if not 0 <= loss < 4 or not 0 <= search < 2:
        _refuse("there is no such search or loss")
    if len(costs) not in (0, k * k):
        _refuse("the costs have another size")
    if len(order[0]) != len(order[1]):
        _refuse("there is one rate for each step")
    if len(indptr) and (indptr[0] < 0 or (np.diff(indptr) < 0).any() or indptr[-1] > stored):
        _refuse("the offsets do not fit the values")
    if n < 0 or offsets[0] != 0 or offsets[-1] != len(tags) or (np.diff(offsets) < 0).any():
        _refuse("the offsets do not fit the tokens")
    if max(len(indptr) - 1, 0) != len(tags):
        _refuse("the offsets do not fit the tokens")
    if len(weights) not in (0, n):
        _refuse("there is one weight for each sequence")
    if len(tags) and (tags.min() < 0 or tags.max() >= k):
        _refuse("a tag is not one of k")
    used = indices[indptr[0] : indptr[-1]] if len(indptr) else indices[:0]
    if len(used) and (used.min() < 0 or used.max() >= len(learner.table)):
        _refuse("a column is not in the table")
    if len(order[0]) and (order[0].min() < 0 or order[0].max() >= n):
        _refuse("the order names a sequence that does not exist")


def _refuse(what: str) -> NoReturn:
    raise ValueError(f"chain_learn: {what}")
