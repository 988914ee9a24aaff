"""Twins of online.cpp and online_loss.hpp: learners that take one example at a time. See there for what each means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.kernels.online import LOSSES, SPACES, Layout
from linnaeus.kernels.reference.rows import Rows, outside, refuse, row_of
from linnaeus.types import Array, Doubles, Ints, Longs

Truth: TypeAlias = tuple[Longs, Ints, Doubles]
State: TypeAlias = tuple[Array, Array, Doubles, tuple[int, bool, bool]]
Steps: TypeAlias = tuple[Ints, Doubles]
Penalty: TypeAlias = tuple[float, float, float]
Rule: TypeAlias = tuple[float, float, float, float]
Asked: TypeAlias = tuple[int, int, Doubles]
Judge: TypeAlias = Callable[["Example"], "Verdict"]
"""A loss, or a rule that knows its own step: what to say of an example."""
Outcome: TypeAlias = tuple[float, int]


class Example(NamedTuple):
    """Scores (k), the labels, what the example counts, and the sum of squares of its features."""

    scores: Doubles
    labels: Ints
    weight: float
    norm: float


class Verdict(NamedTuple):
    """Loss and gradient, both times the weight, and whether the prediction was wrong or tied."""

    loss: float
    mistake: bool
    gradient: Doubles


def at_margin(loss: int, m: Doubles, stake: Doubles) -> tuple[Doubles, Doubles]:
    """Value and slope of each margin; ties go against the truth."""
    room = 1.0 - m
    soft = np.logaddexp
    down = np.maximum(0.0, room)
    spread = np.exp(np.minimum(-m, 700.0))
    linear = m < -1.0
    cases: dict[str, Callable[[], tuple[Doubles, Doubles]]] = {
        "perceptron": lambda: (np.maximum(0.0, -m), np.where(m <= 0, -1.0, 0.0)),
        "hinge": lambda: (np.maximum(0.0, stake - m), np.where(m <= stake, -1.0, 0.0)),
        "log": lambda: (soft(0.0, -m), -_sigmoid(-m)),
        "softmargin": lambda: (soft(0.0, stake - m), -_sigmoid(stake - m)),
        "logistic": lambda: (stake * soft(0.0, -m), -stake * _sigmoid(-m)),
        "squared_hinge": lambda: (stake * down**2, -2.0 * stake * down),
        "exponential": lambda: (stake * spread, -stake * spread),
        "modified_huber": lambda: (
            stake * np.where(linear, -4.0 * m, down**2),
            stake * np.where(linear, -4.0, -2.0 * down),
        ),
        "squared": lambda: (stake * room**2, -2.0 * stake * room),
        "absolute": lambda: (stake * np.abs(room), -stake * np.sign(room)),
    }
    return cases[list(LOSSES)[loss]]()


def _sigmoid(t: Doubles) -> Doubles:
    small = np.exp(-np.abs(t))
    return np.where(t >= 0, 1.0, small) / (1.0 + small)


def product_loss(loss: int, stakes: Doubles, joint: bool, e: Example) -> Verdict:
    """A sum over classes; stakes are none, or one row for each true class (for one class: of no, and of yes)."""
    k, signs = len(e.scores), _signs(e)
    stake = np.ones(k)
    if len(stakes):
        stake = stakes.reshape(-1, k)[len(e.labels) if k == 1 else e.labels[0]]
    m = signs * e.scores
    values, slopes = at_margin(loss, m, stake)
    right = bool((m > 0).all())
    if joint:
        gold = int(e.labels[0])
        right = bool(e.scores[gold] > e.scores[best_rival(e.scores, gold)])
    return Verdict(e.weight * float(values.sum()), not right, e.weight * (signs * slopes))


def joint_loss(loss: int, costs: Doubles, e: Example) -> Verdict:
    """An oracle minus gold, or a function of gold minus the best rival; costs have one row for each true class."""
    k, gold = len(e.scores), int(e.labels[0])
    cost = costs.reshape(k, k)[gold] if len(costs) else (np.arange(k) != gold).astype(np.float64)
    rival = best_rival(e.scores, gold)
    mistake = not e.scores[gold] > e.scores[rival]
    if loss in (LOSSES["log"], LOSSES["softmargin"]):
        shifted = e.scores + (cost if loss == LOSSES["softmargin"] else 0.0)
        high = shifted.max()
        each = np.exp(shifted - high)
        gradient = e.weight * (each / each.sum())
        gradient[gold] -= e.weight
        return Verdict(e.weight * float(high + np.log(each.sum()) - e.scores[gold]), mistake, gradient)
    if loss == LOSSES["hinge"]:
        rival = best_rival(e.scores + cost, gold)
    value, slope = at_margin(loss, e.scores[[gold]] - e.scores[[rival]], cost[[rival]])
    gradient = np.zeros(k)
    gradient[gold], gradient[rival] = e.weight * slope[0], -e.weight * slope[0]
    return Verdict(e.weight * float(value[0]), mistake, gradient)


def aggression(joint: bool, limits: tuple[float, float], e: Example) -> Verdict:
    """Passive-aggressive: tau = min(cap, loss / (|x|^2 + softness)); in a joint space |x|^2 counts twice.

    The step itself stands in the gradient, for a rate of one.
    """
    (cap, softness), signs = limits, _signs(e)
    m, norm = signs * e.scores, e.norm
    if joint:
        gold = int(e.labels[0])
        rival = best_rival(e.scores, gold)
        signs = np.zeros(len(e.scores))
        signs[gold], signs[rival] = 1.0, -1.0
        m, norm = e.scores[[gold]] - e.scores[[rival]], 2.0 * e.norm
    loss, step = np.maximum(0.0, 1.0 - m), np.zeros(len(m))
    if norm > 0 and e.weight > 0:
        step = np.minimum(cap * e.weight, loss / (norm + softness / e.weight))
    return Verdict(e.weight * float(loss.sum()), not bool((m > 0).all()), -signs * step)


def _signs(e: Example) -> Doubles:
    """1 for the labels, -1 for all other classes."""
    signs = np.full(len(e.scores), -1.0)
    signs[e.labels] = 1.0
    return signs


def best_rival(worth: Doubles, gold: int) -> int:
    """The best class that is not the true one; the lowest among equals."""
    others = [c for c in range(len(worth)) if c != gold]
    return max(others, key=lambda c: (worth[c], -c))


class Plain:
    """w -= rate q."""

    parts = 1

    def step(self, w: Array, _accumulators: list[Array], q: Array, rate: float) -> None:
        """Weights and accumulators after a gradient."""
        w -= rate * q

    def pace(self, _accumulators: list[Array]) -> Array | float:
        """How fast a penalty works on each weight."""
        return 1.0


@dataclass(frozen=True)
class Adaptive(Plain):
    """G += q^2, w -= rate q / sqrt(eps + G)."""

    eps: float
    parts = 2

    def step(self, w: Array, accumulators: list[Array], q: Array, rate: float) -> None:
        """Weights and accumulators after a gradient."""
        (G,) = accumulators
        G += q * q
        w -= rate * q / np.sqrt(self.eps + G)

    def pace(self, accumulators: list[Array]) -> Array | float:
        """How fast a penalty works on each weight."""
        return 1.0 / np.sqrt(self.eps + accumulators[0])


@dataclass(frozen=True)
class _Proximal(Plain):
    """n += q^2, z += q - (change of sqrt n) / alpha w; w from z and n."""

    alpha: float
    beta: float
    l1: float
    l2: float
    parts = 3

    def step(self, w: Array, accumulators: list[Array], q: Array, rate: float) -> None:
        z, n = accumulators
        before = np.sqrt(n)
        n += q * q
        after = np.sqrt(n)
        z += q - (after - before) / self.alpha * w
        over = np.maximum(np.abs(z) - self.l1, 0.0)
        w[:] = -np.sign(z) * over / ((self.beta + after) / self.alpha + self.l2)


@dataclass(frozen=True)
class _Flow:
    """The flow of l2/2 w^2 + l1 |w|; a step of some rate takes rate / total time."""

    l1: float
    l2: float
    total: float

    def __call__(self, w: Array, time: Array | float) -> Array:
        left = np.abs(w) - self.l1 * time
        if self.l2:
            left = np.abs(w) + (np.abs(w) + self.l1 / self.l2) * np.expm1(-self.l2 * time)
        return np.sign(w) * np.maximum(0.0, left)


_STILL = _Flow(0.0, 0.0, 1.0)


def move(layout: Layout, row: Array, rule: Plain, step: tuple[Array, float], steps: float | None) -> None:
    """The step of a row; how far its iterates drifted is summed where there is a mean and steps are counted."""
    w = layout.part(row, 0)
    before = w.copy()
    rule.step(w, [layout.part(row, part) for part in range(1, rule.parts)], *step)
    if layout.averaged and steps is not None:
        layout.part(row, rule.parts)[:] += steps * (w - before)


class _Learner:
    """One example after the other."""

    def __init__(self, rule: Plain, flow: _Flow, state: State) -> None:
        table, bias, self.clock, (k, averaged, lazy) = state
        self.rule, self.flow = rule, flow
        self.free = replace(rule, l1=0.0, l2=0.0) if isinstance(rule, _Proximal) else rule
        _refuse(not 1 <= k <= 1 << 24, "there are between 1 and 2^24 classes")
        _refuse(table.dtype == np.float32 and lazy, "penalties need float64")
        self.layout = Layout(k, rule.parts, averaged, lazy, table.dtype)
        fits = table.shape[1] == self.layout.stride and len(bias) in (0, self.layout.stride)
        _refuse(not fits, "the table does not have the layout")
        _refuse(len(self.clock) != 3, "the clock has three numbers")
        _refuse((averaged or lazy) and rule.parts == 3, "this rule has no mean and no penalty")
        _refuse(averaged and lazy and (rule.parts != 1 or flow.l1), "this penalty has no mean")
        _refuse(not lazy and (flow.l1 or flow.l2), "a penalty needs clocks")
        self.table, self.bias = table, bias[None, :]

    def run(self, problem: tuple[Rows, Truth], order: Ints, judge: Judge, rates: Doubles | None) -> Outcome:
        rows, (offsets, labels, weights) = problem
        loss, mistakes = 0.0, 0
        for t, i in enumerate(order):
            columns, values = row_of(rows, i)
            x = values.astype(self.table.dtype)
            for j in columns:
                self._settle(self.table[j])
            scores = np.zeros(self.layout.k)
            for j, value in zip(columns, x, strict=True):
                scores += float(value) * self.layout.part(self.table[j], 0).astype(np.float64)
            norm = float((values.astype(np.float64) ** 2).sum()) + bool(self.bias.size)
            if self.bias.size:
                scores += self.layout.part(self.bias[0], 0)
            weight = float(weights[i]) if len(weights) else 1.0
            found = judge(Example(scores, labels[offsets[i] : offsets[i + 1]], weight, norm))
            loss, mistakes = loss + found.loss, mistakes + found.mistake
            rate = 1.0 if rates is None else float(rates[t])
            self._step(columns, x, found.gradient.astype(self.table.dtype), rate)
        return loss, mistakes

    def _step(self, columns: Ints, x: Array, gradient: Array, rate: float) -> None:
        steps = None if self.layout.lazy else self.clock[1]
        for j, value in zip(columns, x, strict=True):
            move(self.layout, self.table[j], self.rule, (value * gradient, rate), steps)
        if self.bias.size:
            move(self.layout, self.bias[0], self.free, (gradient, rate), steps)
        self.clock[1] += 1
        if self.layout.lazy and self.layout.averaged and self.bias.size:
            self.layout.part(self.bias[0], 1)[:] += self.layout.part(self.bias[0], 0)
        if self.layout.lazy:
            self.clock[0] += rate / self.flow.total
            self.clock[2] += np.exp(-self.flow.l2 * self.clock[0]) if self.layout.averaged else 0.0
            if self.layout.averaged and self.flow.l2 * self.clock[0] > 1.0:
                self.settle()  # sums of exp(-l2 time) lose digits as time goes on

    def _settle(self, row: Array) -> None:
        """The iterates since the row's clock are summed where there is a mean; then the row is brought up to now."""
        if not self.layout.lazy:
            return
        layout, clock = self.layout, (self.rule.parts + self.layout.averaged) * self.layout.lanes
        w = layout.part(row, 0)
        time = self.clock[0] - row[clock]
        if layout.averaged:
            times = np.exp(self.flow.l2 * row[clock]) * (self.clock[2] - row[clock + 1])
            layout.part(row, 1)[:] += w * times
            row[clock + 1] = self.clock[2]
        accumulators = [layout.part(row, part) for part in range(1, self.rule.parts)]
        w[:] = self.flow(w, time * self.rule.pace(accumulators))
        row[clock] = self.clock[0]

    def settle(self) -> None:
        """All rows, and the clocks start again."""
        _refuse(not self.layout.lazy, "a penalty needs clocks")
        for row in self.table:
            self._settle(row)
        self.table[:, (self.rule.parts + self.layout.averaged) * self.layout.lanes :] = 0.0
        self.clock[[0, 2]] = 0.0


def learn_sgd(rows: Rows, truth: Truth, order: Steps, state: State, loss: Asked, penalty: Penalty) -> Outcome:
    """Plain steps, over the examples in this order with these rates; penalty is l1, l2 and the total of a time unit."""
    return _learn(_Learner(Plain(), _flow(*penalty), state), (rows, truth), order, loss)


def learn_adagrad(rows: Rows, truth: Truth, order: Steps, state: State, loss: Asked, rule: Rule) -> Outcome:
    """AdaGrad; rule is l1, l2, the total, and eps."""
    return _learn(_Learner(_adaptive(rule[3]), _flow(*rule[:3]), state), (rows, truth), order, loss)


def learn_ftrl(rows: Rows, truth: Truth, order: Ints, state: State, loss: Asked, rule: Rule) -> Outcome:
    """FTRL-proximal; rule is alpha, beta, l1 and l2."""
    alpha, beta, l1, l2 = rule
    sound = alpha > 0 and beta >= 0 and l1 >= 0 and l2 >= 0 and beta + l2 > 0
    _refuse(not sound, "FTRL has a positive alpha, and beta, l1 and l2 of at least 0, not both beta and l2 zero")
    learner = _Learner(_Proximal(*rule), _STILL, state)
    _check((rows, truth), order, learner)
    return learner.run((rows, truth), order, _judge(loss, truth, order, learner.layout.k), None)


def learn_aggressive(
    rows: Rows, truth: Truth, order: Ints, state: State, space: int, limits: tuple[float, float]
) -> Outcome:
    """Passive-aggressive; limits are the cap and the softness of a step."""
    cap, softness = limits
    _refuse(not (cap > 0 and softness >= 0), "a step has a positive cap and a softness of at least 0")
    _refuse(space not in SPACES.values(), "there is no such space or loss")
    learner = _Learner(Plain(), _STILL, state)
    _refuse(learner.layout.lazy, "this rule has no mean and no penalty")
    _check((rows, truth), order, learner)
    _check_labels(truth, order, space, False, learner.layout.k)
    return learner.run((rows, truth), order, partial(aggression, space == SPACES["joint"], limits), None)


def settle_sgd(state: State, penalty: Penalty) -> None:
    """Every row catches up with the penalty's flow."""
    _Learner(Plain(), _flow(*penalty), state).settle()


def settle_adagrad(state: State, rule: Rule) -> None:
    """Every row catches up with the penalty's flow, at the pace of its sums of squares."""
    _Learner(_adaptive(rule[3]), _flow(*rule[:3]), state).settle()


def _learn(learner: _Learner, problem: tuple[Rows, Truth], order: Steps, loss: Asked) -> Outcome:
    examples, rates = order
    _refuse(len(examples) != len(rates), "there is one rate for each step")
    _check(problem, examples, learner)
    return learner.run(problem, examples, _judge(loss, problem[1], examples, learner.layout.k), rates)


def _adaptive(eps: float) -> Adaptive:
    _refuse(not eps >= 1e-30, "eps is at least 1e-30")
    return Adaptive(eps)


def _flow(l1: float, l2: float, total: float) -> _Flow:
    _refuse(not (l1 >= 0 and l2 >= 0 and total > 0), "a penalty has l1 and l2 of at least 0, and a positive total")
    return _Flow(l1, l2, total)


def _judge(asked: Asked, truth: Truth, order: Ints, k: int) -> Judge:
    space, loss, stakes = asked
    _refuse(space not in SPACES.values() or loss not in LOSSES.values(), "there is no such space or loss")
    _check_labels(truth, order, space, len(stakes) > 0, k)
    _refuse(len(stakes) not in (0, 2 if k == 1 else k * k), "the stakes have another size")
    if space == SPACES["joint"] and loss not in (LOSSES["squared"], LOSSES["absolute"]):
        return partial(joint_loss, loss, stakes)
    # The residuals of a joint space are those of all classes, and have no stakes.
    joint = space == SPACES["joint"]
    return partial(product_loss, loss, np.zeros(0) if joint else stakes, joint)


def _check(problem: tuple[Rows, Truth], order: Ints, learner: _Learner) -> None:
    (indptr, indices, data), (offsets, labels, weights) = problem
    n, size = max(len(indptr) - 1, 0), min(len(indices), len(data))
    _refuse(len(offsets) != n + 1 or len(weights) not in (0, n), "the truth has another length")
    for i in order:
        _refuse(not 0 <= i < n, "the order names an example that does not exist")
        _refuse(not 0 <= indptr[i] <= indptr[i + 1] <= size, "the offsets do not fit the values")
        _refuse(not 0 <= offsets[i] <= offsets[i + 1] <= len(labels), "the offsets do not fit the labels")
        columns = indices[indptr[i] : indptr[i + 1]]
        _refuse(outside(columns, len(learner.table)), "a column is not in the table")
        here = labels[offsets[i] : offsets[i + 1]]
        _refuse(outside(here, learner.layout.k), "a label is not a class")


def _check_labels(truth: Truth, order: Ints, space: int, stakes: bool, k: int) -> None:
    joint = space == SPACES["joint"]
    _refuse(joint and k < 2, "a joint space has two classes or more")
    counts = np.diff(truth[0])[order]
    _refuse((joint or (stakes and k > 1)) and (counts != 1).any(), "every example needs exactly one label here")
    _refuse(stakes and k == 1 and (counts > 1).any(), "one class has one label at most")


def _refuse(wrong: object, what: str) -> None:
    refuse(wrong, f"online: {what}")
