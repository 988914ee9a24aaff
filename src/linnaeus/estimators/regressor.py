"""`LinearRegressor`: numbers from a matrix, one target or several, as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import RegressorMixin

from linnaeus.arrays.conversion import refuse_gaps, unmasked
from linnaeus.arrays.weights import sample_weights
from linnaeus.errors import DataError
from linnaeus.estimators.face import LinearFace
from linnaeus.learners.linear.solving import Problem
from linnaeus.learners.linear.streaming import standing
from linnaeus.outputs import Real
from linnaeus.types import Array, Doubles, Floats, Label, Matrix, Piece, Source

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from linnaeus.arrays import CSR, Dense

NO_NUMBERS = "The targets of a regressor are numbers; convert them, or use LinearClassifier for labels."


@dataclass(eq=False, repr=False, kw_only=True)
class LinearRegressor(RegressorMixin, LinearFace):  # type: ignore[misc]
    """Minimizes sum_i weight_i loss(x_i W + b - y_i) + regularizer(W): least squares, ridge, lasso, robust regression.

    The parameters are those of `LinearClassifier`; the losses are "squared", "absolute" and "huber". The default is
    ridge regression; regularizer="none" gives ordinary least squares, w = (X'X)^-1 X'y.

    >>> X, y = np.array([[0.0], [1.0], [2.0]]), [1.0, 3.0, 5.0]
    >>> LinearRegressor(regularizer="none").fit(X, y).predict([[3.0]]).round(3).tolist()
    [7.0]
    """

    loss: Piece = "squared"

    def fit(self, X: Matrix, y: Label, sample_weight: Source = None) -> Self:
        """Train on rows X (n, d) and their targets y (n,) or (n, targets)."""
        rows, seen = self._learned(X)
        problem, single = posed(rows, y, sample_weight)
        return self._solve(problem, {**seen, "one_target_": single})

    def partial_fit(self, X: Matrix, y: Label, sample_weight: Source = None) -> Self:
        """Continue training on one more batch of a stream, with a stochastic optimizer."""
        params, memory = standing(self)
        rows, seen = self._learned(X) if params is None else (self._checked(X), {})
        problem, single = posed(rows, y, sample_weight)
        if params is not None and problem.k != params["W"].shape[1]:
            raise DataError(f"y has {problem.k} targets, but earlier batches had {params['W'].shape[1]}.")
        return self._go_on(problem, (params, memory), {**seen, "one_target_": single})

    def predict(self, X: Matrix) -> Doubles:
        """Predict one number or several for each row; the shape is that of the targets in `fit`."""
        S = self._scores(X)
        return S[:, 0] if self.one_target_ else S

    @property
    def coef_(self) -> Floats:
        """The weights as scikit-learn lays them out: (d,) for one target, else (targets, d)."""
        self._expect_fit("coef_")
        return self.params_["W"][:, 0] if self.one_target_ else self.params_["W"].T

    @property
    def intercept_(self) -> Floats:
        """The bias: a number for one target; zero without a bias."""
        found = super().intercept_
        return found[0] if self.one_target_ else found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


def posed(rows: CSR | Dense, y: Label, sample_weight: Source) -> tuple[Problem, bool]:
    """Checked data without rows of weight 0, and whether y has one number for each row rather than a table."""
    targets = _numbers(y, rows.shape[0])
    weights = sample_weights(sample_weight, rows.shape[0])
    table = targets.reshape(len(targets), -1)
    problem = Problem(rows, table, weights, Real(), table.shape[1])
    return problem if weights.all() else problem.take(np.flatnonzero(weights)), targets.ndim == 1


def _numbers(y: Label, n: int) -> Doubles:
    """Finite targets, one row each."""
    if y is None:
        raise DataError("This learner requires y to be passed, but the target y is None; give one number for each row.")
    given = _array(unmasked(y))
    if given.ndim:
        refuse_gaps(given, "target")
    if given.dtype.kind in "USmM" or (given.dtype.kind == "O" and any(isinstance(t, str | bytes) for t in given.flat)):
        raise DataError(NO_NUMBERS)
    try:
        targets = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(NO_NUMBERS) from error
    if targets.ndim not in (1, 2) or len(targets) != n:
        raise DataError(f"X has {n} rows, but y has the shape {targets.shape}; give one number (or row) for each.")
    return targets


def _array(y: Label) -> Array:
    try:
        return np.asarray(y)
    except ValueError as error:
        raise DataError("The targets are rows of different length; give one number (or row) for each.") from error
