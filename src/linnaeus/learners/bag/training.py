"""The training of a bag: epochs over batches of rows, with early stopping, checkpoints, and a way back.

The tables, the order of the rows and what is drawn depend on the seed alone, so the same lesson gives the same bits for
any number of threads, and a training that goes on from a checkpoint ends as if it had not been interrupted.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.errors import LinnaeusWarning, MachineError
from linnaeus.learners.bag.fitted import FittedBag
from linnaeus.learners.bag.lists import asked_of
from linnaeus.learners.bag.quantization import packed, unpacked
from linnaeus.learners.bag.vectors import static_vectors
from linnaeus.learners.early_stopping import Best, set_aside
from linnaeus.learners.linear.problems import choose_output
from linnaeus.learners.resuming import fill, number, real, taken_over
from linnaeus.store.compression import prune
from linnaeus.types import LabelSets, State

if TYPE_CHECKING:
    from linnaeus.learners.bag.learner import EmbeddingBag
    from linnaeus.learners.run import Run
    from linnaeus.types import Array, Arrays, Doubles, Floats, Ints, Json, Lesson, Longs

LANES = 16
"""Rows of tables lie in lines of so many numbers."""
PAUSE = 0.1
"""Seconds that a call of the kernel should take."""
MOST_HALVINGS = 8
MOST_KEPT = 1 << 30
"""Bytes of tables of which a copy is kept, to return to if a loss is not finite."""


def train(plan: EmbeddingBag, lesson: Lesson) -> FittedBag:
    """The bag of a lesson without rows of weight zero."""
    lesson = replace(lesson, X=lesson.X.to_csr())
    if lesson.space is None:
        space = choose_output(plan.output, plan.loss, lesson.k, isinstance(lesson.y, LabelSets))
        lesson = replace(lesson, space=space)
    learned, aside = lesson, None
    if plan.held_out:
        rows, others = set_aside(len(lesson.weights), plan.held_out, lesson.seed)
        learned, aside = lesson.take(rows), lesson.take(others)
    run = _Training(plan, learned, aside)
    return smaller(plan, run.go(), learned.X)


class Tables(NamedTuple):
    """What steps change: vectors and output weights with their sums, biases with theirs, and the scale of vectors."""

    E: Floats
    O: Floats  # noqa: E741 - as in the formula
    b: Floats
    scale: Doubles

    def copy(self) -> Tables:
        """A copy of all."""
        return Tables(self.E.copy(), self.O.copy(), self.b.copy(), self.scale.copy())


class _Training:
    """One training: its tables, and how many epochs are done."""

    def __init__(self, plan: EmbeddingBag, lesson: Lesson, aside: Lesson | None) -> None:
        self.plan, self.aside, self.lesson = plan, aside, lesson
        self.columns = np.flatnonzero(lesson.X.counts() >= plan.least).astype(np.int32)
        given, self.frozen = static_vectors(plan, lesson, self.columns)
        learned = plan.width if plan.lookup in ("dynamic", "both") else 0
        self.numbers = given.shape[1] + learned
        self.rows = _laid_out(lesson.X, self.columns, plan.pool)
        self.asked = asked_of(plan, lesson, lesson.seed)
        self.tables = _begun(given, learned, lesson.space.width(lesson.k), lesson.seed)
        self.batches = -(-len(lesson.weights) // plan.batch)
        self.good: Tables | None = None
        self.halvings, self.told = 0, time.monotonic()

    @property
    def run(self) -> Run | None:
        """The run that this training is part of."""
        found: Run | None = self.lesson.run
        return found

    def go(self) -> FittedBag:
        """All epochs, and the bag of the last, or of the best."""
        best: Best[Tables] = Best(self.plan.patience)
        epoch = self._resume(best)
        while epoch < self.plan.epochs:
            self._keep()
            if not np.isfinite(self._epoch(epoch)):
                self._go_back()
                continue
            epoch += 1
            stops = self.aside is not None and best.stops(self._judged(), self.tables.copy())
            if self.run is not None and self.run.kept is not None:
                self.run.kept.put(self._state(self.plan.epochs if stops else epoch, best))
            if stops:
                break
        return self._bag(self.tables if best.weights is None else best.weights)

    def _epoch(self, epoch: int) -> float:
        """One pass over the rows in a new order; the sum of the losses."""
        plan, loss, done, size = self.plan, 0.0, 0, 8
        n = len(self.lesson.weights)
        order = np.random.default_rng([self.lesson.seed, epoch, n]).permutation(n).astype(np.int32)
        truth = self.asked.truth(epoch)
        shape = (plan.batch, self.numbers, self.frozen, float(plan.smoothing), plan.decay * plan.batch / n)
        left = 1.0 - (epoch * self.batches + np.arange(self.batches)) / (plan.epochs * self.batches)
        rates = plan.rate / 2**self.halvings * left
        while done < self.batches:
            start, some = time.monotonic(), slice(done, done + size)
            part = order[done * plan.batch : (done + size) * plan.batch]
            clock = (np.ascontiguousarray(part), np.ascontiguousarray(rates[some]))
            threads = kernels.thread_count()
            asked = self.asked.loss, shape
            found, _ = self.asked.kernel(tuple(self.tables), (self.rows, truth), clock, asked, threads)
            loss, done = loss + found, min(done + size, self.batches)
            if not np.isfinite(loss):
                return loss
            self._tell(epoch, done, loss / min(done * plan.batch, n))
            took = time.monotonic() - start
            size = max(1, min(2 * size, int(size * PAUSE / max(took, 1e-6))))
        self._fold()
        wild = [kernels.first_unfinite(table.reshape(-1), kernels.thread_count()) >= 0 for table in self.tables]
        return np.inf if any(wild) else loss

    def _fold(self) -> None:
        """The scale becomes part of the vectors."""
        if self.tables.scale[0] != 1:
            self.tables.E[:, self.frozen : self.numbers] *= np.float32(self.tables.scale[0])
            self.tables.scale[0] = 1

    def _tell(self, epoch: int, done: int, loss: float) -> None:
        if self.run is None or self.run.progress is None or time.monotonic() - self.told < PAUSE:
            return
        from linnaeus.erm.progress import Phase

        share = (epoch * self.batches + done) / (self.plan.epochs * self.batches)
        self.run.progress(Phase("training", share, f"epoch {epoch + 1}, loss {loss:.4f}"))
        self.told = time.monotonic()

    def _keep(self) -> None:
        """Keep a copy of the tables, in the memory of the last one, unless they are large."""
        if self.good is not None:
            kept = self.good._asdict()
            for name, table in self.tables._asdict().items():
                np.copyto(kept[name], table)
        elif sum(table.nbytes for table in self.tables) <= MOST_KEPT:
            self.good = self.tables.copy()

    def _go_back(self) -> None:
        """Return to the last good tables with half the rate."""
        self.halvings += 1
        rate = self.plan.rate / 2**self.halvings
        if self.good is None or self.halvings > MOST_HALVINGS:
            raise MachineError(f"The loss is not finite at a rate of {2 * rate:.3g}; give a lower rate.")
        self.tables, self.good = self.good, None
        said = f"The loss is not finite; training goes on from the last epoch with a rate of {rate:.3g}."
        warnings.warn(LinnaeusWarning(said), stacklevel=2)

    def _judged(self) -> float:
        """The share of right answers on the rows aside; of label sets their mean F1."""
        assert self.aside is not None
        y, weights = self.aside.y, self.aside.weights
        answers = self.lesson.space.decode(self._bag(self.tables).scores(self.aside.X))
        right = _share_of_labels(answers, y) if isinstance(y, LabelSets) else answers == y
        return float(right @ weights / weights.sum())

    def _bag(self, tables: Tables) -> FittedBag:
        w = len(tables.O)
        E = np.ascontiguousarray(tables.E[:, : self.numbers])
        O = np.ascontiguousarray(tables.O[:, : self.numbers].T)  # noqa: E741
        columns = None if len(self.columns) == self.lesson.X.width else self.columns
        return FittedBag(E, O, tables.b[:w].copy(), self.lesson.X.width, columns, self.plan.pool)

    def _state(self, epoch: int, best: Best[Tables]) -> State:
        """What training goes on from."""
        tensors: Arrays = dict(self.tables._asdict())
        manifest: dict[str, Json] = {"epochs": epoch, "halvings": self.halvings}
        if best.weights is not None:
            tensors |= {f"best_{name}": table for name, table in best.weights._asdict().items()}
            manifest |= {"score": best.score, "since": best.since}
        return State(manifest, tensors)

    def _resume(self, best: Best[Tables]) -> int:
        """Take over the tables of a checkpoint; the epochs that it has behind it."""
        state = None if self.run is None or self.run.kept is None else self.run.kept.get()
        if state is None:
            return 0
        fill(dict(self.tables._asdict()), state.tensors)
        if "best_E" in state.tensors:
            shapes = {name: (table.shape, table.dtype) for name, table in self.tables._asdict().items()}
            best.weights = Tables(*(taken_over(state.tensors, f"best_{name}", *like) for name, like in shapes.items()))
            best.score, best.since = real(state.manifest, "score"), number(state.manifest, "since")
        self.halvings = number(state.manifest, "halvings")
        return number(state.manifest, "epochs")


def _laid_out(X: CSR, columns: Ints, pool: str) -> tuple[Longs, Longs, Ints, Floats]:
    """The rows as steps read them: columns among those that have a vector; values of a mean add up to 1."""
    places = np.full(X.width, -1, np.int32)
    places[columns] = np.arange(len(columns), dtype=np.int32)
    factors = np.ones(len(X))
    if pool == "mean":
        sizes = CSR(X.indptr, X.indices, np.abs(X.data), X.width).dot((places >= 0).astype(np.float32))
        factors = 1.0 / np.where(sizes > 0, sizes, 1.0)
    return kernels.bag_layout(X.arrays, places, factors, kernels.thread_count())


def _begun(given: Floats, learned: int, w: int, seed: int) -> Tables:
    """Given vectors, then small random numbers; output weights and biases of zero."""
    numbers = given.shape[1] + learned
    size = -(-(numbers + 1) // LANES) * LANES
    E = _lines(len(given), size)
    E[:, : given.shape[1]] = given
    rng = np.random.default_rng([seed, numbers])
    for start in range(0, len(E), 1 << 16):
        piece = E[start : start + (1 << 16), given.shape[1] : numbers]
        piece[:] = (2 * rng.random(piece.shape, np.float32) - 1) / max(learned, 1)
    return Tables(E, _lines(w, size), np.zeros(2 * w, np.float32), np.ones(1))


def _lines(rows: int, size: int) -> Floats:
    """Zeros that begin where a line of memory does."""
    room = np.zeros(rows * size + LANES, np.float32)
    skip = -room.ctypes.data % 64 // 4
    return room[skip : skip + rows * size].reshape(rows, size)


def _share_of_labels(answers: Array, y: LabelSets) -> Doubles:
    """The F1 of the labels of each row."""
    truth = np.zeros(answers.shape, bool)
    truth[np.repeat(np.arange(len(y)), np.diff(y.offsets)), y.labels] = True
    said = np.asarray(answers) > 0
    both: Doubles = 2.0 * (truth & said).sum(axis=1)
    return np.where(truth.any(axis=1) | said.any(axis=1), both / np.maximum(truth.sum(axis=1) + said.sum(axis=1), 1), 1)


def smaller(plan: EmbeddingBag, bag: FittedBag, X: CSR) -> FittedBag:
    """The bag with the features that matter most, and its vectors in a few bytes each."""
    if plan.most is not None and len(bag.E) > plan.most:
        known = bag.known(X)
        squares = np.bincount(known.indices[: known.nnz], known.data[: known.nnz] ** 2, len(bag.E)) / max(1, len(X))
        chosen = prune(bag.E, squares, plan.most)
        columns = chosen if bag.columns is None else bag.columns[chosen]
        bag = replace(bag, E=np.ascontiguousarray(bag.E[chosen]), columns=columns)
    if plan.quantized is None:
        return bag
    codes = packed(bag.E, plan.quantized)
    return replace(bag, E=unpacked(codes), packed=codes)
