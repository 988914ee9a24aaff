"""Gaussian process classification by Laplace's approximation: probabilities with their uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.arrays.numerics import sigmoid, single_blas
from linnaeus.arrays.stored_rows import pack_rows, unpack_rows
from linnaeus.errors import DataError, damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.base import FittedModel, kind_of, tensors_of
from linnaeus.learners.kernel_methods.expansion import KernelLearner, compared, gram, heads, is_pair, opposed
from linnaeus.protocols import KeepsRows, ModelChances, Rows, Similarity
from linnaeus.similarities import describe, described
from linnaeus.types import Doubles, Lesson, Longs, Piece, State

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel


WIDTHS = np.array([0.41, 0.4, 0.37, 0.44, 0.39])
PARTS = np.array([-1854.8214151, 3516.89893646, 221.29346712, 128.12323805, -2010.49422654])
"""The sigmoid as a sum of error functions (Williams and Barber 1998), with the constants of scikit-learn."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """At the mode: duals y - p (n,), T = L^-1 W^(1/2) (n, n) with L L' = I + W^(1/2) K W^(1/2); a bias for log-odds."""

    duals: Doubles
    square: Doubles
    bias: float = 0.0


def posterior(K: Doubles, y: Doubles) -> Posterior:
    """The posterior of labels +1 and -1 under the covariance K; if all labels are equal, only a bias."""
    from scipy.linalg import solve_triangular
    from sklearn.gaussian_process import GaussianProcessClassifier

    n = len(K)
    if abs(y.sum()) == n:
        return Posterior(np.zeros(n), np.zeros((n, n)), float(y[0] * np.log(2 * n + 1)))
    with single_blas():
        process = GaussianProcessClassifier(kernel=_given(K), optimizer=None)
        found = process.fit(np.arange(n)[:, None], y).base_estimator_
        square = solve_triangular(found.L_, np.diag(found.W_sr_), lower=True, check_finite=False)
    return Posterior(found.y_train_ - found.pi_, np.ascontiguousarray(square))


def chance(mean: Doubles, variance: Doubles) -> Doubles:
    """The average of sigmoid(f) over a normal f (n,).

    >>> chance(np.array([0.0, 2.0]), np.array([1.0, 0.0])).round(3).tolist()
    [0.5, 0.881]
    """
    from scipy.special import erf

    slopes = WIDTHS / np.sqrt(1 + 2 * variance[:, None] * WIDTHS**2)
    terms = PARTS * (erf(mean[:, None] * slopes) + 1)
    return terms.sum(axis=1) / 2


def _given(K: Doubles) -> Kernel:
    """A scikit-learn kernel that looks up a given matrix: its inputs are row numbers."""
    from sklearn.gaussian_process.kernels import Kernel

    class Given(Kernel):  # type: ignore[misc]
        """The matrix; there are no parameters to tune."""

        def __init__(self) -> None:
            self.K = K

        def __call__(
            self, X: Longs, Y: object = None, eval_gradient: bool = False
        ) -> Doubles | tuple[Doubles, Doubles]:
            return (self.K, np.zeros((*K.shape, 0))) if eval_gradient else self.K

        def diag(self, X: Longs) -> Doubles:
            return np.diagonal(self.K)

        def is_stationary(self) -> bool:
            return False

        def __sklearn_clone__(self) -> Given:
            return self

    return Given()


MOST = 2_000
"""Most rows; the model keeps an n by n matrix for each class."""
CELLS = 1 << 27
"""Most numbers in all matrices: 1 GB."""
SURE = 1e-9
"""No probability is nearer to 0 or 1, because the formula is accurate to about 0.001."""
FORMS = ("pair", "classes", "sets")


@dataclass(frozen=True, kw_only=True)
class GaussianProcess(KernelLearner):
    """Gaussian process f with covariance k / strength; p(yes | x) is the posterior mean of sigmoid(f(x)).

    It uses Laplace's approximation of the posterior, as scikit-learn's GaussianProcessClassifier does, but does not
    optimize kernel parameters (cross-validation tunes the strength). More than two classes are one-vs-rest problems.
    With the RBF kernel, the probability is 1/2 far from all training rows. Training takes n^3 time and 8 n^2 bytes of
    memory for each class; a prediction takes n^2 time.

    Rasmussen and Williams, "Gaussian processes for machine learning", 2006, chapter 3.

    >>> from linnaeus import MatrixClassifier
    >>> xor = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> model = MatrixClassifier(learner=GaussianProcess(kernel="rbf", strength=0.01)).fit(*xor)
    >>> model.predict_proba([[0.0, 1.0], [50.0, 50.0]]).round(2).tolist()
    [[0.26, 0.74], [0.5, 0.5]]
    """

    tuned: ClassVar[str | None] = "strength"

    kernel: Piece = "rbf"
    strength: float = 0.1

    def learn(self, lesson: Lesson) -> FittedProcess:
        """Find the mode of the posterior of each binary problem."""
        H = heads(lesson.y, lesson.k)
        _refuse(lesson, H.shape[1])
        K = gram(self.kernel, lesson.X) / self.strength
        found = [posterior(K, H[:, head]) for head in range(H.shape[1])]
        duals, squares = np.stack([part.duals for part in found], axis=1), np.stack([part.square for part in found])
        form = "pair" if is_pair(lesson.y, lesson.k) else kind_of(lesson.y)
        bias = np.array([part.bias for part in found])
        return FittedProcess(self.kernel, lesson.X, duals, squares, bias, float(self.strength), form)


def _refuse(lesson: Lesson, count: int) -> None:
    n = lesson.X.shape[0]
    if n > MOST or count * n * n > CELLS:
        raise DataError(
            f"A Gaussian process of {n:,} rows and {count:,} {'problem' if count == 1 else 'problems'} is too large "
            f"({MOST:,} rows, and 1 GB for {CELLS:,} numbers, are the most); give fewer rows, or use KernelSVM."
        )
    if (lesson.weights != 1).any():
        raise DataError("GaussianProcess takes no row weights; leave them out, or use KernelSVM.")


@dataclass(frozen=True, eq=False)
class FittedProcess(FittedModel):
    """A fitted Gaussian process: training rows (m, d), coefficients y - p (m, h), and T (h, m, m).

    The variance of f(x) is k(x, x) - |T k(rows, x)|^2.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("gaussian-process").fit(texts, labels)
    >>> isinstance(model.model_.body, FittedProcess), model.predict(["good"]).tolist()
    (True, ['pos'])
    """

    provides: ClassVar[tuple[type, ...]] = (ModelChances, KeepsRows)

    kernel: Similarity
    rows: CSR | Dense
    duals: Doubles
    squares: Doubles
    bias: Doubles
    strength: float
    form: str

    @property
    def keeps_rows(self) -> int:
        """The number of training rows in the model."""
        return len(self.rows)

    def scores(self, X: Rows) -> Doubles:
        """Log-odds of the probabilities (n, k); for two classes, minus and plus one half of them."""
        Z = np.empty((X.shape[0], self.duals.shape[1]))
        own = self.kernel.diagonal(X) / self.strength
        for start, K in compared(self.kernel, X, self.rows):
            K /= self.strength
            part = slice(start, start + len(K))
            means = Dense(K).dot(self.duals)
            for head, T in enumerate(self.squares):
                found = own[part] - Dense(Dense(K).dot(np.ascontiguousarray(T.T))).squares()
                P = np.clip(chance(means[:, head], np.maximum(found, 0.0)), SURE, 1 - SURE)
                Z[part, head] = np.log(P / (1 - P)) + self.bias[head]
        return opposed(Z) if self.form == "pair" else Z

    def chances(self, S: Doubles) -> Doubles:
        """Class probabilities (n, k) for these scores; one-vs-rest probabilities are scaled to sum 1."""
        if self.form == "pair":
            return sigmoid(np.stack([S[:, 0] - S[:, 1], S[:, 1] - S[:, 0]], axis=1))
        P = sigmoid(S)
        return P if self.form == "sets" else P / P.sum(axis=1, keepdims=True)

    def state(self) -> State:
        """The kernel, the rows and the posterior."""
        rows = pack_rows("rows", self.rows)
        told = {"kind": "process", "kernel": describe(self.kernel), "strength": self.strength, "form": self.form}
        return State(
            {**told, **rows.manifest},
            {**rows.tensors, "duals": self.duals, "squares": self.squares, "bias": self.bias},
        )

    @classmethod
    def from_state(cls, state: State) -> FittedProcess:
        """Restore the model from its stored state."""
        rows, form = unpack_rows("rows", state), state.manifest.get("form")
        duals, squares, bias = tensors_of(
            state, "posterior distributions", {"duals": "mh", "squares": "hmm", "bias": "h"}
        )
        if len(rows) != len(duals) or (form == "pair" and len(bias) != 1):
            raise damaged("its posterior does not match its rows")
        strength = state.manifest.get("strength")
        if form not in FORMS or not isinstance(strength, int | float) or not 0 < strength < np.inf:
            raise damaged("the kind of its posterior is unknown")
        return cls(described(state.manifest.get("kernel")), rows, duals, squares, bias, float(strength), form)
