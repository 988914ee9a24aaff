"""`LinearClassifier`: any loss, regularizer, optimizer and output space on a matrix, as a scikit-learn estimator."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from linnaeus.arrays.labels import Labels, encode, label_sets, point
from linnaeus.decision import cheapest, expected_costs
from linnaeus.errors import DataError, LinnaeusError
from linnaeus.models.linear import stored
from linnaeus.outputs import Binary, MultiLabel
from linnaeus.pipeline.chances import chances, has_chances
from linnaeus.pipeline.face import Face
from linnaeus.pipeline.fitting import solve
from linnaeus.pipeline.matrices import checked, learned
from linnaeus.pipeline.pieces import piece
from linnaeus.pipeline.posing import posed
from linnaeus.pipeline.stream import go_on, merged, standing, widened
from linnaeus.pipeline.weights import refuse_strangers, sample_weights

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from numpy.typing import NDArray

    from linnaeus.types import Doubles


def _knows_chances(face: Any) -> bool:
    """Whether `predict_proba` has a meaning, before and after fitting; wrong parameters are for `fit` to refuse."""
    try:
        spec, space = face.composed(), face.__dict__.get("space_")
        if space is None and not (isinstance(spec.output, str) and spec.output == "auto"):
            space = piece("output", spec.output)
        return has_chances(piece("loss", spec.loss), space)
    except LinnaeusError:
        return False


class ClassifierFace(ClassifierMixin, Face):  # type: ignore[misc]
    """What classifiers share: labels in, scores, probabilities and labels out."""

    classes_: NDArray[Any]

    @abstractmethod
    def composed(self) -> LinearClassifier:
        """The general classifier that this one is."""

    def recipe(self, **pieces: Any) -> LinearClassifier:
        """The general classifier with these pieces, and every parameter of its own that this face has."""
        known = {field.name for field in fields(LinearClassifier)}
        return LinearClassifier(**{name: value for name, value in vars(self).items() if name in known} | pieces)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X (n, d) and their labels: one each, lists of labels, or an indicator matrix."""
        spec = self.composed()
        rows, seen = learned(self, X)
        rows, labels, weights = examples(rows, y, sample_weight)
        refuse_strangers(spec.class_weight, labels.classes)
        problem = posed(spec, rows, labels, weights)
        fit = solve(spec, problem)
        kinds = {"classes_": labels.classes, "form_": labels.form, "space_": problem.space}
        return self._become(**seen, **kinds, params_=stored(fit.params), trace_=fit.trace)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning from one more batch of a stream, with a step-wise optimizer ("auto" takes one).

        `classes` announces classes that come later; others may still appear: their weights begin at zero.
        """
        spec, known = self.composed(), "params_" in self.__dict__
        rows, seen = (checked(self, X), {}) if known else learned(self, X)
        rows, labels, weights = examples(rows, y, sample_weight)
        if known and labels.form != self.form_:
            raise DataError("The labels have another form than in the batches before; keep to one form.")
        labels = point(labels, merged(self, classes, labels.classes))
        problem = posed(spec, rows, labels, weights)
        params, memory = widened(self, problem.space, labels.classes) if known else standing(self)
        kinds = {"classes_": labels.classes, "form_": labels.form, "space_": problem.space}
        self.__dict__.update(go_on(spec, problem, params, memory), **seen, **kinds)
        return self

    def decision_function(self, X: Any) -> Doubles:
        """Scores: (n,) for two classes, positive for the second; else (n, k)."""
        S = self._scores(X)
        if isinstance(self.space_, Binary):
            return S[:, 0]
        return self.space_.class_scores(S) if hasattr(self.space_, "class_scores") else S

    def predict(self, X: Any) -> NDArray[Any]:
        """The best label of each row, the lowest class among equals; label sets in the form they were given in."""
        S = self._scores(X)
        spec = self.composed()
        if spec.decision == "expected_cost":
            found: Any = cheapest(chances(piece("loss", spec.loss), self.space_, S), spec.costs)
        else:
            found = self.space_.decode(S)
        answers: NDArray[Any] = self.classes_[found] if self.form_ == "single" else self._sets(found)
        return answers

    @available_if(_knows_chances)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Doubles:
        """Probabilities (n, k) in the order of `classes_`; for label sets, of each label by itself."""
        S = self._scores(X)
        return chances(piece("loss", self.composed().loss), self.space_, S)

    @available_if(_knows_chances)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Doubles:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            logs: Doubles = np.log(self.predict_proba(X))
        return logs

    def ties(self, X: Any) -> NDArray[np.bool_]:
        """Rows where the best class shares its score (or its expected cost) with another: there the lowest index won.

        For label sets: rows with a label whose score is exactly zero.
        """
        spec, S = self.composed(), self._scores(X)
        if spec.decision == "expected_cost":
            S = -expected_costs(chances(piece("loss", spec.loss), self.space_, S), spec.costs)
        elif isinstance(self.space_, Binary | MultiLabel):
            zeros: NDArray[np.bool_] = (S == 0).any(axis=1)
            return zeros
        elif hasattr(self.space_, "class_scores"):
            S = self.space_.class_scores(S)
        tied: NDArray[np.bool_] = (S.max(axis=1, keepdims=True) == S).sum(axis=1) > 1
        return tied

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are right; with label sets, right in every label."""
        check_is_fitted(self, "params_")
        if self.form_ != "lists":
            return float(super().score(X, y, sample_weight))
        found = self.predict(X)
        right = [set(a) == b for a, b in zip(found, label_sets(y, len(found)), strict=True)]
        return float(np.average(right, weights=sample_weights(sample_weight, len(found))))

    def _sets(self, found: NDArray[np.bool_]) -> Any:
        if self.form_ == "lists":
            return [tuple(self.classes_[row].tolist()) for row in found]
        return sparse.csr_matrix(found.astype(np.int64)) if self.form_ == "sparse" else found.astype(np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class LinearClassifier(ClassifierFace):
    """Minimizes sum_i weight_i loss(x_i W + b, y_i) + regularizer(W), with pieces of your choice.

    Pieces are objects, or plain names out of `linnaeus.losses.LOSSES`, `regularizers.REGULARIZERS`,
    `optimizers.OPTIMIZERS` and `outputs.OUTPUTS`; "auto" takes the fastest solver for the combination, and the output
    space that the labels ask for. scikit-learn's `C` is 1 / strength, `max_iter` is `epochs`, `fit_intercept` `bias`.

    Parameters
    ----------
    loss, regularizer, optimizer, output
        The pieces. output="auto": two classes make one binary score, more a joint space for structured losses
        (perceptron, hinge, log, softmargin, probability) and one-vs-rest for the others; lists of labels and indicator
        matrices make a multi-label space.
    costs
        l(y', y), what predicting y' costs when y is true: rows and columns in the order of `classes_`.
    decision
        "score" takes the best score, and costs enter training (all losses but perceptron, log and probability do that);
        "expected_cost" trains without costs and takes the prediction that costs least on average under the
        probabilities.
    bias
        "free" (True), "regularized" or "none" (False).
    class_weight
        "balanced", or a dict from class to weight; a class that it does not name counts 1.
    epochs, tol, seconds
        When to stop: after so many epochs (None: by the optimizer's kind), at a certified gap of `tol` times the
        objective (or a gradient of `tol` times the first), after so many seconds.
    held_out, patience
        The share of rows kept aside, and epochs without a better score on them before it stops.
    seed
        Of every order and every draw.
    progress
        "bar" shows on a terminal how far a training of more than two seconds is; or a function that is called with
        each record of the trace.
    checkpoint
        A file that is written after epochs, and from which a training that was ended goes on; gone when it is done.

    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 0.0]]), ["b", "a", "b", "a"]
    >>> LinearClassifier(loss="hinge", regularizer="l2").fit(X, y).predict([[3.0, 0.0]]).tolist()
    ['a']

    """

    loss: Any = "log"
    regularizer: Any = "l2"
    optimizer: Any = "auto"
    output: Any = "auto"
    costs: Any = None
    decision: str = "score"
    bias: Any = "free"
    class_weight: Any = None
    epochs: int | None = None
    tol: float | None = 1e-4
    seed: int = 0
    held_out: float = 0.0
    patience: int | None = 5
    seconds: float | None = None
    progress: Callable[[Any], None] | str | None = None
    checkpoint: str | PathLike[str] | None = None

    def composed(self) -> LinearClassifier:
        """Itself."""
        return self


def examples(rows: Any, y: Any, sample_weight: Any) -> tuple[Any, Labels, Doubles]:
    """Rows, labels and weights that belong together; rows that do not count are left out."""
    labels = encode(y)
    n = rows.shape[0]
    if len(labels.y) != n:
        raise DataError(f"X has {n} rows, but y has {len(labels.y)}; give one label for each row.")
    weights = sample_weights(sample_weight, n)
    if weights.all():
        return rows, labels, weights
    counted = np.flatnonzero(weights)
    return rows.take(counted), labels.take(counted), weights[counted]
