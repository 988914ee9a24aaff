"""Training of a network: batches of similar lengths, gradients by PyTorch, early stopping, checkpoints.

The forward pass, the batches and the loss are passed in (`Job`); so a network may classify, tag or rank. The loss gives
the gradient in the scores, and PyTorch carries it back through the network: the last layer is the linear classifier.
Weights enter and leave as plain arrays.

Everything random is drawn from the seed and the number of the epoch. So a training that goes on from a checkpoint ends
with the same bits, on the same machine with the same number of threads.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from linnaeus import kernels
from linnaeus.errors import DataError, LinnaeusWarning, MachineError, damaged
from linnaeus.neural import library
from linnaeus.neural.job import Job, Keeps, Settings, Targets, Told, Trained, log_loss, scheduled
from linnaeus.neural.operations import TorchOperations
from linnaeus.neural.rules import RULES, Pace
from linnaeus.types import Array, Floats, Longs, State

POOL = 50
"""Batches whose examples are sorted by length together."""
HALVINGS = 8
"""How often the rate is halved before a training is given up."""


def train(
    job: Job, settings: Settings, tell: Callable[[Told], None] | None = None, kept: Keeps | None = None
) -> Trained:
    """Train a network; `tell` is told of each epoch, and `kept` has its checkpoint."""
    torch = library("torch", "Training a network")
    device = device_of(torch, settings.device)
    with _steady(torch), _memory(torch, settings):
        run = Run(torch, device, job, settings)
        if kept is not None and (state := kept.get()) is not None:
            run.restore(state)
        while not run.over:
            run.epoch()
            if tell is not None:
                tell(run.told)
            if kept is not None:
                kept.put(run.state())
        return Trained(run.weights(), run.facts())


def device_of(torch: Any, wanted: str) -> str:
    """The device to train on: "auto" is a GPU if there is one."""
    there = torch.cuda.is_available()
    if wanted == "cuda" and not there:
        raise MachineError("device='cuda' needs an NVIDIA GPU that PyTorch can use, and there is none; use 'cpu'.")
    return "cuda" if there and wanted != "cpu" else "cpu"


@contextmanager
def _steady(torch: Any) -> Iterator[None]:
    """Settings under which the same steps give the same bits; those before are restored."""
    threads, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(kernels.thread_count())
    filling = torch.utils.deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # only writes what is written again
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*deterministic.*", category=UserWarning)
            yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(strict)
        torch.utils.deterministic.fill_uninitialized_memory = filling


@contextmanager
def _memory(torch: Any, settings: Settings) -> Iterator[None]:
    """Around a training: a GPU without enough memory is said in one sentence."""
    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        torch.cuda.empty_cache()
        raise MachineError(
            f"The memory of the GPU is not enough for batches of {settings.batch:,} examples; "
            "lower batch, or train with device='cpu'."
        ) from error


class Run:
    """A running training: weights, what the rule remembers, the best weights so far."""

    def __init__(self, torch: Any, device: str, job: Job, settings: Settings) -> None:
        self.torch, self.device, self.job, self.settings = torch, device, job, settings
        self.rule = RULES[settings.optimizer]
        flat = [name for name in job.weights if name not in job.tables and name not in job.fixed]
        self.names, self.shapes = flat, [job.weights[name].shape for name in flat]
        self.sizes = [int(np.prod(shape)) for shape in self.shapes]
        self.flat = self._tensor(np.concatenate([np.ravel(job.weights[name]) for name in flat]))
        self.pulled = self._tensor(np.repeat([float(name.endswith(".W")) for name in flat], self.sizes), self.flat)
        self.tables = {name: self._tensor(job.weights[name]) for name in job.tables}
        self.others = {name: self._tensor(job.weights[name]) for name in job.fixed if name not in job.tables}
        self.learned = [name for name in job.tables if name not in job.fixed]
        self.memory = {
            name: {part: torch.zeros_like(there) for part in self.rule.memory}
            for name, there in [("", self.flat), *((name, self.tables[name]) for name in self.learned)]
        }
        self.generator = torch.Generator(device=device)
        self.done, self.steps, self.since, self.halvings, self.loss = 0, 0, 0, 0, 0.0
        self.best: tuple[float, float] | None = None
        self.best_epoch, self.best_weights = 0, dict[str, Any]()
        self.over = settings.epochs == 0
        self.told = Told(0, 0.0, None)

    def _tensor(self, array: Array, like: Any = None) -> Any:
        found = self.torch.from_numpy(np.array(array)).to(self.device)
        return found if like is None else found.to(like.dtype)

    # --- One epoch ---

    def epoch(self) -> None:
        """One pass over the examples; again with half the rate from where it began, if the loss is not finite."""
        before = self._changing(clone=True)
        while not math.isfinite(loss := self._pass()):
            self.halvings += 1
            if self.halvings > HALVINGS:
                raise DataError("The loss of the network is not finite at any rate; scale the features, or lower rate.")
            warnings.warn(
                f"The loss was not finite in epoch {self.done + 1}; training goes on from the end of the epoch before "
                "with half the rate.",
                LinnaeusWarning,
                stacklevel=2,
            )
            for name, there in self._changing().items():
                there.copy_(before[name])
        self.done += 1
        self.steps = self.done * len(self._batches())
        self.loss = loss
        score = self._judge()
        self.told = Told(self.done, loss, None if score is None else score[0])
        if score is not None:
            self._stop(score)
        self.over |= self.done >= self.settings.epochs

    def _stop(self, score: tuple[float, float]) -> None:
        """Keep the best weights; stop if the score was not better for long.

        Of equal scores the smaller loss is better, but it does not count as progress.
        """
        self.since = 0 if self.best is None or score[0] > self.best[0] else self.since + 1
        if self.best is None or score > self.best:
            self.best, self.best_epoch = score, self.done
            self.best_weights = {name: there.clone() for name, there in self._weights().items()}
        self.over = self.since >= self.settings.patience

    def _pass(self) -> float:
        """One pass; the mean loss of an example."""
        seed = np.random.SeedSequence([self.settings.seed, self.done]).generate_state(1, np.uint64)[0] >> np.uint64(1)
        self.generator.manual_seed(int(seed))
        ops = TorchOperations(self.settings.dropout, self.generator)
        batches = self._batches()
        total: Any = 0.0
        for number, (rows, batch) in enumerate(self._ready(batches)):
            value = self._step(ops, rows, batch, self.done * len(batches) + number)
            total = total + value
            if self.device == "cpu" and not math.isfinite(float(value)):
                return math.nan
        return float(total) / (len(self.job.learned) * self.job.mean_weight)

    def _batches(self) -> list[Longs]:
        """The examples of each batch: shuffled, then sorted by length among neighbors."""
        rng = np.random.default_rng([self.settings.seed, self.done])
        order = rng.permutation(self.job.learned)
        size, found = self.settings.batch, []
        for at in range(0, len(order), size * POOL):
            some = order[at : at + size * POOL]
            some = some[np.argsort(self.job.sizes[some], kind="stable")]
            found += [some[i : i + size] for i in range(0, len(some), size)]
        return [found[i] for i in rng.permutation(len(found))]

    def _ready(self, batches: list[Longs]) -> Iterator[tuple[Longs, dict[str, Any]]]:
        """The inputs of each batch, on the device; for a GPU they are made while it works."""
        if self.device == "cpu":
            for rows in batches:
                yield rows, {name: self.torch.from_numpy(part) for name, part in self.job.batch(rows).items()}
            return
        with ThreadPoolExecutor(1) as pool:
            due: list[Future[Any]] = [pool.submit(self._pinned, rows) for rows in batches[:4]]
            for number, rows in enumerate(batches):
                found = due.pop(0).result()
                if number + 4 < len(batches):
                    due.append(pool.submit(self._pinned, batches[number + 4]))
                yield rows, {name: part.to(self.device, non_blocking=True) for name, part in found.items()}

    def _pinned(self, rows: Longs) -> dict[str, Any]:
        found = {name: self.torch.from_numpy(part).pin_memory() for name, part in self.job.batch(rows).items()}
        if self.job.targets is not None:
            joint, truth, weights = self.job.targets(rows)
            found |= {"_truth": self.torch.from_numpy(truth).pin_memory()}
            found |= {"_weights": self.torch.from_numpy(weights).pin_memory()}
            self.joint = joint
        return found

    # --- One step ---

    def _step(self, ops: TorchOperations, rows: Longs, batch: dict[str, Any], step: int) -> Any:
        """One step; the loss of the batch, weighted and summed."""
        torch, settings = self.torch, self.settings
        params, leaves, places = self._leaves(batch)
        with self._precision():
            S = self.job.forward(ops, params, batch)
        value, D = self._loss(S, rows, batch)
        share = 1.0 / (len(rows) * self.job.mean_weight)
        grads = torch.autograd.grad(S, list(leaves.values()), D.to(S.dtype) * share)
        with torch.no_grad():
            if settings.clip is not None:
                self._clip(grads, settings.clip)
            pace = Pace(self._rate(step), step + 1, settings.momentum)
            for (name, _leaf), grad in zip(leaves.items(), grads, strict=True):
                if name:
                    self._move_table(name, grad, places[name], pace)
                else:
                    if settings.decay:
                        self.flat.mul_(1.0 - pace.rate * settings.decay * self.pulled)
                    self.rule.step(self.flat, grad, self.memory[""], pace)
        return value

    def _leaves(self, batch: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """The weights by name, those among them that have gradients, and which rows of the tables these are.

        On a CPU only the rows of a table that a batch reads take part; then its inputs are numbers of these rows.
        """
        torch = self.torch
        leaves = {"": self.flat.detach().requires_grad_()}
        views = torch.split(leaves[""], self.sizes)
        params = {n: v.view(s) for n, v, s in zip(self.names, views, self.shapes, strict=True)} | self.others
        places: dict[str, Any] = {}
        for entry in set(self.job.tables.values()):
            mine = [name for name, of in self.job.tables.items() if of == entry]
            ids = batch[entry]
            if self.device == "cpu":
                rows, local = _used(torch, ids, len(self.tables[mine[0]]))
                batch[entry] = local
            else:
                rows = ids
            for name in mine:
                there = self.tables[name]
                part = there[rows] if self.device == "cpu" else there.detach()
                places[name] = rows
                params[name] = part.requires_grad_() if name in self.learned else part
                if name in self.learned:
                    leaves[name] = params[name]
        return params, leaves, places

    def _move_table(self, name: str, grad: Any, rows: Any, pace: Pace) -> None:
        """A step of the rows that the batch read; others stay, and so does what is remembered of them."""
        torch, table, memory = self.torch, self.tables[name], self.memory[name]
        if self.device == "cpu":
            part, inside = table[rows], {key: there[rows] for key, there in memory.items()}
            if self.settings.decay:
                part.mul_(1.0 - pace.rate * self.settings.decay)
            self.rule.step(part, grad, inside, pace)
            table[rows] = part
            for key, there in memory.items():
                there[rows] = inside[key]
            return
        read = torch.zeros((len(table), 1), dtype=torch.bool, device=table.device)
        read[rows.reshape(-1)] = True
        new, inside = table.clone(), {key: there.clone() for key, there in memory.items()}
        if self.settings.decay:
            new.mul_(1.0 - pace.rate * self.settings.decay)
        self.rule.step(new, grad, inside, pace)
        table.copy_(torch.where(read, new, table))
        for key, there in memory.items():
            there.copy_(torch.where(read, inside[key], there))

    def _loss(self, S: Any, rows: Longs, batch: dict[str, Any]) -> tuple[Any, Any]:
        """The loss, weighted and summed, and its gradient in the scores."""
        torch = self.torch
        if self.job.targets is None:
            value, D = self.job.loss(S.detach().double().cpu().numpy(), rows)
            return value, torch.from_numpy(D).to(self.device)
        if "_truth" in batch:
            joint, truth, weights = self.joint, batch["_truth"], batch["_weights"]
        else:
            joint, truth, weights = self.job.targets(rows)
            truth, weights = torch.from_numpy(truth), torch.from_numpy(weights)
        return log_loss(torch, S.detach().to(truth.dtype), Targets(joint, truth, weights))

    def _precision(self) -> Any:
        if self.settings.precision == "float32":
            return nullcontext()
        return self.torch.autocast(self.device, dtype=self.torch.bfloat16)

    def _clip(self, grads: Any, most: float) -> None:
        """Shorten the gradient to the norm `most` if it is longer."""
        norm = self.torch.sqrt(sum((grad * grad).sum() for grad in grads))
        scale = (most / (norm + 1e-12)).clamp(max=1.0)
        for grad in grads:
            grad.mul_(scale)

    def _rate(self, step: int) -> float:
        """The rate of a step, by the schedule and by how often it was halved."""
        settings = self.settings
        most = settings.epochs * math.ceil(len(self.job.learned) / settings.batch)
        return settings.rate * 0.5**self.halvings * scheduled(settings.schedule, step / max(1, most))

    # --- Between epochs ---

    def _judge(self) -> tuple[float, float] | None:
        """How good the scores of held-out examples are; of equally good ones, the smaller loss is better."""
        if not len(self.job.aside):
            return None
        order = self.job.aside[np.argsort(self.job.sizes[self.job.aside], kind="stable")]
        ops, found = TorchOperations(), []
        size = 4 * self.settings.batch
        with self.torch.no_grad():
            for at in range(0, len(order), size):
                inputs = self.job.batch(order[at : at + size])
                batch = {name: self.torch.from_numpy(part).to(self.device) for name, part in inputs.items()}
                found.append(self.job.forward(ops, self._weights(), batch).double().cpu().numpy())
        S = self.job.joined(found)
        loss, _ = self.job.loss(S, order)
        return self.job.judge(S, order), -loss if math.isfinite(loss) else -math.inf

    def _weights(self) -> dict[str, Any]:
        """All weights by name."""
        views = self.torch.split(self.flat, self.sizes)
        found = {n: v.view(s) for n, v, s in zip(self.names, views, self.shapes, strict=True)}
        return found | self.tables | self.others

    def weights(self) -> dict[str, Floats]:
        """The weights that are kept in the end: the best ones, or the last ones."""
        best = self.best_weights or self._weights()
        return {name: np.array(best[name].cpu().numpy(), np.float32) for name in self.job.weights}

    def facts(self) -> dict[str, Any]:
        """How it was trained: bits are the same where these are."""
        told = {"device": self.device, "threads": kernels.thread_count(), "precision": self.settings.precision}
        told |= {"torch": str(self.torch.__version__), "epochs": self.done, "loss": self.loss}
        best = {} if self.best is None else {"best_epoch": self.best_epoch, "score": self.best[0]}
        return told | best | {"halvings": self.halvings}

    def _changing(self, clone: bool = False) -> dict[str, Any]:
        """What a step changes, by name; copies of it."""
        found = {"flat": self.flat} | {f"table.{name}": self.tables[name] for name in self.learned}
        for name, parts in self.memory.items():
            found |= {f"memory.{name}.{part}": there for part, there in parts.items()}
        return {name: there.clone() for name, there in found.items()} if clone else found

    def state(self) -> State:
        """What a checkpoint holds."""
        tensors = {name: there.cpu().numpy() for name, there in self._changing().items()}
        if self.best is not None:
            tensors |= {f"best.{name}": there.cpu().numpy() for name, there in self.best_weights.items()}
        numbers = [self.done, self.since, self.halvings, self.best_epoch, int(self.over)]
        best = [self.loss, *(self.best or ())]
        return State({"kind": "network"}, tensors | {"numbers": np.array(numbers), "best": np.array(best)})

    def restore(self, state: State) -> None:
        """Go on from a checkpoint."""
        tensors = state.tensors
        for name, there in self._changing().items():
            found = tensors.get(name)
            if found is None or found.shape != tuple(there.shape):
                raise damaged("the checkpoint does not fit the network")
            there.copy_(self._tensor(found, there))
        self.done, self.since, self.halvings, self.best_epoch, over = (int(n) for n in tensors["numbers"])
        self.loss, *best = (float(n) for n in tensors["best"])
        self.over = bool(over)
        if best:
            self.best = best[0], best[1]
            self.best_weights = {n: self._tensor(tensors[f"best.{n}"]) for n in self.job.weights}


def _used(torch: Any, ids: Any, count: int) -> tuple[Any, Any]:
    """The rows of a table that are read, ascending, and the inputs as numbers among them."""
    there = torch.zeros(count, dtype=torch.bool)
    there[ids.reshape(-1)] = True
    if not len(ids):
        there[0] = True  # a table needs a row
    rows = there.nonzero()[:, 0]
    place = torch.cumsum(there, 0) - 1
    return rows, place[ids]
