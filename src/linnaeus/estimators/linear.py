"""`LinearClassifier`: any loss, regularizer, optimizer and output space on a matrix, as a scikit-learn estimator."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from linnaeus.arrays.labels import Labels, encode, point
from linnaeus.arrays.weights import refuse_strangers, sample_weights
from linnaeus.decision import cheapest, expected_costs
from linnaeus.erm.pieces import piece
from linnaeus.errors import DataError, LinnaeusError
from linnaeus.estimators.face import Face, LinearFace, sets_score
from linnaeus.learners.linear.probabilities import chances, has_chances
from linnaeus.learners.linear.problems import posed
from linnaeus.learners.linear.solving import Problem
from linnaeus.learners.linear.streaming import merged, standing, widened
from linnaeus.protocols import ClassScores, OneScore, SetSpace, capability, has
from linnaeus.types import Array, Bools, Doubles, Label, Matrix, Piece, Source

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from linnaeus.arrays import CSR, Dense


def _knows_chances(face: ClassifierFace) -> bool:
    """Whether `predict_proba` has a meaning, before and after fitting; wrong parameters are for `fit` to refuse."""
    try:
        spec, space = face.composed(), face.__dict__.get("space_")
        if space is None and not (isinstance(spec.output, str) and spec.output == "auto"):
            space = piece("output", spec.output)
        return has_chances(piece("loss", spec.loss), space)
    except LinnaeusError:
        return False


class ClassifierFace(ClassifierMixin, Face):  # type: ignore[misc]
    """The common methods of classifiers: they take labels and return scores, probabilities and labels."""

    classes_: Array

    @abstractmethod
    def composed(self) -> LinearClassifier:
        """The equivalent `LinearClassifier`."""

    def recipe(self, **pieces: Piece) -> LinearClassifier:
        """A `LinearClassifier` with these pieces and all parameters that this estimator shares with it."""
        known = {field.name for field in fields(LinearClassifier)}
        return LinearClassifier(**{name: value for name, value in vars(self).items() if name in known} | pieces)

    def fit(self, X: Matrix, y: Label, sample_weight: Source = None) -> Self:
        """Train on rows X (n, d) and their labels: one for each row, lists of labels, or an indicator matrix."""
        spec = self.composed()
        rows, seen = self._learned(X)
        rows, labels, weights = examples(rows, y, sample_weight)
        refuse_strangers(spec.class_weight, labels.classes)
        problem = posed(spec, rows, labels, weights)
        return self._solve(problem, {**seen, **kinds(labels, problem)})

    def partial_fit(self, X: Matrix, y: Label, classes: Label = None, sample_weight: Source = None) -> Self:
        """Continue training on one more batch of a stream, with a step-wise optimizer ("auto" chooses one).

        `classes` lists classes that come later. Other new classes may still appear; their weights start at zero.
        """
        spec, known = self.composed(), "params_" in self.__dict__
        rows, seen = (self._checked(X), {}) if known else self._learned(X)
        rows, labels, weights = examples(rows, y, sample_weight)
        if known and labels.form != self.form_:
            raise DataError("The labels have a different form than in earlier batches; use one form for all batches.")
        labels = point(labels, merged(self, classes, labels.classes))
        problem = posed(spec, rows, labels, weights)
        params, memory = standing(self)
        if params is not None:
            wanted = problem.space, labels.classes
            params, memory = widened(params, memory, (self.space_, self.classes_), wanted)
        return self._go_on(problem, (params, memory), {**seen, **kinds(labels, problem)})

    def decision_function(self, X: Matrix) -> Doubles:
        """Scores: (n,) for two classes, positive for the second; else (n, k)."""
        S = self._scores(X)
        if has(self.space_, OneScore):
            return S[:, 0]
        own = capability(self.space_, ClassScores)
        return S if own is None else own.class_scores(S)

    def predict(self, X: Matrix) -> Array:
        """Predict the best label of each row; ties go to the lowest class. Label sets have the form given to `fit`."""
        S = self._scores(X)
        spec = self.composed()
        if spec.decision == "expected_cost":
            found = cheapest(chances(piece("loss", spec.loss), self.space_, S), spec.costs)
        else:
            found = self.space_.decode(S)
        return self.classes_[found] if self.form_ == "single" else self._sets(found)

    @available_if(_knows_chances)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Matrix) -> Doubles:
        """Class probabilities (n, k), in the order of `classes_`; for label sets, one for each label independently."""
        S = self._scores(X)
        return chances(piece("loss", self.composed().loss), self.space_, S)

    @available_if(_knows_chances)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Matrix) -> Doubles:
        """Logarithms of the class probabilities."""
        with np.errstate(divide="ignore"):
            logs: Doubles = np.log(self.predict_proba(X))
        return logs

    def ties(self, X: Matrix) -> Bools:
        """Rows where two or more classes tie for the best score (or expected cost); `predict` takes the lowest index.

        For label sets: rows with a label whose score is exactly zero.
        """
        spec, S = self.composed(), self._scores(X)
        if spec.decision == "expected_cost":
            S = -expected_costs(chances(piece("loss", spec.loss), self.space_, S), spec.costs)
        elif has(self.space_, OneScore) or has(self.space_, SetSpace):
            return (S == 0).any(axis=1)
        elif (own := capability(self.space_, ClassScores)) is not None:
            S = own.class_scores(S)
        return (S.max(axis=1, keepdims=True) == S).sum(axis=1) > 1

    def score(self, X: Matrix, y: Label, sample_weight: Source = None) -> float:
        """Accuracy. A label set is correct if every label is correct."""
        check_is_fitted(self, "params_")
        if self.form_ != "lists":
            return float(super().score(X, y, sample_weight))
        return sets_score(self.predict(X), y, sample_weight)

    def _sets(self, found: Array) -> Matrix:
        if self.form_ == "lists":
            return [tuple(self.classes_[row].tolist()) for row in found]
        return sparse.csr_matrix(found.astype(np.int64)) if self.form_ == "sparse" else found.astype(np.int64)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class LinearClassifier(LinearFace, ClassifierFace):
    """Minimizes sum_i weight_i loss(x_i W + b, y_i) + regularizer(W), with the pieces you choose.

    Pieces are objects, or plain names from `linnaeus.losses.LOSSES`, `regularizers.REGULARIZERS`,
    `optimizers.OPTIMIZERS` and `outputs.OUTPUTS`; "auto" takes the fastest solver for the combination, and the output
    space that fits the labels. scikit-learn's `C` is 1 / strength, `max_iter` is `epochs`, `fit_intercept` `bias`.

    Parameters
    ----------
    loss, regularizer, optimizer, output
        The pieces. With output="auto", two classes get one binary score. More classes get a joint space for structured
        losses (perceptron, hinge, log, softmargin, probability) and one-vs-rest for other losses. Lists of labels and
        indicator matrices get a multi-label space.
    costs
        l(y', y), the cost of predicting y' when y is true; rows and columns are in the order of `classes_`.
    decision
        "score" predicts the class with the best score and uses costs in training (not with the losses perceptron, log
        and probability). "expected_cost" trains without costs and predicts the class with the lowest expected cost
        under the class probabilities.
    bias
        "free" (True), "regularized" or "none" (False).
    class_weight
        "balanced", or a dict from class to weight; classes that are not in the dict get weight 1.
    epochs, tol, seconds
        When to stop: after this many epochs (None: depends on the optimizer), at a certified gap of `tol` times the
        objective (or a gradient of `tol` times the first), or after this many seconds.
    held_out, patience
        The share of rows to hold out, and the number of epochs without a better held-out score before training stops.
    seed
        The random seed.
    progress
        "bar" shows a progress bar on a terminal if training takes more than two seconds. A function is called with each
        record of the trace.
    checkpoint
        A file that saves progress after epochs. Interrupted training continues from it; it is deleted at the end.

    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 0.0]]), ["b", "a", "b", "a"]
    >>> LinearClassifier(loss="hinge", regularizer="l2").fit(X, y).predict([[3.0, 0.0]]).tolist()
    ['a']

    """

    output: Piece = "auto"
    costs: Piece = None
    decision: str = "score"
    class_weight: Piece = None


def kinds(labels: Labels, problem: Problem) -> dict[str, object]:
    """What a classifier remembers of its labels."""
    return {"classes_": labels.classes, "form_": labels.form, "space_": problem.space}


def examples(rows: CSR | Dense, y: Label, sample_weight: Source) -> tuple[CSR | Dense, Labels, Doubles]:
    """Matching rows, labels and weights; rows with weight 0 are left out."""
    labels = encode(y)
    n = rows.shape[0]
    if len(labels.y) != n:
        raise DataError(f"X has {n} rows, but y has {len(labels.y)}; give one label for each row.")
    weights = sample_weights(sample_weight, n)
    if weights.all():
        return rows, labels, weights
    counted = np.flatnonzero(weights)
    return rows.take(counted), labels.take(counted), weights[counted]
