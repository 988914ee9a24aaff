"""The parts of the training of a parser: weights of arcs, or of relations, epoch by epoch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.features.arcs.table import Tree
from linnaeus.kernels.online import LOSSES, Layout
from linnaeus.kernels.online import SPACES as ONLINE_SPACES
from linnaeus.learners.dependencies.weights import SPACES
from linnaeus.learners.step_settings import single

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.features.arcs.table import ArcTable
    from linnaeus.learners.dependencies.learner import Dependencies, Treebank
    from linnaeus.learners.run import Told
from linnaeus.types import Arrays, Floats, Heads, Ints, Longs

HARD_LOSSES = ("perceptron", "hinge")
WORK = 1 << 25
"""Steps of 3 ns in one call of a kernel, about a tenth of a second: between calls Ctrl-C is heard."""
FEATURE_WORK, SOFT_WORK, PENALTY_WORK = 3, 6, 16
"""Such steps for a feature of an arc: to score it, to move it by a marginal, and to catch up with a penalty."""
_NONE = np.zeros(0)


class Run(ABC):
    """The state of one part of a training, and what a kernel is asked."""

    total = 1.0
    """What the time of a penalty is counted in: the examples of this part."""

    @abstractmethod
    def epoch(self, order: Ints) -> tuple[float, int | None]:
        """One walk over the examples in this order: the sum of the losses, and how many tokens were wrong."""

    @abstractmethod
    def begin_at(self, start: Floats) -> None:
        """Begin with these weights instead of zeros."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """What training goes on from."""

    @abstractmethod
    def weights(self) -> Floats:
        """The mean of the iterates."""


class ArcRun(Run):
    """Arcs by the fused kernel."""

    def __init__(self, plan: Dependencies, bank: Treebank, table: ArcTable, tree: Tree | None) -> None:
        self.plan, adaptive = plan, plan.rule == "adagrad"
        coded = table.coded(bank.sentences, tree)
        self.data = coded.arrays, table.atoms
        self.truth = bank.y.heads, bank.weights
        clocks = np.zeros(table.width if plan.strength > 0 else 0)
        self.state = np.zeros((3 + adaptive, table.width), np.float32), clocks, np.zeros(2)
        self.asked = SPACES[plan.space][0], LOSSES[plan.loss]
        self.work = _work(plan, np.diff(bank.sentences.offsets), len(table.templates))

    @property
    def settings(self) -> tuple[float, float, float]:
        """Penalty, the examples of a unit of its time, and smoothing, as the kernel takes them."""
        smoothing = float(self.plan.smoothing) if self.plan.rule == "adagrad" else 0.0
        return float(self.plan.strength), self.total, smoothing

    def epoch(self, order: Ints) -> tuple[float, int]:
        """Slice by slice."""
        total, wrong = 0.0, 0
        for part in _slices(order, self.work):
            steps = part, np.full(len(part), float(self.plan.rate))
            found = kernels.arc_learn(self.data, self.truth, steps, self.state, self.asked, self.settings)
            total, wrong = total + found[0], wrong + found[1]
        return total, wrong

    def begin_at(self, start: Floats) -> None:
        """Begin with these weights of features."""
        self.state[0][0] = start

    def arrays(self) -> Arrays:
        """The table and the clocks."""
        table, clocks, clock = self.state
        return {"table": table, "clocks": clocks, "clock": clock}

    def weights(self) -> Floats:
        """The mean of the iterates (d,)."""
        if self.plan.strength > 0:
            kernels.arc_settle(self.state, self.settings)
        table, _, clock = self.state
        return single(table[0] - table[-2] / max(clock[1], 1.0))


class RelationRun(Run):
    """Relations by the fused kernel of single examples: one of k classes for each arc of the true trees."""

    def __init__(self, plan: Dependencies, bank: Treebank) -> None:
        self.plan, self.adaptive = plan, plan.rule == "adagrad"
        table, heads = bank.features.relations, bank.y.heads
        indptr, indices = table.columns_of(table.coded(bank.sentences, Tree(heads)), heads)
        self.rows = indptr, indices, np.ones(len(indices), np.float32)
        weights = np.repeat(bank.weights, np.diff(bank.sentences.offsets)) if len(bank.weights) else _NONE
        self.truth = np.arange(len(heads) + 1), np.ascontiguousarray(bank.relations, np.int32), weights
        self.layout = Layout(bank.k, 1 + self.adaptive, True, dtype=np.float32)
        self.state = self.layout.zeros(table.width), np.zeros(0, np.float32), np.zeros(3), self.layout.flags
        loss = LOSSES[plan.loss if isinstance(plan.loss, str) else "hinge"]
        self.asked = ONLINE_SPACES["joint"], loss, _NONE
        self.work = np.diff(indptr) * self.layout.lanes

    def epoch(self, order: Ints) -> tuple[float, int]:
        """Slice by slice."""
        total, wrong = 0.0, 0
        for part in _slices(order, self.work):
            steps = part, np.full(len(part), float(self.plan.rate))
            given = self.rows, self.truth, steps, self.state, self.asked
            if self.adaptive:
                found = kernels.learn_adagrad(*given, (0.0, 0.0, self.total, float(self.plan.smoothing)))
            else:
                found = kernels.learn_sgd(*given, (0.0, 0.0, self.total))
            total, wrong = total + found[0], wrong + found[1]
        return total, wrong

    def begin_at(self, start: Floats) -> None:
        """Begin with these weights of features and relations."""
        self.layout.part(self.state[0], 0)[:] = start

    def arrays(self) -> Arrays:
        """The table and the clock."""
        return {"table": self.state[0], "clock": self.state[2]}

    def weights(self) -> Floats:
        """The mean of the iterates (d, k)."""
        return single(self.layout.mean(self.state[0], self.state[2][1]))


def minimized(plan: Dependencies, X: CSR, y: Heads, seed: int, tell: Told) -> Floats:
    """Steps for any loss: the objective of the trees, one sentence in a batch, and the mean of the iterates."""
    from linnaeus.erm import Stop, Watch
    from linnaeus.erm.objective import structured
    from linnaeus.learners.linear.checkpoint import train_from
    from linnaeus.optimizers import SGD, AdaGrad, Average
    from linnaeus.regularizers import L2, NoPenalty
    from linnaeus.types import Start

    penalty = L2(plan.strength) if plan.strength else NoPenalty()
    objective = structured(X, y, SPACES[plan.space][1], plan.loss, penalty)
    steps = AdaGrad(plan.rate, eps=plan.smoothing) if plan.rule == "adagrad" else SGD(plan.rate)
    watch = Watch(
        Stop(epochs=plan.epochs, tol=None, gradient=None),
        None,
        [lambda _, step: tell(step.epoch - 1, step.value or 0.0, None)],
    )
    start = Start(objective.initial(), seed=seed, epochs=plan.epochs)
    return single(train_from(None, objective, Average(steps), watch, start).params["W"][:, 0])


def _work(plan: Dependencies, sizes: Longs, templates: int) -> Longs:
    """How long a step takes with a sentence of each of these sizes: its features, and the n^3 steps of its trees."""
    soft = plan.loss not in HARD_LOSSES
    each = FEATURE_WORK + SOFT_WORK * soft + PENALTY_WORK * (plan.strength > 0)
    found: Longs = sizes * (sizes + 1) * (templates * each) + sizes**3 * (1 + soft)
    return found


def _slices(order: Ints, work: Longs) -> Iterator[Ints]:
    """The order in pieces of about a tenth of a second."""
    sizes = np.cumsum(work[order] + 1)
    cuts = np.searchsorted(sizes, np.arange(WORK, int(sizes[-1]) if len(sizes) else 0, WORK))
    yield from np.split(order, np.unique(cuts[cuts > 0]))
