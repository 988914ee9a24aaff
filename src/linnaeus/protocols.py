"""The interfaces of all components, and the capabilities that some of them have. Nothing inherits from these.

A piece of each kind (a loss, an output space, a regularizer, an optimizer) has the methods of its protocol. What only
some pieces can do is a *capability*: a small protocol that a class names in its attribute `provides`. Solvers ask
`capability(loss, DualLoss)`, and refuse with a sentence where it is missing. Nothing is found by looking for a method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from linnaeus.errors import InputTypeError, UsageError, did_you_mean
from linnaeus.lazy import places

if TYPE_CHECKING:
    from types import SimpleNamespace

    from linnaeus.arrays.csr import CSR
    from linnaeus.data.batch import Batch
    from linnaeus.data.sentences import Sentences
    from linnaeus.erm.objective import Objective
    from linnaeus.features.tokens import FittedTemplates
    from linnaeus.kernels.online import LabelLists
    from linnaeus.learners.candidates import FittedCandidates
    from linnaeus.learners.chain.transitions import Transitions
    from linnaeus.learners.chain.weights import ChainWeights
    from linnaeus.learners.dependencies.learner import Treebank
    from linnaeus.learners.dependencies.weights import TreeWeights
    from linnaeus.learners.label_tree.names import LabelNames
    from linnaeus.learners.run import Told
    from linnaeus.optimizers.fused_steps import OnlineKernel
    from linnaeus.optimizers.schedules import Schedule
    from linnaeus.optimizers.stochastic_steps import Run
    from linnaeus.store.parts import Part
    from linnaeus.types import (
        Answer,
        AnyFloats,
        AnyInts,
        Array,
        Chosen,
        CostTable,
        Crowding,
        Doubles,
        Effect,
        Floats,
        GroupedLesson,
        Ints,
        Json,
        Lesson,
        Longs,
        Margins,
        Material,
        Params,
        Piece,
        Place,
        RowGrad,
        Source,
        Sparse,
        Start,
        State,
        Step,
        Truth,
    )


class Stream(Protocol):
    """Examples that can be read more than once, in batches that fit in memory. A `Corpus` is one."""

    def batches(self) -> Iterator[Batch]:
        """The rows in order; the batch boundaries never change a result."""


class Rows(Protocol):
    """A matrix of features, by rows (n, d)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def dot(self, W: AnyFloats) -> Doubles:
        """X @ W  (n, k)."""

    def tdot(self, D: AnyFloats, out: Doubles | None = None) -> Doubles:
        """X.T @ D  (d, k), written to `out` if given."""

    def take(self, rows: AnyInts) -> Rows:
        """These rows, in this order."""

    def rows_slice(self, start: int, stop: int) -> Rows:
        """Rows start to stop, without a copy of their values."""

    def to_csr(self) -> CSR:
        """The same rows without zeros, for kernels that read sparse rows."""

    def by_columns(self) -> Rows:
        """The same rows, with a column-wise copy if they are sparse: faster for many products, but more memory."""


class Features(Protocol):
    """A fitted feature extractor, frozen: the same batch always has the same rows."""

    @property
    def width(self) -> int:
        """The number of columns."""

    def rows(self, batch: Batch) -> CSR:
        """The features of each row of the batch (len(batch), width)."""

    def names(self) -> Sequence[str]:
        """A readable name for each column."""

    def places(self, batch: Batch) -> list[list[Place]]:
        """For each row, the positions of its features in the text."""

    def state(self) -> State:
        """Manifest and tensors from which this is restored; see `linnaeus.features.restore`."""


class OutputSpace(Protocol):
    """An output space: four functions of scores S (n, w) and true outputs y; w is the width of k classes.

    Ties go against the truth, so that a margin of zero counts as a mistake; `decode` takes the lowest class index.
    """

    def width(self, k: int) -> int:
        """Score columns for k classes (for real targets: k targets)."""

    def gold(self, S: Doubles, y: Truth) -> Answer:
        """Score of the true output, and its indicator parts."""

    def best(self, S: Doubles, y: Truth) -> Answer:
        """Maximum over outputs, and the maximizer's parts."""

    def soft(self, S: Doubles, y: Truth) -> Answer:
        """Log-sum-exp over outputs, and the marginals."""

    def cost(self, S: Doubles, y: Truth) -> Answer:
        """The cost of each wrong part, so that best(S + parts) + value is the loss-augmented maximum."""

    def margins(self, S: Doubles, y: Truth) -> Margins:
        """Margins: one for each binary part of a product, gold minus best rival for a joint space."""

    def residuals(self, S: Doubles, y: Truth) -> Margins:
        """Scores minus targets: the numbers themselves, or +1 and -1 for yes and no."""

    def decode(self, S: Doubles) -> Array:
        """The predicted output of each row: class indices, an indicator matrix, or numbers."""


class Loss(Protocol):
    """A loss of the scores and the true output of each example; convex in the scores unless stated otherwise."""

    def value_and_grad(self, space: OutputSpace, S: Doubles, y: Truth) -> tuple[Doubles, Doubles]:
        """Values (n,), and their gradient in the scores (n, w)."""


class Regularizer(Protocol):
    """A penalty on the weights W (d, w), strength included."""

    def value(self, W: Doubles) -> float:
        """Strength times R(W)."""

    def grad(self, W: Doubles) -> Doubles:
        """A subgradient of `value`."""

    def prox(self, W: Doubles, step: float) -> Doubles:
        """argmin_V  1/2 ||V - W||^2 + step * value(V)."""

    def flow(self, W: Doubles, time: Doubles | float) -> Doubles:
        """W after this time along -grad of the penalty; flows compose, so delayed updates give the same result."""


class Solver(Protocol):
    """An optimizer: it minimizes an objective and reports after each epoch; `report` may raise to stop it.

    It returns when it cannot improve further. `report` returns the held-out score, if there is one.
    """

    def refuse(self, objective: Objective) -> str | None:
        """Why it cannot minimize this objective, as a sentence; `erm.check` adds alternatives. None if it can."""

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Minimize until done, or until `report` raises."""


class Model(Protocol):
    """A fitted learner, frozen: it computes scores of rows, and is restored by `learners.restore`."""

    def scores(self, X: Rows) -> Doubles:
        """Scores of classes or labels (n, k), also for two classes; predicted numbers (n, k)."""

    def linear(self) -> tuple[Doubles, Doubles] | None:
        """W (d, k) and b (k,), if `scores` is X W + b; else None."""

    def state(self) -> State:
        """Manifest with its `kind`, and tensors: finite numbers only."""


class Similarity(Protocol):
    """A kernel function of two rows: k(x, z) = phi(x) . phi(z) for some features phi, which are not computed."""

    def matrix(self, A: Rows, B: Rows) -> Doubles:
        """The kernel of every row of A with every row of B (n, m), in new memory."""

    def diagonal(self, A: Rows) -> Doubles:
        """The kernel of every row with itself (n,)."""

    def weights(self, rows: Rows, duals: Doubles) -> tuple[Doubles, Doubles] | None:
        """W (d, k) and b (k,) with sum_i k(rows_i, x) duals_i = x W + b, if they exist; else None."""


class Rule(Protocol):
    """A first-order update. It changes only the rows of a gradient, unless `eager` is true."""

    @property
    def eager(self) -> bool:
        """Whether rows without a gradient change too."""

    def begin(self, params: Params) -> Params:
        """Accumulators for each parameter, as named arrays."""

    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Update `params[name]` in place."""

    def pace(self, name: str, state: Params, rows: Chosen) -> Doubles | float:
        """The factor by which the updates of these rows are scaled; the regularizer's time is scaled by it too."""


C = TypeVar("C")


def capability(piece: object, wanted: Callable[..., C]) -> C | None:
    """The piece as this capability, if its class names it in `provides`; else None.

    A subclass has the capabilities of its base classes, but for fused paths (`Fused`): it may have changed the formula
    that a kernel knows, and says so itself where it has not.

    >>> from linnaeus.losses import Hinge
    >>> capability(Hinge(), DualLoss) is None, capability(Hinge(), NewtonLoss) is None
    (False, True)
    """
    kind = type(piece)
    known = wanted in kind.__dict__.get("provides", ())
    if not known and Fused not in cast("type", wanted).__mro__:
        known = any(wanted in base.__dict__.get("provides", ()) for base in kind.__mro__)
    return cast("C", piece) if known else None


def has(piece: object, wanted: Callable[..., object]) -> bool:
    """Whether the piece has this capability.

    >>> from linnaeus.outputs import Binary, Real
    >>> has(Real(), NumberSpace), has(Binary(), NumberSpace)
    (True, False)
    """
    return capability(piece, wanted) is not None


def ability(piece: object, wanted: Callable[..., C]) -> C:
    """The piece as a capability that it is known to have."""
    found = capability(piece, wanted)
    assert found is not None
    return found


def has_method(value: object, method: str) -> bool:
    """Whether a user's own object, which is no class, has this method: it is checked once, where it is passed in."""
    return not isinstance(value, type) and callable(getattr(value, method, None))


def meant(kind: str, value: Piece, table: Mapping[str, Callable[..., Piece]], *methods: str) -> Piece:
    """The piece that a user means: an object unchanged, or the piece of a table with this name and its defaults.

    >>> from linnaeus.regularizers import REGULARIZERS
    >>> meant("regularizer", "l1", REGULARIZERS, "prox")
    L1(strength=1.0)
    """
    if isinstance(value, str):
        if value not in table:
            raise UsageError(f"There is no {kind} {value!r}; {did_you_mean(value, table, 'an object of your own')}")
        return table[value]()
    if not all(has_method(value, method) for method in methods):
        wanted = " and a method ".join(methods)
        raise InputTypeError(
            f"{kind} takes a plain name ({', '.join(table)}) or an object with a method {wanted}, not {value!r}."
        )
    return value


def to_manifest(piece: Piece, table: Mapping[str, Callable[..., Piece]]) -> dict[str, Json]:
    """The plain name of a piece of a table and its settings, as JSON; a user's own piece is refused.

    >>> from linnaeus.regularizers import L1, REGULARIZERS
    >>> to_manifest(L1(0.5), REGULARIZERS)
    {'kind': 'l1', 'strength': 0.5}
    """
    own = type(piece)
    kind = places(table).get((own.__module__, own.__qualname__))
    if kind is None:
        raise UsageError(
            f"A model file holds no code, so your own {own.__name__} cannot be saved; use {', '.join(table)}."
        )
    settings = {field.name: getattr(piece, field.name) for field in fields(piece)}
    return {"kind": kind, **{name: list(item) if isinstance(item, tuple) else item for name, item in settings.items()}}


class Fused(Protocol):
    """A capability that is a compiled path: a subclass does not inherit it."""


class SparseRows(Protocol):
    """Rows without zeros."""

    @property
    def arrays(self) -> Sparse:
        """Offsets, columns and values."""

    @property
    def nnz(self) -> int:
        """The number of stored values."""


class TakesMatrices(Protocol):
    """Fitted features that are the columns of a matrix."""

    def adopt(self, source: Source) -> Material:
        """A matrix in memory as a batch of rows; other data as they are."""


class LossShape(Protocol):
    """A loss that says what is known of its shape. Of others nothing is taken for granted."""

    @property
    def convex(self) -> bool:
        """Whether it is convex in the scores."""

    @property
    def smooth(self) -> bool:
        """Whether it has a gradient everywhere."""

    @property
    def attained(self) -> bool:
        """Whether it has a minimum; if it only tends to zero, there is none on separable data."""


class NewtonLoss(Protocol):
    """A loss with second derivatives, for second-order solvers."""

    def curvature(self, space: OutputSpace, S: Doubles, y: Truth) -> Callable[[Doubles], Doubles]:
        """The product of the Hessian in the scores with V (n, w), as a function of V."""


class ScalarForm(Protocol):
    """A loss that is a function of one number: of a margin, or of a residual. Structured losses are on two outputs."""

    @property
    def decreasing(self) -> bool:
        """Whether it falls with its argument, as losses of a margin do."""

    def value(self, m: Doubles) -> Doubles:
        """The loss of each number."""

    def slope(self, m: Doubles) -> Doubles:
        """The derivative of `value`; at a kink, any number between the slopes of the two sides."""

    def curve(self, m: Doubles) -> Doubles:
        """The second derivative of `value`, of a loss that is a `NewtonLoss`."""

    def conjugate(self, a: Doubles) -> Doubles | None:
        """Sup over m of a m - value(m), for slopes a, used for duality gaps. None: not known in closed form."""

    def view(self, space: OutputSpace, S: Doubles, y: Truth) -> Margins:
        """The margins or residuals of these scores."""


class MarginForm(ScalarForm, Protocol):
    """A function of the margin alone: in a joint space, of the score of the truth minus that of its best rival."""


class PointForm(ScalarForm, Protocol):
    """A function of the residual s - y, for numbers."""


class SquaredForm(ScalarForm, Protocol):
    """The square of its argument, so that linear equations give the optimum."""


class OracleLoss(Protocol):
    """A structured loss: an upper oracle of the output space minus gold."""

    def upper(self, space: OutputSpace, S: Doubles, y: Truth) -> Answer:
        """The value that is compared with gold, and its gradient."""


class CostFree(Protocol):
    """A loss that does not look at costs."""


class Chances(Protocol):
    """A loss whose scores say a probability."""

    def chance(self, s: Doubles) -> Doubles:
        """The probability of class 1 at score s."""


class ModelChances(Protocol):
    """A fitted learner whose scores say probabilities."""

    def chances(self, S: Doubles) -> Doubles:
        """The probabilities of classes or labels (n, k) at these scores."""


class RanksLabels(Protocol):
    """A fitted learner that finds the best labels of rows among very many; nothing it gives has a number for each."""

    @property
    def names(self) -> LabelNames:
        """The names of all labels."""

    @property
    def nbytes(self) -> int:
        """Bytes of the weights."""

    def best(self, rows: CSR, count: int, beam: int | None = None) -> tuple[Ints, Floats]:
        """The best labels of each row, best first, and their scores (n, count); -1 where there are no more."""

    def chances(self, scores: Floats) -> Doubles:
        """The chance of each of a row's best labels to be right, from their scores."""

    def verify(self) -> None:
        """Check everything that else is checked when it is first used."""


class KeepsRows(Protocol):
    """A fitted learner that holds rows of the training data."""

    @property
    def keeps_rows(self) -> int:
        """The number of training rows in the model."""


class CountsOn(Protocol):
    """A fitted learner that is as if it had been trained on old and new rows together; two of them can be added."""

    def widen(self, columns: Longs, k: int) -> CountsOn:
        """The same among k classes, of which its own are these columns."""

    def update(self, lesson: Lesson) -> Model:
        """The model of the old rows and these."""

    def __add__(self, other: CountsOn) -> Model:
        """The model of the rows of both."""


class LearnsTags(Protocol):
    """A learner of sequences: it learns to score the tags of tokens, and transitions between tags."""

    def learn_tags(self, lesson: GroupedLesson) -> FittedTagger:
        """Learn from the rows of tokens and their tags."""


class UpdatesTags(Protocol):
    """A learner of sequences that can go on from its weights with more sentences."""

    def update_tags(self, lesson: GroupedLesson, start: ChainWeights) -> ChainWeights:
        """The weights after one epoch over these sentences."""


class FittedTagger(Protocol):
    """A fitted learner of sequences: it scores the tags of tokens; its transitions find the tags of a sentence."""

    @property
    def transitions(self) -> Transitions:
        """How tags follow each other."""

    def fits(self, width: int, k: int) -> bool:
        """Whether it reads so many features and scores so many tags."""

    def emissions(self, features: FittedTemplates, sentences: Sentences) -> Floats:
        """The scores (m, k) of each tag at each token, without transitions."""

    def effects(self, features: FittedTemplates, sentences: Sentences, token: int) -> list[Effect]:
        """What features add to the scores of one token, counted over all sentences.

        They add up to the scores, unless it is `Occluded`.
        """


class Occluded(Protocol):
    """A fitted learner whose effects of features are approximate: each is the score minus that without the feature."""


class LearnsCandidates(Protocol):
    """A learner that scores the candidates of examples."""

    def learn_candidates(self, lesson: GroupedLesson, start: FittedCandidates | None = None) -> FittedCandidates:
        """Learn from the rows of candidates; `start` is what the same lesson gave with another strength."""


class FittedRanker(Protocol):
    """A fitted learner that scores the rows of candidates, in one column."""

    def ranks(self, width: int) -> bool:
        """Whether it reads so many features, and gives one score."""

    def scores(self, X: Rows) -> Doubles:
        """The scores of candidates (m, 1)."""


class LearnsTrees(Protocol):
    """A learner of dependency trees: it learns weights of arcs and of their relations."""

    def learn_trees(
        self, bank: Treebank, seed: int = 0, told: Told | None = None, kept: Part | None = None
    ) -> TreeWeights:
        """Learn from sentences with their features, heads and relations."""


class UpdatesTrees(Protocol):
    """A learner of dependency trees that can go on from its weights with more sentences."""

    def update_trees(self, bank: Treebank, start: TreeWeights, seed: int = 0, told: Told | None = None) -> TreeWeights:
        """The weights after one epoch over these sentences."""


class DualLoss(Fused, Protocol):
    """A loss with a fused dual step for binary problems."""

    @property
    def dual(self) -> str:
        """Its name among `optimizers.dual.binary.LOSSES`."""


class JointDualLoss(Fused, Protocol):
    """A loss with a fused dual step for all classes of an example together."""

    @property
    def joint(self) -> str:
        """Its name among `optimizers.dual.ascent.FAMILIES`."""


class OnlineLoss(Fused, Protocol):
    """A loss that the fused learners of single examples know."""

    @property
    def online(self) -> int:
        """Its number in `kernels.online.LOSSES`."""


class ProductSpace(Protocol):
    """An output space with independent binary parts, each a problem of its own."""

    def signs(self, y: Truth, w: int) -> Doubles:
        """+1 for yes, -1 for no, 0 if the part is ignored (n, w)."""

    def sides(self, y: Truth, which: range, w: int) -> list[tuple[Ints, Ints]]:
        """The positive and the negative rows of some of the w parts."""


class JointSpace(Protocol):
    """One class of k, all scored together."""

    def head_starts(self, k: int) -> Doubles:
        """The cost matrix with a row for each true class (k, k)."""


class CostSpace(Protocol):
    """An output space that takes a matrix of costs."""

    @property
    def costs(self) -> CostTable | None:
        """The costs of mistakes; None if all are 1."""


class CurvedSpace(Protocol):
    """An output space whose soft maximum has a known Hessian."""

    def soft_dot(self, S: Doubles, V: Doubles, y: Truth) -> Doubles:
        """The Hessian of `soft` times V (n, w): the change of the marginals if the scores change along V."""


class NumberSpace(Protocol):
    """An output space of numbers: it takes losses that are a `PointForm`."""


class OneScore(Protocol):
    """An output space of two classes with one score, positive for the second."""


class SetSpace(Protocol):
    """An output space of label sets; the true outputs are `LabelSets`."""


class GroupedSpace(Protocol):
    """An output space whose examples have several rows of scores; the true outputs have `offsets`."""


class SharedScores(Protocol):
    """A grouped space with scores that all examples share, as the transitions of a chain."""

    def shared(self, k: int) -> int:
        """The number of these score rows."""


class ChanceSpace(Protocol):
    """An output space whose scores can say the probabilities of classes or labels."""

    def probabilities(self, S: Doubles, chance: Callable[[Doubles], Doubles]) -> Doubles:
        """P (n, k), from the scores and the chance of one score: that of the loss they were learned with."""


class ClassScores(Protocol):
    """An output space whose scores are not those of the classes: pairs of classes vote."""

    def class_scores(self, S: Doubles) -> Doubles:
        """Scores of the classes (n, k)."""


class PathSpace(Protocol):
    """An output space whose examples look at a few of many scores: those on the path of their class in a tree."""

    def paths(self, y: Truth, w: int) -> tuple[Longs, Ints, Array]:
        """Offsets, the scores that each example looks at, and their signs: +1 for yes, -1 for no."""


class FrequencySpace(Protocol):
    """An output space that is built from the number of training rows of each class."""

    def with_counts(self, counts: Longs) -> OutputSpace:
        """The space of classes with so many rows."""


class Readout(Protocol):
    """An output space whose class scores, or their sums, are linear in its scores."""

    def readout(self, k: int) -> Doubles:
        """The matrix (w, k) from scores to class scores."""


class ListedSpace(Fused, Protocol):
    """An output space that the fused learners of single examples know."""

    def label_lists(self, y: Truth, w: int) -> LabelLists:
        """The true outputs in the form of the kernels."""


class SeparablePenalty(Protocol):
    """A penalty on single weights: l2/2 w^2 + l1 |w|."""

    @property
    def l1(self) -> float:
        """The factor of |w|."""

    @property
    def l2(self) -> float:
        """The factor of w^2 / 2."""

    def charge(self, W: Doubles, G: Doubles) -> float:
        """Add the subgradient to G and return the value, in one pass over the weights."""


class StepwiseSolver(Protocol):
    """An optimizer that can continue with more examples, as in a stream."""


class StochasticSolver(Protocol):
    """A step-wise optimizer whose iterates can be averaged."""

    def refuse(self, objective: Objective) -> str | None:
        """As `Solver.refuse`."""

    def descent(self, objective: Objective, start: Start, averaged: bool) -> Run:
        """Start a run."""


class RatedSolver(Protocol):
    """A stochastic optimizer with a learning rate."""

    @property
    def rate(self) -> float:
        """The learning rate."""

    @property
    def schedule(self) -> Schedule | str:
        """How the learning rate changes: a factor for each step."""

    @property
    def batch(self) -> int:
        """Examples in a step."""


class AveragingSolver(Protocol):
    """An optimizer that averages the iterates of another."""

    @property
    def inner(self) -> Solver | str:
        """The optimizer that is averaged."""


class HeldOutSchedule(Protocol):
    """A learning rate schedule that follows held-out scores."""


class OwnTolerance(Protocol):
    """An optimizer that decides by itself when a problem is solved."""

    def with_tol(self, tol: float) -> Solver:
        """The same with this tolerance."""


class FusedRule(Fused, Protocol):
    """A rule with a fused kernel for single examples."""

    @property
    def online(self) -> OnlineKernel | None:
        """How the kernel runs, if it takes these settings: see `optimizers.fused_steps`."""


class EpochPenalty(Protocol):
    """A rule that takes care of the penalty itself, once in an epoch."""

    def charge(self, epoch: int, params: Params, state: Params) -> Rule:
        """The rule of this epoch; changes the weights in place."""


class LearnsRows(Protocol):
    """A learner that is not trained by gradients (counting, neighbors, kernels, trees): a frozen dataclass.

    A learner with a hyper-parameter to tune has `strength` and `with_strength(strength)`, as regularizers do.
    """

    @property
    def answers(self) -> tuple[str, ...]:
        """The kinds of labels it can learn: some of "classes", "sets" and "numbers"."""

    def learn(self, lesson: Lesson) -> Model:
        """Learn from rows and labels; the same lesson always gives the same model."""


class MinimizesLoss(Protocol):
    """A learner of rows that minimizes a loss over an output space: an embedding bag, a network.

    Its fields `loss`, `output`, `costs` and `class_weight` mean what they mean to the linear engine, and `settings`
    has them. The scores of its fitted model are those of the output space: it is a `SpaceScores`.
    """

    def settings(self, seed: int) -> SimpleNamespace:
        """The fields as `learners.linear.problems.posed` takes them."""


class SpaceScores(Protocol):
    """A fitted learner whose scores (n, w) are those of its output space, not of classes."""


class RowWeights(Protocol):
    """A fitted learner whose score of a row is a sum over its features, with weights that depend on the row."""

    @property
    def exact(self) -> bool:
        """Whether it is one with these settings."""

    def row_weights(self, X: CSR) -> tuple[Doubles, Doubles]:
        """For a matrix of one row: a weight (f, w) for each of its values, and the bias (w,)."""


class LearnsSequences(Protocol):
    """A learner that reads words in their order: it needs features whose rows are `ordered`."""

    def reading(self, features: Piece) -> Piece:
        """The features that it reads: words for which it is given vectors have columns, too."""


class PositiveSimilarity(Protocol):
    """A similarity that knows whether its kernel matrices are positive semidefinite; of others they are tested."""

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semidefinite."""


class HashedColumns(Protocol):
    """Fitted features whose terms share columns by their hash."""

    def crowding(self) -> Crowding:
        """How many terms share how many columns."""
