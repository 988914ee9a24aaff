"""`Network` on rows and `SequenceNetwork` on words in their order: hidden layers below any output space and loss."""

from __future__ import annotations

from dataclasses import fields, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.arrays.linear import stored
from linnaeus.erm.pieces import piece
from linnaeus.erm.progress import Phase
from linnaeus.errors import DataError, UsageError, expect, expect_within
from linnaeus.features.word_sequence import WordSequence
from linnaeus.frozen import dataclass
from linnaeus.kernels.online import LOSSES as ONLINE
from linnaeus.kernels.online import SPACES
from linnaeus.learners.base import RowLearner, kind_of
from linnaeus.learners.early_stopping import check_early_stopping, set_aside
from linnaeus.learners.linear.problems import choose_output
from linnaeus.learners.networks.architecture import TABLE, Architecture, RowLayer, drawn_weights
from linnaeus.learners.networks.batches import row_batch, word_batch
from linnaeus.learners.networks.encoders import Convolution, check_activation
from linnaeus.learners.networks.fitted import FittedNetwork
from linnaeus.learners.networks.lookup import FIXED, LEARNED, begun, drawn
from linnaeus.learners.problems import goodness
from linnaeus.losses import PointLoss
from linnaeus.neural.job import Job, Settings, Targets, Told
from linnaeus.neural.rules import RULES
from linnaeus.neural.training import train
from linnaeus.outputs import Real
from linnaeus.protocols import (
    LearnsRows,
    LearnsSequences,
    ListedSpace,
    MinimizesLoss,
    NumberSpace,
    OnlineLoss,
    capability,
    has,
)
from linnaeus.types import Array, Doubles, Floats, LabelSets, Lesson, Longs, Piece

if TYPE_CHECKING:
    from collections.abc import Callable

    from linnaeus.arrays.word_table import WordTable
    from linnaeus.learners.run import Run

SCHEDULES = ("constant", "linear", "cosine")
DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("float32", "mixed")
FEWEST_ASIDE = 5
"""Fewer held-out rows say nothing: then training goes on for all epochs."""


@dataclass(frozen=True, kw_only=True)
class NeuralLearner(RowLearner):
    """What networks share: hidden layers, the loss on top, and how they are trained.

    `loss` is any loss of the output space; "auto" is the log loss, and the squared loss for numbers. `costs` is a
    matrix l(y', y) of costs. `rate`, `momentum` and `schedule` are those of the `optimizer`; `decay` pulls weights
    towards zero; `clip` is the largest norm of a gradient. With `held_out`, this share of the rows is set aside:
    training stops after `patience` epochs without a better score on them, and the best weights are kept.
    """

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets", "numbers")

    hidden: tuple[int, ...] = ()
    activation: str = "relu"
    dropout: float = 0.5
    loss: Piece = "auto"
    output: Piece = "auto"
    costs: Piece = None
    class_weight: Piece = None
    optimizer: str = "adam"
    rate: float = 1e-3
    momentum: float = 0.9
    schedule: str = "constant"
    decay: float = 0.0
    clip: float | None = 5.0
    epochs: int = 25
    batch: int = 50
    held_out: float = 0.1
    patience: int = 5
    device: str = "auto"
    precision: str = "float32"

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))
        for size in self.hidden:
            expect("hidden", size, int, 1)
        check_activation(self.activation)
        check_training(self)
        for kind in ("loss", "output"):
            given = getattr(self, kind)
            if not (isinstance(given, str) and given == "auto"):
                object.__setattr__(self, kind, piece(kind, given))

    def settings(self, seed: int) -> SimpleNamespace:
        """The fields as `learners.linear.problems.posed` takes them."""
        loss = piece("loss", "log") if isinstance(self.loss, str) else self.loss
        return SimpleNamespace(**{**vars(self), "loss": loss}, decision="score", seed=seed)

    def trained(self, form: Architecture, weights: dict[str, Array], lesson: Lesson, feed: Feed) -> FittedNetwork:
        """The network of this form, trained from these weights."""
        goal = goal_of(self, lesson)
        learned, aside = set_some_aside(len(lesson.weights), self.held_out, lesson.seed)
        job = Job(
            forward=form.forward,
            batch=lambda rows: feed.make(feed.X, rows),
            loss=goal.value_and_grad,
            judge=goal.judge,
            targets=goal.targets,
            weights=weights,
            tables=dict.fromkeys(feed.tables, "ids"),
            fixed=tuple(name for name in feed.tables if name == FIXED),
            sizes=np.diff(feed.X.indptr),
            learned=learned,
            aside=aside,
            mean_weight=max(float(lesson.weights[learned].mean()), 1e-300),
        )
        names = {part.name for part in fields(Settings)}
        settings = Settings(seed=lesson.seed, **{name: v for name, v in vars(self).items() if name in names})
        run = lesson.run
        found = train(job, settings, teller(run, self.epochs), None if run is None else run.kept)
        return FittedNetwork(form, stored(goal.restored(found.weights)), found.facts)


def check_training(plan: Any) -> None:
    """Refuse settings of a training that mean nothing."""
    check_early_stopping(plan.held_out, plan.patience)
    known = {"optimizer": tuple(RULES), "schedule": SCHEDULES, "device": DEVICES, "precision": PRECISIONS}
    for name, choices in known.items():
        if getattr(plan, name) not in choices:
            raise UsageError(f"{name} is one of {', '.join(choices)}, not {getattr(plan, name)!r}.")
    for name, interval in (("dropout", "[0, 1)"), ("rate", "(0, inf)"), ("momentum", "[0, 1)")):
        expect_within(name, getattr(plan, name), float, interval)
    expect_within("decay", plan.decay, float, "[0, inf)")
    if plan.clip is not None:
        expect_within("clip", plan.clip, float, "(0, inf)")
    expect("epochs", plan.epochs, int, 1)
    expect("batch", plan.batch, int, 1)


@dataclass(frozen=True)
class Feed:
    """What a network reads: rows, how a batch of them is made, and the names of the tables."""

    X: CSR
    make: Callable[[CSR, Longs], dict[str, Array]]
    tables: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Network(NeuralLearner):
    """A multilayer perceptron on any features: `hidden` layers, then the scores of the output space.

    The first layer reads only the columns that a row has, so that there may be very many.

    >>> Network(hidden=(64, 16), loss="hinge").hidden
    (64, 16)
    """

    provides: ClassVar[tuple[type, ...]] = (LearnsRows, MinimizesLoss)

    hidden: tuple[int, ...] = (100,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.hidden:
            raise UsageError("Network has at least one hidden layer; without one it would be the learner linear.")

    def learn(self, lesson: Lesson) -> FittedNetwork:
        """Train it; the same lesson gives the same bits for the same number of threads."""
        X = lesson.X.to_csr()
        encoder = RowLayer(self.hidden[0], self.activation)
        form = Architecture(encoder, self.hidden[1:], self.activation, X.width, outputs_of(lesson, self))
        rng = np.random.default_rng([lesson.seed, 1])
        weights: dict[str, Array] = dict(drawn_weights(form.shapes(), rng))
        size = float(np.sqrt(X.squares().mean())) if len(X) else 1.0
        weights[TABLE] = rng.uniform(-1, 1, weights[TABLE].shape).astype(np.float32) * np.float32(
            0.25 / max(size, 1e-6)
        )
        return self.trained(form, weights, lesson, Feed(X, row_batch, (TABLE,)))


@dataclass(frozen=True, kw_only=True)
class SequenceNetwork(NeuralLearner):
    """A network that reads the words of a text in their order: an `encoder`, hidden layers, the output space.

    The features are `WordSequence`. Encoders are the rows of `ENCODERS`: a pooled lookup table, convolutions, a
    recurrent network, attention.

    >>> from linnaeus.learners.networks import Convolution
    >>> SequenceNetwork(encoder=Convolution(widths=(2, 3))).encoder.filters
    100
    """

    provides: ClassVar[tuple[type, ...]] = (LearnsRows, MinimizesLoss, LearnsSequences)

    encoder: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "encoder", Convolution() if self.encoder is None else self.encoder)

    def reading(self, features: Piece) -> Piece:
        """The features, with columns for the first words of the table that the encoder is given."""
        if not isinstance(features, WordSequence) or not self.encoder.more_words:
            return features
        _, table = self.encoder.resolved(read_table)
        return features if table is None else replace(features, also=tuple(table.words[: self.encoder.more_words]))

    def learn(self, lesson: Lesson) -> FittedNetwork:
        """Train it; the same lesson gives the same bits for the same number of threads."""
        X = lesson.X.to_csr()
        encoder, table = self.encoder.resolved(read_table)
        form = Architecture(encoder, self.hidden, self.activation, X.width, outputs_of(lesson, self))
        shapes = form.shapes()
        weights: dict[str, Array] = dict(drawn_weights(shapes, np.random.default_rng([lesson.seed, 1])))
        tables = tuple(name for name in (FIXED, LEARNED) if name in shapes)
        rng = np.random.default_rng([lesson.seed, 2])
        if table is None:
            weights[LEARNED] = drawn(shapes[LEARNED], rng)
        else:
            if lesson.names is None:
                raise UsageError("Given vectors need features whose columns have names, such as WordSequence.")
            first = begun(lesson.names(), table, rng)
            weights |= dict.fromkeys(tables, first)
        hot = encoder.lookup == "one_hot"
        return self.trained(form, weights, lesson, Feed(X, word_batch, () if hot else tables))


def read_table(path: str) -> WordTable:
    """The table of vectors in a file."""
    from linnaeus.features.word_vectors.files import read_vectors

    return read_vectors(path)


def space_of(lesson: Lesson, learner: NeuralLearner) -> Any:
    """The output space of a lesson; where it says none, that of its labels."""
    if lesson.space is not None:
        return lesson.space
    kind = kind_of(lesson.y)
    if kind == "numbers":
        return Real()
    return choose_output(learner.output, learner.settings(0).loss, lesson.k, kind == "sets")


def outputs_of(lesson: Lesson, learner: NeuralLearner) -> int:
    """The number of scores."""
    return int(space_of(lesson, learner).width(lesson.k))


def teller(run: Run | None, epochs: int) -> Callable[[Told], None] | None:
    """What reports the progress of a training."""
    if run is None or run.progress is None:
        return None
    tell = run.progress

    def told(now: Told) -> None:
        score = "" if now.score is None else f", held-out score {now.score:.3f}"
        tell(Phase("training", now.epoch / epochs, f"epoch {now.epoch}, loss {now.loss:.4f}{score}"))

    return told


def set_some_aside(n: int, share: float, seed: int) -> tuple[Longs, Longs]:
    """The numbers of n examples to learn from, and of those set aside: none where they would be too few to judge."""
    if round(n * share) < FEWEST_ASIDE:
        return np.arange(n), np.zeros(0, np.int64)
    return set_aside(n, share, seed)


@dataclass(frozen=True, eq=False)
class Goal:
    """The loss of some rows over their output space; numbers are scaled to mean 0 and deviation 1 meanwhile."""

    loss: Any
    space: Any
    y: Any
    weights: Doubles
    outputs: int
    middle: Doubles
    spread: Doubles

    def value_and_grad(self, S: Doubles, rows: Longs) -> tuple[float, Doubles]:
        """The loss, weighted and summed, and its gradient in the scores."""
        values, D = self.loss.value_and_grad(self.space, S, self.y[rows])
        weights = self.weights[rows]
        return float(values @ weights), D * weights[:, None]

    def judge(self, S: Doubles, rows: Longs) -> float:
        """How good scores are: the share of right answers, the F1 of label sets, minus the squared error."""
        return goodness(self.space, S, self.y[rows], self.weights[rows])

    @property
    def targets(self) -> Callable[[Longs], Targets] | None:
        """The truth for the log loss in PyTorch; None for other losses and spaces.

        The kernels' form of the truth says whether classes are scored together, and which scores are true ones.
        """
        online, listed = capability(self.loss, OnlineLoss), capability(self.space, ListedSpace)
        if online is None or listed is None or online.online != ONLINE["log"]:
            return None

        def made(rows: Longs) -> Targets:
            lists = listed.label_lists(self.y[rows], self.outputs)
            truth = np.zeros((len(rows), self.outputs), np.float32)
            truth[np.repeat(np.arange(len(rows)), np.diff(lists.offsets)), lists.labels] = 1.0
            return Targets(lists.space == SPACES["joint"], truth, self.weights[rows].astype(np.float32))

        return made

    def restored(self, weights: dict[str, Floats]) -> dict[str, Any]:
        """Weights whose scores are the numbers themselves."""
        scale = {"out.W": weights["out.W"] * self.spread, "out.b": weights["out.b"] * self.spread + self.middle}
        return {**weights, **scale}


def goal_of(learner: NeuralLearner, lesson: Lesson) -> Goal:
    """The loss of a lesson."""
    space, outputs = space_of(lesson, learner), outputs_of(lesson, learner)
    loss, y = learner.settings(0).loss, lesson.y
    if not has(space, NumberSpace):
        if isinstance(loss, PointLoss) and not isinstance(y, LabelSets) and loss != piece("loss", "squared"):
            raise UsageError(f"The {type(loss).__name__} loss is for numbers, and the labels are classes; use another.")
        return Goal(loss, space, y, lesson.weights, outputs, np.zeros(outputs), np.ones(outputs))
    if isinstance(learner.loss, str):
        loss = piece("loss", "squared")
    if not isinstance(loss, PointLoss):
        raise UsageError(
            f"The {type(loss).__name__} loss is for classes, and the labels are numbers; "
            "take squared, absolute or huber."
        )
    numbers = np.asarray(y, np.float64)
    if not len(numbers) or not np.isfinite(numbers).all():
        raise DataError("A label is not a finite number; correct it, or leave its row out.")
    middle = np.average(numbers, axis=0, weights=lesson.weights)
    spread = np.sqrt(np.average((numbers - middle) ** 2, axis=0, weights=lesson.weights))
    spread = np.where(spread > 0, spread, 1.0)
    return Goal(loss, space, (numbers - middle) / spread, lesson.weights, outputs, middle, spread)
