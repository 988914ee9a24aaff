"""The constitution: what a piece of each kind answers. Protocols are structural; nothing inherits from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

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
    """Examples that can be walked over more than once, in batches that fit in memory. A `Corpus` is one."""

    def batches(self) -> Iterator[Batch]:
        """The rows in order; the cut into batches never changes a result."""
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
        """X.T @ D  (d, k), in `out` where that is given."""
        ...

    def take(self, rows: NDArray[np.integer[Any]]) -> Rows:
        """These rows, in this order."""
        ...

    def rows_slice(self, start: int, stop: int) -> Rows:
        """Rows start to stop, without a copy of their values."""
        ...


class Extractor(Protocol):
    """A recipe for features: a frozen dataclass whose fields are its hyper-parameters."""

    def fit(self, stream: Stream) -> Features:
        """Learn what has to be learned (a vocabulary, a mean) in one or more walks over the stream."""
        ...


class Features(Protocol):
    """A fitted extractor, frozen: the same batch always gives the same rows."""

    @property
    def width(self) -> int:
        """How many columns."""
        ...

    def rows(self, batch: Batch) -> CSR:
        """The features of each row of the batch (len(batch), width)."""
        ...

    def names(self) -> Sequence[str]:
        """A readable name for each column."""
        ...

    def places(self, batch: Batch) -> list[list[Place]]:
        """For each row, which characters of its text each feature came from: the inverse map."""
        ...

    def state(self) -> State:
        """Manifest and tensors that build this again; see `linnaeus.features.restore`."""
        ...


class OutputSpace(Protocol):
    """Answers the four questions about scores S (n, w); w is the width of k classes. The truth y breaks ties.

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
        """How the marginals move when the scores move along V: the Hessian of `soft` times V (n, w)."""
        ...

    def cost(self, S: Doubles, y: Truth) -> Answer:
        """What each wrong part costs, so that best(S + parts) + value is the loss-augmented maximum."""
        ...

    def margins(self, S: Doubles, y: Truth) -> Margins:
        """Distances from a mistake: one for each binary of a product, gold minus best rival for a joint space."""
        ...

    def residuals(self, S: Doubles, y: Truth) -> Margins:
        """Scores minus targets: the numbers themselves, or +1 and -1 for yes and no."""
        ...

    def decode(self, S: Doubles) -> NDArray[Any]:
        """The predicted output of each row: class indices, an indicator matrix, or numbers."""
        ...


class Loss(Protocol):
    """How bad scores are for a truth, per example; convex in the scores unless it says otherwise."""

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
        """Where W has moved after this time along -grad of the penalty; flows compose, so lazy equals eager."""
        ...


class Objective(Protocol):
    """sum_i weight_i loss_i + strength R(w): what an optimizer sees of a problem. Made in `erm.objective`."""

    @property
    def X(self) -> Rows:  # noqa: N802
        """The features (n, d)."""
        ...

    @property
    def y(self) -> Any:
        """The truth: class indices, `LabelSets` or numbers."""
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
        """What each row counts (n,)."""
        ...

    @property
    def k(self) -> int:
        """Classes, labels or targets."""
        ...

    @property
    def width(self) -> int:
        """Score columns."""
        ...

    @property
    def bias(self) -> str:
        """One of "free", "regularized" and "none"."""
        ...

    @property
    def penalized(self) -> tuple[str, ...]:
        """The parameters the regularizer looks at."""
        ...

    @property
    def rowwise(self) -> bool:
        """Whether each example is one row of scores; sequences and candidates have several."""
        ...

    def weighed(self, D: Doubles, weights: Doubles) -> Doubles:
        """Gradients in the scores, each times the weight of its example."""
        ...

    def mistakes(self, S: Doubles, y: Any) -> float:
        """Examples whose truth is not the only best output; a tie is a mistake."""
        ...

    def by_columns(self) -> Objective:
        """The same objective, faster for many products, for the memory of a copy of the matrix."""
        ...

    @property
    def smooth(self) -> bool:
        """Whether the sum of losses has a gradient everywhere."""
        ...

    @property
    def ridge(self) -> float | None:
        """The strength of the penalty where it is strength / 2 ||w||^2 and nothing else, or zero."""
        ...

    @property
    def convex(self) -> bool:
        """Whether the sum of losses is convex in the parameters."""
        ...

    def penalty(self, params: Params) -> float:
        """What the regularizer charges."""
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
        """The objective, and a (sub)gradient of all of it, in `out` where that is given."""
        ...

    def smooth_and_grad(self, params: Params) -> tuple[float, Params]:
        """The sum of losses alone, and its gradient: for solvers that handle the penalty by its prox."""
        ...

    def hessp(self, params: Params) -> Callable[[Params], Params]:
        """The Hessian at these parameters as a function of a direction."""
        ...

    def polish(self, params: Params) -> Polished | None:
        """The same weights with their best bias, where it can be found; what certificates rest on."""
        ...


class Solver(Protocol):
    """Brings an objective down, and reports after each epoch or iteration; `report` may raise to end it.

    It returns when it can do no better. The answer of `report` is the held-out score, where there is one.
    """

    def refuse(self, objective: Objective) -> str | None:
        """Why it cannot work on this objective, in a sentence to which `erm.check` adds what would; None: it can."""
        ...

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Work until done, or until `report` raises."""
        ...


class Learner(Protocol):
    """A recipe for models that enter at scores (counting, neighbors, kernels, trees): a frozen dataclass.

    A learner with something to tune has `strength` and `with_strength(strength)`, as regularizers do.
    """

    @property
    def answers(self) -> tuple[str, ...]:
        """What truths it can learn: of "classes", "sets" and "numbers"."""
        ...

    def learn(self, lesson: Lesson) -> Model:
        """Learn from rows and their truth; the same lesson gives the same bits."""
        ...


class Model(Protocol):
    """A fitted learner, frozen: rows in, scores out; manifest and tensors build it again (`pipeline.bodies`)."""

    def scores(self, X: Rows) -> Doubles:
        """Scores of classes or labels (n, k), also where there are two classes; numbers (n, k)."""
        ...

    def linear(self) -> tuple[Doubles, Doubles] | None:
        """W (d, k) and b (k,), where `scores` is X W + b; else None."""
        ...

    def state(self) -> State:
        """Manifest with its `kind`, and tensors: finite numbers only."""
        ...


class Similarity(Protocol):
    """How alike two rows are: k(x, z) = phi(x) . phi(z) for some features phi, which are never made."""

    def matrix(self, A: Rows, B: Rows) -> Doubles:
        """Every row of A with every row of B (n, m), in memory of its own."""
        ...

    def diagonal(self, A: Rows) -> Doubles:
        """Every row with itself (n,)."""
        ...

    def weights(self, rows: Rows, duals: Doubles) -> tuple[Doubles, Doubles] | None:
        """W (d, k) and b (k,) with sum_i k(rows_i, x) duals_i = x W + b, where there are such; else None."""
        ...


class Rule(Protocol):
    """A first-order update. It touches only the rows of a gradient, unless `eager` says that all rows move."""

    @property
    def eager(self) -> bool:
        """Whether rows without a gradient move too."""
        ...

    def begin(self, params: Params) -> Params:
        """Accumulators for each parameter, as named arrays."""
        ...

    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Move `params[name]` (in place) against the gradient."""
        ...

    def pace(self, name: str, state: Params, rows: Any) -> Any:
        """How much slower than the rate these rows move: the regularizer's time is scaled by it."""
        ...
