"""The interfaces of all components. Protocols are structural; nothing inherits from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from linnaeus.arrays.csr import CSR
    from linnaeus.data.corpus import Batch
    from linnaeus.types import (
        Answer,
        Doubles,
        Lesson,
        Margins,
        Params,
        Place,
        Polished,
        RowGrad,
        Start,
        State,
        Step,
        Truth,
    )


class Stream(Protocol):
    """Examples that can be read more than once, in batches that fit in memory. A `Corpus` is one."""

    def batches(self) -> Iterator[Batch]:
        """The rows in order; the batch boundaries never change a result."""
        ...


class Rows(Protocol):
    """A matrix of features, by rows (n, d)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    def dot(self, W: NDArray[np.floating[Any]]) -> Doubles:
        """X @ W  (n, k)."""
        ...

    def tdot(self, D: NDArray[np.floating[Any]], out: Doubles | None = None) -> Doubles:
        """X.T @ D  (d, k), written to `out` if given."""
        ...

    def take(self, rows: NDArray[np.integer[Any]]) -> Rows:
        """These rows, in this order."""
        ...

    def rows_slice(self, start: int, stop: int) -> Rows:
        """Rows start to stop, without a copy of their values."""
        ...


class Extractor(Protocol):
    """A feature extractor: a frozen dataclass whose fields are its hyper-parameters."""

    def fit(self, stream: Stream) -> Features:
        """Learn the vocabulary or other parameters in one or more passes over the stream."""
        ...


class Features(Protocol):
    """A fitted feature extractor, frozen: the same batch always has the same rows."""

    @property
    def width(self) -> int:
        """The number of columns."""
        ...

    def rows(self, batch: Batch) -> CSR:
        """The features of each row of the batch (len(batch), width)."""
        ...

    def names(self) -> Sequence[str]:
        """A readable name for each column."""
        ...

    def places(self, batch: Batch) -> list[list[Place]]:
        """For each row, the positions of its features in the text."""
        ...

    def state(self) -> State:
        """Manifest and tensors from which this is restored; see `linnaeus.features.restore`."""
        ...


class OutputSpace(Protocol):
    """An output space: four functions of scores S (n, w) and true outputs y; w is the width of k classes.

    Ties go against the truth, so that a margin of zero counts as a mistake; `decode` takes the lowest class index.
    """

    def width(self, k: int) -> int:
        """Score columns for k classes (for real targets: k targets)."""
        ...

    def gold(self, S: Doubles, y: Truth) -> Answer:
        """Score of the true output, and its indicator parts."""
        ...

    def best(self, S: Doubles, y: Truth) -> Answer:
        """Maximum over outputs, and the maximizer's parts."""
        ...

    def soft(self, S: Doubles, y: Truth) -> Answer:
        """Log-sum-exp over outputs, and the marginals."""
        ...

    def soft_dot(self, S: Doubles, V: Doubles, y: Truth) -> Doubles:
        """The Hessian of `soft` times V (n, w): the change of the marginals if the scores change along V."""
        ...

    def cost(self, S: Doubles, y: Truth) -> Answer:
        """The cost of each wrong part, so that best(S + parts) + value is the loss-augmented maximum."""
        ...

    def margins(self, S: Doubles, y: Truth) -> Margins:
        """Margins: one for each binary part of a product, gold minus best rival for a joint space."""
        ...

    def residuals(self, S: Doubles, y: Truth) -> Margins:
        """Scores minus targets: the numbers themselves, or +1 and -1 for yes and no."""
        ...

    def decode(self, S: Doubles) -> NDArray[Any]:
        """The predicted output of each row: class indices, an indicator matrix, or numbers."""
        ...


class Loss(Protocol):
    """A loss of the scores and the true output of each example; convex in the scores unless stated otherwise."""

    def value_and_grad(self, space: OutputSpace, S: Doubles, y: Truth) -> tuple[Doubles, Doubles]:
        """Values (n,), and their gradient in the scores (n, w)."""
        ...


class Regularizer(Protocol):
    """A penalty on the weights W (d, w), strength included."""

    def value(self, W: Doubles) -> float:
        """Strength times R(W)."""
        ...

    def grad(self, W: Doubles) -> Doubles:
        """A subgradient of `value`."""
        ...

    def prox(self, W: Doubles, step: float) -> Doubles:
        """argmin_V  1/2 ||V - W||^2 + step * value(V)."""
        ...

    def flow(self, W: Doubles, time: Doubles | float) -> Doubles:
        """W after this time along -grad of the penalty; flows compose, so delayed updates give the same result."""
        ...


class Objective(Protocol):
    """sum_i weight_i loss_i + strength R(w): an objective, as optimizers use it. See `erm.objective`."""

    @property
    def X(self) -> Rows:  # noqa: N802
        """The features (n, d)."""
        ...

    @property
    def y(self) -> Any:
        """The true outputs: class indices, `LabelSets` or numbers."""
        ...

    @property
    def space(self) -> Any:
        """The output space."""
        ...

    @property
    def loss(self) -> Any:
        """The loss."""
        ...

    @property
    def regularizer(self) -> Any:
        """The penalty on the weights."""
        ...

    @property
    def weights(self) -> Doubles:
        """The row weights (n,)."""
        ...

    @property
    def k(self) -> int:
        """The number of classes, labels or targets."""
        ...

    @property
    def width(self) -> int:
        """The number of score columns."""
        ...

    @property
    def bias(self) -> str:
        """One of "free", "regularized" and "none"."""
        ...

    @property
    def penalized(self) -> tuple[str, ...]:
        """The names of the penalized parameters."""
        ...

    @property
    def rowwise(self) -> bool:
        """Whether each example is one row of scores; sequences and candidates have several."""
        ...

    def weighed(self, D: Doubles, weights: Doubles) -> Doubles:
        """Gradients in the scores, each times the weight of its example."""
        ...

    def mistakes(self, S: Doubles, y: Any) -> float:
        """The number of examples whose true output is not the single best one; a tie is a mistake."""
        ...

    def by_columns(self) -> Objective:
        """The same objective with a copy of the matrix, which makes many products faster."""
        ...

    @property
    def smooth(self) -> bool:
        """Whether the sum of losses has a gradient everywhere."""
        ...

    @property
    def ridge(self) -> float | None:
        """The strength of a pure L2 penalty, strength / 2 ||w||^2, or zero; None for other penalties."""
        ...

    @property
    def convex(self) -> bool:
        """Whether the sum of losses is convex in the parameters."""
        ...

    def penalty(self, params: Params) -> float:
        """The value of the regularizer."""
        ...

    def initial(self) -> Params:
        """Zeros of the right shapes: W (d, w), and b (w,) unless there is no bias."""
        ...

    def scores(self, X: Rows, params: Params) -> Doubles:
        """The scores of these rows (n, w)."""
        ...

    def value(self, params: Params) -> float:
        """The objective."""
        ...

    def value_and_grad(self, params: Params, out: Params | None = None) -> tuple[float, Params]:
        """The objective, and a (sub)gradient of it, written to `out` if given."""
        ...

    def smooth_and_grad(self, params: Params) -> tuple[float, Params]:
        """The sum of losses alone, and its gradient: for solvers that use the prox of the penalty."""
        ...

    def hessp(self, params: Params) -> Callable[[Params], Params]:
        """The Hessian at these parameters as a function of a direction."""
        ...

    def polish(self, params: Params) -> Polished | None:
        """The same weights with their optimal bias, for certificates; None if it cannot be found."""
        ...


class Solver(Protocol):
    """An optimizer: it minimizes an objective and reports after each epoch; `report` may raise to stop it.

    It returns when it cannot improve further. `report` returns the held-out score, if there is one.
    """

    def refuse(self, objective: Objective) -> str | None:
        """Why it cannot minimize this objective, as a sentence; `erm.check` adds alternatives. None if it can."""
        ...

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Minimize until done, or until `report` raises."""
        ...


class Learner(Protocol):
    """A learner that is not trained by gradients (counting, neighbors, kernels, trees): a frozen dataclass.

    A learner with a hyper-parameter to tune has `strength` and `with_strength(strength)`, as regularizers do.
    """

    @property
    def answers(self) -> tuple[str, ...]:
        """The kinds of labels it can learn: some of "classes", "sets" and "numbers"."""
        ...

    def learn(self, lesson: Lesson) -> Model:
        """Learn from rows and labels; the same lesson always gives the same model."""
        ...


class Model(Protocol):
    """A fitted learner, frozen: it computes scores of rows, and is restored by `learners.restore`."""

    def scores(self, X: Rows) -> Doubles:
        """Scores of classes or labels (n, k), also for two classes; predicted numbers (n, k)."""
        ...

    def linear(self) -> tuple[Doubles, Doubles] | None:
        """W (d, k) and b (k,), if `scores` is X W + b; else None."""
        ...

    def state(self) -> State:
        """Manifest with its `kind`, and tensors: finite numbers only."""
        ...


class Similarity(Protocol):
    """A kernel function of two rows: k(x, z) = phi(x) . phi(z) for some features phi, which are not computed."""

    def matrix(self, A: Rows, B: Rows) -> Doubles:
        """The kernel of every row of A with every row of B (n, m), in new memory."""
        ...

    def diagonal(self, A: Rows) -> Doubles:
        """The kernel of every row with itself (n,)."""
        ...

    def weights(self, rows: Rows, duals: Doubles) -> tuple[Doubles, Doubles] | None:
        """W (d, k) and b (k,) with sum_i k(rows_i, x) duals_i = x W + b, if they exist; else None."""
        ...


class Rule(Protocol):
    """A first-order update. It changes only the rows of a gradient, unless `eager` is true."""

    @property
    def eager(self) -> bool:
        """Whether rows without a gradient change too."""
        ...

    def begin(self, params: Params) -> Params:
        """Accumulators for each parameter, as named arrays."""
        ...

    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Update `params[name]` in place."""
        ...

    def pace(self, name: str, state: Params, rows: Any) -> Any:
        """The factor by which the updates of these rows are scaled; the regularizer's time is scaled by it too."""
        ...


class TaskLesson(Protocol):
    """What a task makes of its examples and a recipe: features, and a problem that learners can solve."""

    features: Any
    strata: Any
    """Classes, which keep their shares in every fold; None where there are none."""

    @property
    def folds(self) -> int:
        """The number of folds for data of this size; 1 holds out a share once."""
        ...

    def enough(self, rows: int, groups: int) -> bool:
        """Whether some of so many examples, which stay together in so many groups, can be held out."""
        ...

    def legs(self, split: Any, strengths: tuple[float, ...]) -> Iterator[Any]:
        """For each strength the answers to held-out examples by a model of the others, and how good they are."""
        ...

    def learn(self, learner: Any, progress: Any) -> Any:
        """The fields of the model of all examples."""
        ...


class Task(Protocol):
    """What an example is, what its truth is, and how an answer is said. Everything else asks the task.

    `models`, `data` and `usual` are for messages: what its models are called, what they learn from, its usual recipe.
    `stacks` says whether its answers can be columns of later stages, `texts` whether its examples are rows of text,
    `commands` what to try next with a model.
    """

    name: ClassVar[str]
    models: ClassVar[str]
    data: ClassVar[str]
    usual: ClassVar[str]
    stacks: ClassVar[bool]
    texts: ClassVar[bool]
    commands: ClassVar[tuple[str, ...]]

    def recognize(self, columns: Mapping[str, bool], text: str | None) -> bool:
        """Whether data with these columns (and whether each holds lists) look like this task."""
        ...

    def fitting(self, examples: Any) -> str:
        """The recipe for these examples if none is named."""
        ...

    def usual_features(self) -> Any:
        """The features of a recipe that names none."""
        ...

    def usual_learner(self) -> Any:
        """The learner of a recipe that names none."""
        ...

    def check(self, recipe: Any) -> None:
        """Refuse a recipe whose pieces are for other tasks."""
        ...

    def open(self, data: str, given: Mapping[str, Any], usual: Mapping[str, Any], labeled: bool = True) -> Any:
        """The data that a command names, in batches; `given` are arguments of `read`."""
        ...

    def of_text(self, text: str) -> Any:
        """One text as data."""
        ...

    def described(self, source: Any) -> str:
        """Which columns of the data hold what."""
        ...

    def examples(self, source: Any, truth: str | None = None) -> Any:
        """What is learned from; `truth` names the column of the truth."""
        ...

    def meant(self, examples: Any) -> Task:
        """The task that these examples are of: labels that are numbers make a regression."""
        ...

    def sound(self, examples: Any) -> Any:
        """The examples, if nothing about them is wrong."""
        ...

    def keyed(self, examples: Any, features: Any) -> Any:
        """The examples with keys of equal ones."""
        ...

    def grouped(self, examples: Any, by: str) -> Any:
        """The examples with the values of a column as groups, which are held out together."""
        ...

    def contents(self, examples: Any) -> Iterator[bytes]:
        """What tells these examples from others."""
        ...

    def sizes(self, examples: Any) -> dict[str, int]:
        """What is counted besides examples: tokens, candidates."""
        ...

    def lesson(self, recipe: Any, examples: Any) -> TaskLesson:
        """Features, rows and the problem to solve."""
        ...

    def settle(self, model: Any, examples: Any, held: Any) -> Any:
        """The model with what is learned from held-out examples: its decision and its evaluation."""
        ...

    def restore(self, state: State, functions: Any) -> Any:
        """The fitted features of a file."""
        ...

    def material(self, source: Any) -> Any:
        """Examples without truth, as the model takes them."""
        ...

    def units(self, model: Any, source: Any) -> Iterator[Any]:
        """Opened data in pieces that can be answered by themselves."""
        ...

    def scores(self, model: Any, material: Any) -> Doubles:
        """The scores behind the answers."""
        ...

    def predict(self, model: Any, material: Any, abstain: Any = None) -> Any:
        """What is said about each example; None where the model abstains."""
        ...

    def probabilities(self, model: Any, material: Any) -> Doubles:
        """Probabilities of all possible answers."""
        ...

    def rank(self, model: Any, material: Any, count: int) -> list[list[tuple[Any, float]]]:
        """The best answers to each example, best first."""
        ...

    def single(self, model: Any) -> Callable[[str], Any] | None:
        """A quick answer to one text, if there is one."""
        ...

    def refuse_wish(self, wish: Any) -> None:
        """Refuse what the answers of this task cannot have."""
        ...

    def columns(self, model: Any, batch: Any, wish: Any) -> Any:
        """The answers to a batch as Arrow columns."""
        ...

    def labeled(self, source: Any) -> Iterator[Any]:
        """Examples with their truth, in batches."""
        ...

    def observe(self, model: Any, batch: Any, abstain: Any = None) -> Any:
        """What evaluation needs to know of the answers to a batch, and of its truth."""
        ...

    def truth_of(self, batch: Any) -> Any:
        """The labels of a batch, as names."""
        ...

    def known_labels(self, model: Any) -> Any:
        """The labels that a model knows, as names; None where labels have none."""
        ...

    def columns_of(self, batch: Any) -> dict[str, Any]:
        """What the examples of a batch can be compared by."""
        ...

    def evaluated(self, model: Any) -> Any:
        """What is evaluated, as `linnaeus.evaluation.KINDS` calls it."""
        ...

    def explained(self, source: Any, rows: int) -> Iterator[tuple[Any, int]]:
        """The first examples of opened data to explain, each with the place in it."""
        ...

    def reasons(self, model: Any, row: Any, at: int, classes: Any, search: Any) -> Any:
        """Why this is the answer."""
        ...
