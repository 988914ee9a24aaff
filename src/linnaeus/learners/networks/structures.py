"""Networks whose examples have several rows of scores: `TagNetwork` for sentences, `RankNetwork` for candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import ClassVar, Self

import numpy as np

from linnaeus.arrays.linear import stored
from linnaeus.arrays.word_table import WordTable
from linnaeus.erm.pieces import piece
from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.candidates import FittedCandidates
from linnaeus.learners.networks.architecture import TABLE, Architecture, RowLayer, drawn_weights
from linnaeus.learners.networks.batches import row_batch
from linnaeus.learners.networks.fitted import FittedNetwork
from linnaeus.learners.networks.fitted_tagger import FittedTagNetwork
from linnaeus.learners.networks.learner import check_training, read_table, set_some_aside, teller
from linnaeus.learners.networks.tokens import LINKS, TokenLayers, check_layers, token_batch
from linnaeus.learners.run import Run, kept_in
from linnaeus.neural.job import Job, Settings, Trained
from linnaeus.neural.training import train
from linnaeus.outputs import Candidates, Sequence
from linnaeus.outputs.costs import as_costs
from linnaeus.protocols import CostFree, LearnsCandidates, LearnsTags, has
from linnaeus.types import NOT_STORED, Array, Doubles, Floats, GroupedLesson, Longs, Piece, groups

START = 0.1
"""The deviation of the vectors of features at the start."""


@dataclass(frozen=True, kw_only=True)
class StructuredNetwork:
    """What networks over several rows of scores share: the structured loss on top, and how they are trained.

    `loss` is "log", "softmargin", "hinge", "perceptron", or your own with `value_and_grad(space, S, y)`. A step takes
    `batch` examples; the other settings are those of `NeuralLearner`.
    """

    dropout: float = 0.2
    loss: Piece = "log"
    optimizer: str = "adam"
    rate: float = 3e-3
    momentum: float = 0.9
    schedule: str = "linear"
    decay: float = 0.0
    clip: float | None = 5.0
    epochs: int = 8
    batch: int = 32
    held_out: float = 0.0
    patience: int = 3
    device: str = "auto"
    precision: str = "float32"

    def __post_init__(self) -> None:
        check_training(self)
        object.__setattr__(self, "loss", piece("loss", self.loss))

    @property
    def strength(self) -> float:
        """The hyper-parameter that cross-validation tunes: the decay of weights."""
        return self.decay

    def with_strength(self, strength: float) -> Self:
        """A copy with another decay of weights."""
        return replace(self, decay=strength)

    def trained(self, job: Job, lesson: GroupedLesson) -> Trained:
        """The weights of a network that is trained on a lesson."""
        names = {part.name for part in fields(Settings)}
        settings = Settings(seed=lesson.seed, **{name: v for name, v in vars(self).items() if name in names})
        run: Run | None = lesson.run
        return train(job, settings, teller(run, self.epochs), kept_in(run))


@dataclass(frozen=True, kw_only=True)
class TagNetwork(StructuredNetwork):
    """Convolutions over the tokens of a sentence, and on top a linear chain with any structured loss.

    A token is the sum of the vectors of its features, `width` numbers; each of the `layers` adds to it what filters
    over a `window` of tokens make of them (Collobert et al. 2011, with residual layers). The scores of tags are linear
    in the result, those of transitions are weights, and the loss is that of `outputs.Sequence`, with a matrix `costs`
    l(tag, true tag) in the order of the tags. `dropout` leaves out features of tokens, and units, at random.

    With `vectors`, a `WordTable` or the name of its file, the features that are the word itself (`lower`, else `word`)
    begin with the given vectors, and `width` is theirs.

    Collobert, Weston, Bottou, Karlen, Kavukcuoglu and Kuksa, "Natural language processing (almost) from scratch", 2011.

    >>> TagNetwork(width=64, loss="hinge").window
    3
    """

    provides: ClassVar[tuple[type, ...]] = (LearnsTags,)

    width: int = 128
    layers: int = 2
    window: int = 3
    activation: str = "relu"
    costs: Piece = None
    vectors: str | WordTable = ""
    held: WordTable | None = field(default=None, repr=False, compare=False, metadata=NOT_STORED)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_layers(self)
        object.__setattr__(self, "costs", as_costs(self.costs))
        if self.costs is not None and has(self.loss, CostFree):
            raise UsageError(f"The {type(self.loss).__name__} loss has no place for costs; use hinge or softmargin.")
        if isinstance(self.vectors, WordTable):
            object.__setattr__(self, "held", self.vectors)
            object.__setattr__(self, "vectors", "")
        expect("vectors", self.vectors, str)

    def learn_tags(self, lesson: GroupedLesson) -> FittedTagNetwork:
        """Train it; the same lesson gives the same bits for the same number of threads."""
        table = read_table(str(self.vectors)) if self.vectors else self.held
        plan = self if table is None else replace(self, width=table.width)
        form, space = plan.form(lesson), Sequence(as_costs(self.costs, lesson.k))
        found = self.trained(tag_job(plan, form, space, lesson, table), lesson)
        return FittedTagNetwork(form, plain(found.weights), found.facts)

    def form(self, lesson: GroupedLesson) -> TokenLayers:
        """The layers for the features and tags of a lesson."""
        own = {name: getattr(self, name) for name in ("width", "layers", "window", "activation")}
        return TokenLayers(columns=lesson.X.width, tags=lesson.k, **own)


def tag_job(
    plan: TagNetwork, form: TokenLayers, space: Sequence, lesson: GroupedLesson, table: WordTable | None = None
) -> Job:
    """What is trained of a tagger: sentences in, scores of tags and transitions out."""
    rng, X, y = np.random.default_rng([lesson.seed, 1]), lesson.X.to_csr(), lesson.y
    weights: dict[str, Array] = dict(drawn_weights(form.shapes(), rng))
    weights[TABLE] = rng.normal(0.0, START, weights[TABLE].shape).astype(np.float32)
    if table is not None:
        begin(weights[TABLE], lesson, table)
    weights[LINKS] = np.zeros_like(weights[LINKS])
    learned, aside = set_some_aside(len(y), plan.held_out, lesson.seed)
    links = 1 + form.tags

    def batch(rows: Longs) -> dict[str, Array]:
        offsets, at, _ = groups(y.offsets, rows)
        return token_batch(X, at, offsets, form.window)

    def judge(S: Doubles, rows: Longs) -> float:
        truth = y[rows]
        return float((space.decode(S, truth.offsets) == truth.tags).mean()) if len(truth.tags) else 1.0

    return Job(
        forward=form.forward,
        batch=batch,
        loss=lambda S, rows: summed(plan.loss.value_and_grad(space, S, y[rows])),
        judge=judge,
        joined=lambda parts: np.concatenate([*(part[:-links] for part in parts), parts[-1][-links:]]),
        weights=weights,
        tables={TABLE: "ids"},
        sizes=np.diff(y.offsets),
        learned=learned,
        aside=aside,
        mean_weight=max(1.0, float(np.diff(y.offsets)[learned].mean())),
    )


def begin(rows: Array, lesson: GroupedLesson, table: WordTable) -> None:
    """Write the vectors of words over the rows of the features that are these words, as large as other rows are."""
    if lesson.names is None:
        raise UsageError("Given vectors need features whose columns have names, such as Templates.")
    names = list(lesson.names())
    lower = any(name.startswith("lower[0]=") for name in names)
    start = "lower[0]=" if lower else "word[0]="
    columns = np.array([i for i, name in enumerate(names) if name.startswith(start) and " & " not in name], np.int64)
    known, vectors = table.vectors_of([names[i].removeprefix(start) for i in columns.tolist()])
    size = float(np.sqrt(np.square(vectors[known].astype(np.float64)).mean())) if known.any() else 0.0
    if size > 0:
        rows[columns[known]] = vectors[known] * np.float32(START / size)


@dataclass(frozen=True, kw_only=True)
class RankNetwork(StructuredNetwork):
    """A multilayer perceptron on the features of candidates: `hidden` layers, then one score for each candidate.

    The loss compares the candidates of an example (`outputs.Candidates`); costs of wrong ones are in the data.

    >>> RankNetwork(hidden=(32,), loss="softmargin").hidden
    (32,)
    """

    provides: ClassVar[tuple[type, ...]] = (LearnsCandidates,)

    hidden: tuple[int, ...] = (64,)
    activation: str = "relu"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "hidden", tuple(self.hidden))
        if not self.hidden:
            raise UsageError("RankNetwork has at least one hidden layer; without one it would be the learner linear.")
        for size in self.hidden:
            expect("hidden", size, int, 1)

    def learn_candidates(self, lesson: GroupedLesson, start: FittedCandidates | None = None) -> FittedCandidates:
        """Train it; the same lesson gives the same bits for the same number of threads."""
        form = Architecture(
            RowLayer(self.hidden[0], self.activation), self.hidden[1:], self.activation, lesson.X.width, 1
        )
        found = self.trained(rank_job(self, form, lesson), lesson)
        return FittedCandidates({}, FittedNetwork(form, plain(found.weights), found.facts))


def rank_job(plan: RankNetwork, form: Architecture, lesson: GroupedLesson) -> Job:
    """What is trained of a ranker: the candidates of examples in, a score for each out."""
    rng, X, y, space = np.random.default_rng([lesson.seed, 1]), lesson.X.to_csr(), lesson.y, Candidates()
    weights: dict[str, Array] = dict(drawn_weights(form.shapes(), rng))
    size = float(np.sqrt(X.squares().mean())) if len(X) else 1.0
    weights[TABLE] = _uniform(rng, weights[TABLE].shape, 0.25 / max(size, 1e-6))
    there = np.flatnonzero(np.diff(y.offsets))  # examples without candidates teach nothing
    learned, aside = (there[part] for part in set_some_aside(len(there), plan.held_out, lesson.seed))

    def judge(S: Doubles, rows: Longs) -> float:
        truth = y[rows]
        return float(truth.gold[truth.offsets[:-1] + space.decode(S, truth.offsets)].mean())

    return Job(
        forward=form.forward,
        batch=lambda rows: row_batch(X, groups(y.offsets, rows)[1]),
        loss=lambda S, rows: summed(plan.loss.value_and_grad(space, S, y[rows])),
        judge=judge,
        weights=weights,
        tables={TABLE: "ids"},
        sizes=np.diff(y.offsets),
        learned=learned,
        aside=aside,
    )


def _uniform(rng: np.random.Generator, shape: tuple[int, ...], most: float) -> Floats:
    return rng.uniform(-most, most, shape).astype(np.float32)


def plain(weights: Mapping[str, Array]) -> dict[str, Floats]:
    """The weights as a model stores them; such that are not finite are refused."""
    return stored(dict(weights))


def summed(found: tuple[Doubles, Doubles]) -> tuple[float, Doubles]:
    """The sum of the losses of some examples, and its gradient in the scores."""
    values, D = found
    return float(values.sum()), D
