"""Learners for taggers: they learn weights and transitions from feature rows and true tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.kernels.online import LOSSES, Layout
from linnaeus.learners.chain.transitions import SEARCHES
from linnaeus.learners.chain.weights import ChainWeights
from linnaeus.learners.early_stopping import Best, check_early_stopping, set_aside
from linnaeus.learners.resuming import fill, number, real, taken_over
from linnaeus.learners.run import Told, kept_in, telling
from linnaeus.learners.step_settings import check_steps, one_of, single
from linnaeus.protocols import LearnsTags, Solver, UpdatesTags
from linnaeus.types import Array, Arrays, GroupedLesson, Ints, Json, Piece, State, Tags

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.erm import Stop, Watch
    from linnaeus.erm.objective import Structured
    from linnaeus.store.parts import Part


WORK = 1 << 26
"""Multiplications of one call of a kernel, about a tenth of a second: between calls Ctrl-C is heard."""


@dataclass(frozen=True, kw_only=True)
class Chain:
    """Linear chains, trained one sentence at a time; all tags of a sentence are scored and searched together.

    Minimizes sum_i loss_i + strength/2 |W|^2. The loss is "perceptron" (Collins 2002), "hinge" (structured SVM with
    Hamming cost), "log" (CRF) or "softmargin". `rule` is "adagrad" or "sgd", both with a constant `rate`; the
    result is the mean of the weights after each step. Each epoch shuffles the sentences. With `order` 2 a tag depends
    on the two before it, which takes k times the work. A share `held_out` of the sentences can be kept aside: training
    stops after `patience` epochs that do not tag them better, and keeps the best weights.

    A loss of your own is an object with `value_and_grad(space, S, y)`, written over the answers of `outputs.Sequence`
    (`gold`, `best`, `soft`, `cost`); it gets one sentence at a time. It takes steps in NumPy, which are slower, and the
    gradient of a whole sentence is one step of the rule.

    >>> Chain(loss="perceptron", rule="sgd", rate=1.0, epochs=10).strength
    0.0
    """

    provides: ClassVar[tuple[type, ...]] = (LearnsTags, UpdatesTags)

    loss: Piece = "log"
    rule: str = "adagrad"
    rate: float = 0.2
    epochs: int = 5
    strength: float = 0.0
    order: int = 1
    smoothing: float = 1e-6
    held_out: float = 0.0
    patience: int = 5

    search: ClassVar[str] = "whole"

    def __post_init__(self) -> None:
        check_steps(self)
        one_of("order", self.order, (1, 2))
        if not isinstance(self.loss, str) and (self.order == 2 or self.search != "whole"):
            raise UsageError("A loss of your own trains a Chain of order 1; for others use a loss with a plain name.")

    def with_strength(self, strength: float) -> Self:
        """The same, regularized with another strength."""
        return replace(self, strength=strength)

    def learn_tags(self, lesson: GroupedLesson) -> ChainWeights:
        """Learn weights of features and transitions; from the checkpoint of a run it goes on to the same bits."""
        learned, aside = _set_aside(self, lesson)
        told, kept = telling(lesson.run, len(learned.y.tags), self.epochs), kept_in(lesson.run)
        if not isinstance(self.loss, str):
            return _learn_general(self, (learned, aside), lesson, told)
        run = _Run(self, *learned, lesson.k)
        rng, best = np.random.default_rng(lesson.seed), Best[ChainWeights](self.patience)
        done = 0 if kept is None else run.resume(kept.get(), best)
        for epoch in range(self.epochs):
            order = rng.permutation(len(learned.y)).astype(np.int32)
            if epoch < done:
                continue
            told(epoch, *run.epoch(order))
            stops = aside is not None and best.stops(aside.right(weights := run.weights()), weights)
            if kept is not None:
                kept.put(run.state_after(self.epochs if stops else epoch + 1, best))
            if stops:
                break
        return run.weights() if best.weights is None else best.weights

    def update_tags(self, lesson: GroupedLesson, start: ChainWeights) -> ChainWeights:
        """The mean of the weights in one epoch over more sentences that begins at `start`."""
        if not isinstance(self.loss, str):
            raise UsageError("A tagger with a loss of your own cannot be updated; train it on all sentences.")
        run = _Run(self, lesson.X, lesson.y, start.k)
        run.begin_at(start)
        order = np.random.default_rng(lesson.seed).permutation(len(lesson.y)).astype(np.int32)
        telling(lesson.run, len(lesson.y.tags), 1)(0, *run.epoch(order))
        return run.weights()


@dataclass(frozen=True, kw_only=True)
class Greedy(Chain):
    """Tags from left to right; each tag depends on the tags already chosen. Fast, but less exact than `Chain`.

    The losses are those of `Chain`, for a single token. The one or two previous predicted tags (`order`) are features
    of a token too. Training also uses predicted tags, right or wrong.

    >>> Greedy(loss="perceptron", rule="sgd", rate=1.0).search
    'greedy'
    """

    search: ClassVar[str] = "greedy"


class _Lines(NamedTuple):
    """Sentences as rows of tokens and tags."""

    X: CSR
    y: Tags

    def right(self, weights: ChainWeights) -> float:
        """The share of tokens whose tags these weights find."""
        E = np.ascontiguousarray(self.X.dot(weights.W), np.float32)
        return float((weights.transitions.decode(E, self.y.offsets) == self.y.tags).mean())


def _set_aside(plan: Chain | BatchChain, lesson: GroupedLesson) -> tuple[_Lines, _Lines | None]:
    """The sentences to learn from, and those by which training is stopped, if there are any."""
    if not plan.held_out:
        return _Lines(lesson.X, lesson.y), None
    parts = (lesson.take(rows) for rows in set_aside(len(lesson.y), plan.held_out, lesson.seed))
    learned, aside = (_Lines(part.X, part.y) for part in parts)
    return learned, aside


class _Run:
    """The state of one training, and what the kernel is asked."""

    def __init__(self, plan: Chain, X: CSR, y: Tags, k: int) -> None:
        adaptive, lazy = plan.rule == "adagrad", plan.strength > 0
        self.plan, self.X = plan, X
        self.truth = y.offsets, y.tags, np.zeros(0) if y.weights is None else y.weights
        self.layout = Layout(k, 1 + adaptive, True, lazy, X.data.dtype)
        self.links = Layout(k, 1 + adaptive, True, False, X.data.dtype)
        self.state = (
            self.layout.zeros(X.width),
            self.links.zeros(1 + k + (plan.order == 2) * k * k),
            np.zeros(2),
            self.layout.flags,
        )
        self.settings = float(plan.strength), float(max(len(y), 1)), float(plan.smoothing) if adaptive else 0.0
        self.loss = SEARCHES[plan.search], LOSSES[plan.loss], np.zeros(0)

    def epoch(self, order: Ints) -> tuple[float, int]:
        """One walk over all sentences in this order."""
        total, wrong = 0.0, 0
        for part in self._parts(order):
            rates = np.full(len(part), float(self.plan.rate))
            found = kernels.chain_learn(self.X.arrays, self.truth, (part, rates), self.state, self.loss, self.settings)
            total, wrong = total + found[0], wrong + found[1]
        return total, wrong

    def begin_at(self, start: ChainWeights) -> None:
        """Begin with these weights instead of zeros."""
        self.layout.part(self.state[0], 0)[:] = start.W
        self.links.part(self.state[1], 0)[:] = start.shared

    def state_after(self, epochs: int, best: Best[ChainWeights]) -> State:
        """What training goes on from after so many epochs."""
        table, shared, clock, _ = self.state
        arrays: Arrays = {"table": table, "shared": shared, "clock": clock}
        manifest: dict[str, Json] = {"epochs": epochs}
        if best.weights is not None:
            arrays |= {"best_W": best.weights.W, "best_shared": best.weights.shared}
            manifest |= {"score": best.score, "since": best.since}
        return State(manifest, arrays)

    def resume(self, state: State | None, best: Best[ChainWeights]) -> int:
        """Take over the weights of a checkpoint; the number of epochs that it has behind it."""
        if state is None:
            return 0
        table, shared, clock, _ = self.state
        fill({"table": table, "shared": shared, "clock": clock}, state.tensors)
        if "best_W" in state.tensors:
            W, links = self.layout.part(table, 0), self.links.part(shared, 0)
            best.weights = ChainWeights(
                taken_over(state.tensors, "best_W", W.shape),
                taken_over(state.tensors, "best_shared", links.shape),
                self.plan.search,
            )
            best.score, best.since = real(state.manifest, "score"), number(state.manifest, "since")
        return number(state.manifest, "epochs")

    def weights(self) -> ChainWeights:
        """The mean of the iterates."""
        if self.layout.lazy:
            kernels.chain_settle(self.state, self.settings)
        table, shared, clock, _ = self.state
        W, links = _mean(self.layout, table, clock[1]), _mean(self.links, shared, clock[1])
        return ChainWeights(single(W), single(links), self.plan.search)

    def _parts(self, order: Ints) -> Iterator[Ints]:
        each = self.X.nnz * self.layout.lanes / max(len(order), 1)
        size = max(1, int(WORK / max(each, 1.0)))
        for start in range(0, len(order), size):
            yield order[start : start + size]


def _learn_general(plan: Chain, parts: tuple[_Lines, _Lines | None], lesson: GroupedLesson, told: Told) -> ChainWeights:
    """Steps for any loss: the objective of the sequences, one sentence in a batch, and the mean of the iterates."""
    from linnaeus.erm import Stop
    from linnaeus.erm.objective import structured
    from linnaeus.optimizers import SGD, AdaGrad, Average
    from linnaeus.outputs import Sequence
    from linnaeus.regularizers import L2, NoPenalty

    penalty, (learned, aside) = L2(plan.strength) if plan.strength else NoPenalty(), parts
    objective = structured(*learned, Sequence(), plan.loss, penalty, lesson.k)
    steps = AdaGrad(plan.rate, eps=plan.smoothing) if plan.rule == "adagrad" else SGD(plan.rate)
    stop = Stop(epochs=plan.epochs, tol=None, gradient=None, patience=plan.patience if aside else None)
    watch = _watch(stop, aside, told)
    return _minimized(objective, Average(steps), watch, seed=lesson.seed)


def _watch(stop: Stop, aside: _Lines | None, told: Told) -> Watch:
    """When an optimizer of the engine stops, and who is told of its epochs."""
    from linnaeus.erm import Watch

    listener = [lambda _, step: told(step.epoch - 1, step.value or 0.0, None)]
    if aside is None:
        return Watch(stop, None, listener)
    return Watch(stop, lambda params: aside.right(_chain_of(params["W"])), listener)


def _chain_of(W: Array) -> ChainWeights:
    """The chain of weights of features, a row for the first tag, and a row for each tag before another."""
    W = single(W)
    width = len(W) - 1 - W.shape[1]
    return ChainWeights(W[:width], W[width:])


def _minimized(
    objective: Structured, optimizer: Solver, watch: Watch, kept: Part | None = None, seed: int = 0
) -> ChainWeights:
    """The weights that an optimizer of the engine finds."""
    from linnaeus.learners.linear.checkpoint import train_from
    from linnaeus.types import Start

    start = Start(objective.initial(), seed=seed, epochs=watch.stop.epochs or 100)
    return _chain_of(train_from(kept, objective, optimizer, watch, start).params["W"])


@dataclass(frozen=True, kw_only=True)
class BatchChain:
    """Linear chains, trained on all sentences at once by L-BFGS: the exact minimum of a smooth loss with L2.

    Minimizes sum_i loss_i + strength/2 |W|^2 with the loss "log" (CRF) or "softmargin"; transitions are weights
    like all others. It takes a few hundred epochs, `Chain` takes five. It stops when the minimum is at most a share
    `tol` below, or after `epochs` epochs; with `held_out`, as `Chain` does, too.

    >>> BatchChain(strength=0.1).loss
    'log'
    """

    provides: ClassVar[tuple[type, ...]] = (LearnsTags,)

    loss: str = "log"
    strength: float = 1.0
    epochs: int = 500
    tol: float = 1e-3
    held_out: float = 0.0
    patience: int = 5

    def __post_init__(self) -> None:
        check_early_stopping(self.held_out, self.patience)
        one_of("loss", self.loss, ("log", "softmargin"))
        expect("epochs", self.epochs, int)
        for name in ("strength", "tol"):
            expect(name, getattr(self, name), float)
        if self.epochs < 1 or not 0 <= self.strength < np.inf or not 0 <= self.tol < np.inf:
            raise UsageError("epochs is at least 1, strength and tol are numbers from 0 up.")

    def with_strength(self, strength: float) -> BatchChain:
        """The same, regularized with another strength."""
        return replace(self, strength=strength)

    def learn_tags(self, lesson: GroupedLesson) -> ChainWeights:
        """Learn weights of features and transitions; from the checkpoint of a run it goes on to the same bits."""
        from linnaeus.erm import Stop
        from linnaeus.erm.objective import structured
        from linnaeus.losses import LOSSES as PIECES
        from linnaeus.optimizers import LBFGS
        from linnaeus.outputs import Sequence
        from linnaeus.regularizers import L2

        learned, aside = _set_aside(self, lesson)
        objective = structured(*learned, Sequence(), PIECES[self.loss](), L2(self.strength), lesson.k)
        stop = Stop(epochs=self.epochs, tol=self.tol, patience=self.patience if aside else None)
        # It ends at its tolerance, and does not know how many epochs that takes.
        told = telling(lesson.run, len(learned.y.tags), None)
        return _minimized(objective, LBFGS(), _watch(stop, aside, told), kept_in(lesson.run))


def _mean(layout: Layout, table: Array, steps: float) -> Array:
    """The mean of the iterates: w minus what it drifted since, a catching-up with the penalty being a move too."""
    return layout.part(table, 0) - layout.part(table, layout.parts) / max(float(steps), 1.0)
