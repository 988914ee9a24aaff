"""Stochastic optimizers on fused kernels: one example at a time, weights and accumulators in one table.

A rule, a loss and an output space for which there is a kernel provide `FusedRule`, `OnlineLoss` and `ListedSpace`. A
subclass may have another formula, so it takes the general path unless it provides them itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from linnaeus.kernels.online import Layout
from linnaeus.optimizers.stochastic_steps import Run
from linnaeus.protocols import (
    FusedRule,
    ListedSpace,
    OnlineLoss,
    RatedSolver,
    Rule,
    SeparablePenalty,
    ability,
    capability,
    has,
)
from linnaeus.types import Array, Arrays, Doubles, Ints, Longs, Params, Sparse, Start

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


Table: TypeAlias = tuple[Array, Array, Doubles, tuple[int, bool, bool]]
Flow: TypeAlias = tuple[float, float, float]


SLICE = 40_000_000
"""Nonzeros times classes in one call, about 100 ms: Ctrl-C takes effect between calls."""

LARGE = 1 << 22
"""Tables larger than this many bytes are float32: memory access limits the speed, and models are float32."""


class Given(NamedTuple):
    """The arguments of a kernel: rows, truth, (order, rates), the table it changes, and space, loss and stakes."""

    rows: Sparse
    truth: tuple[Longs, Ints, Doubles]
    order: tuple[Ints, Doubles]
    state: Table
    loss: tuple[int, int, Doubles]


class OnlineKernel(NamedTuple):
    """The kernels of a rule. The flow of a penalty is l1, l2 and the number of examples."""

    parts: int
    learn: Callable[[Given, Flow], tuple[float, int]]
    settle: Callable[[Table, Flow], None] | None = None
    names: tuple[str, ...] = ()
    """The names of its accumulators, as in `Rule.begin`, with {} for the parameter."""
    begin: Callable[[Params], Params] | None = None
    """The initial accumulators; None: zeros."""
    own_penalty: bool = False
    """Whether it applies l1 and l2 itself."""
    charge: Callable[[int, Params, Params], OnlineKernel] | None = None
    """The kernels for the next epoch; changes weights in place."""


def online_kernel(rule: Rule, objective: Objective, averaged: bool) -> OnlineKernel | None:
    """The kernels for these pieces, if there are any."""
    fused, penalty = capability(rule, FusedRule), capability(objective.regularizer, SeparablePenalty)
    known = has(objective.loss, OnlineLoss) and has(objective.space, ListedSpace)
    kernel = None if fused is None else fused.online
    if kernel is None or penalty is None or not known:
        return None
    charges = bool(penalty.l1 or penalty.l2)
    if charges and (len(objective.penalized) > 1 or (averaged and (kernel.settle is None or kernel.parts > 1))):
        return None
    if averaged and (kernel.own_penalty or penalty.l1):
        return None
    return kernel


class Fused(Run):
    """A run on a table; the names in its checkpoints are those of `Descent`."""

    def __init__(
        self, piece: RatedSolver, kernel: OnlineKernel, objective: Objective, start: Start, averaged: bool
    ) -> None:
        super().__init__(piece, objective, start)
        self.kernel, width = kernel, objective.space.width(objective.k)
        penalty, space = ability(objective.regularizer, SeparablePenalty), ability(objective.space, ListedSpace)
        lazy = bool(penalty.l1 or penalty.l2) and not kernel.own_penalty
        self.flow = (float(penalty.l1), float(penalty.l2), float(objective.X.shape[0]))
        layout = Layout(width, kernel.parts, averaged, lazy)
        d = objective.X.shape[1]
        if not lazy and d * layout.stride * 8 > LARGE:
            layout = Layout(width, kernel.parts, averaged, dtype=np.float32)
        self.layout, self.clock = layout, np.array([0.0, self.t, 0.0])
        self.table = {"W": layout.zeros(d)}
        if "b" in start.params:
            self.table["b"] = layout.zeros(1)
        self._fill()
        self.rows = objective.X.to_csr()
        lists = space.label_lists(objective.y, width)
        weights = objective.weights if np.any(objective.weights != 1.0) else np.zeros(0)
        self.truth = (lists.offsets, lists.labels, np.ascontiguousarray(weights, np.float64))
        self.asked = (lists.space, ability(objective.loss, OnlineLoss).online, lists.stakes)

    def walk(self, order: Ints, rates: Doubles) -> tuple[float, float]:
        """Slice by slice."""
        loss = mistakes = 0.0
        sizes = np.cumsum(np.diff(self.rows.indptr)[order] + 1) * self.layout.lanes
        cuts = np.searchsorted(sizes, np.arange(SLICE, int(sizes[-1]), SLICE))
        for part, rate in zip(np.split(order, cuts), np.split(rates, cuts), strict=True):
            given = Given(self.rows.arrays, self.truth, (part, rate), self.state, self.asked)
            lost, wrong = self.kernel.learn(given, self.flow)
            loss, mistakes, self.t = loss + lost, mistakes + wrong, self.t + len(part)
            if self.late:
                break
        if self.layout.lazy and self.kernel.settle is not None:
            self.kernel.settle(self.state, self.flow)
        return loss, mistakes

    def begin(self, epoch: int) -> None:
        """Apply the penalty, for rules that do it once per epoch."""
        if self.kernel.charge is not None:
            params = {name: self._part(name, 0) for name in self.table}
            named = [(key.format(name), name, 1 + i) for name in self.table for i, key in enumerate(self.kernel.names)]
            self.kernel = self.kernel.charge(epoch, params, {key: self._part(name, part) for key, name, part in named})

    @property
    def state(self) -> Table:
        """The arrays that a kernel changes."""
        bias = self.table["b"][0] if "b" in self.table else np.zeros(0, self.layout.dtype)
        return self.table["W"], bias, self.clock, self.layout.flags

    def result(self) -> Params:
        """The latest weights, or the mean."""
        if self.layout.averaged:
            return {name: _shaped(name, self.layout.mean(table, self.t)) for name, table in self.table.items()}
        return {name: _shaped(name, self._part(name, 0).astype(np.float64)) for name in self.table}

    def penalty(self) -> float:
        """The value of the regularizer at the latest weights."""
        if not any(self.flow[:2]):
            return 0.0
        return self.objective.penalty({name: _shaped(name, self._part(name, 0)) for name in self.table})

    def memories(self) -> Arrays:
        """Copies of the parts of the table."""
        places = [(name, key, part) for name in self.table for key, part in self._places(name)]
        return {key: np.array(_shaped(name, self._part(name, part)), np.float64) for name, key, part in places}

    def _places(self, name: str) -> list[tuple[str, int]]:
        """The name of each part of a parameter's table in a checkpoint, and its number."""
        places = [(f"at.{name}", 0)]
        places += [(f"rule.{key.format(name)}", 1 + i) for i, key in enumerate(self.kernel.names)]
        if self.layout.averaged:
            places.append((f"total.{name}" if self.layout.lazy else f"drift.{name}", self.kernel.parts))
        return places

    def _fill(self) -> None:
        """Write the parameters and accumulators to start from into the table."""
        given: Arrays = {f"at.{name}": value for name, value in self.start.params.items()}
        if self.kernel.begin is not None:
            given |= {f"rule.{name}": value for name, value in self.kernel.begin(self.start.params).items()}
        given |= self.start.state
        for name in self.table:
            for key, part in self._places(name):
                # Zeros are not written: the memory of the table is then allocated when it is first used.
                if key in given and np.any(given[key]):
                    self._part(name, part)[:] = given[key]

    def _part(self, name: str, part: int) -> Array:
        return self.layout.part(self.table[name], part)


def _shaped(name: str, block: Array) -> Array:
    """Weights are a block (d, w), a bias a row (w,)."""
    return block[0] if name == "b" else np.ascontiguousarray(block)
