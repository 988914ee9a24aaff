"""`MatrixClassifier`: any learner that computes scores itself (naive Bayes, neighbors, kernels, trees) on a matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from linnaeus.errors import InputTypeError, damaged
from linnaeus.estimators.face import MatrixFace, untaught
from linnaeus.estimators.linear import examples, kinds
from linnaeus.features.precomputed import Ready
from linnaeus.learners import LEARNERS
from linnaeus.learners.problems import is_family, learn, posed_family
from linnaeus.learners.restore import weights_of
from linnaeus.model.model import Model
from linnaeus.protocols import Model as Body
from linnaeus.protocols import ModelChances, OneScore, SetSpace, capability, has, meant
from linnaeus.recipes.recipe import Recipe
from linnaeus.types import Array, Doubles, Label, Matrix, Piece, Source


def _knows_chances(face: MatrixClassifier) -> bool:
    """Whether `predict_proba` has a meaning; before fitting only a learner of the table is known."""
    model = face.__dict__.get("model_")
    return model is None or capability(model, ModelChances) is not None


@dataclass(eq=False, repr=False, kw_only=True)
class MatrixClassifier(ClassifierMixin, MatrixFace):  # type: ignore[misc]
    """A learner by its plain name, or as an object such as `Multinomial(smoothing=0.1)`, as a scikit-learn estimator.

    `decision_function` returns the raw scores of the model, in float64: logarithms of probabilities for naive Bayes,
    votes for neighbors. `predict_proba` exists only if the model itself computes probabilities.

    >>> X, y = np.array([[2.0, 0.0], [0.0, 1.0]]), ["a", "b"]
    >>> MatrixClassifier(learner="multinomial").fit(X, y).predict([[1.0, 0.0]]).tolist()
    ['a']
    """

    learner: Piece = "multinomial"
    seed: int = 0

    def fit(self, X: Matrix, y: Label, sample_weight: Source = None) -> MatrixClassifier:
        """Train on rows X (n, d) and their labels: one for each row, lists of labels, or an indicator matrix."""
        learner = _meant(self.learner)
        rows, seen = self._learned(X)
        rows, labels, weights = examples(rows, y, sample_weight)
        problem = posed_family(learner, rows, labels, weights)
        self.model_: Body = learn(learner, problem, self.seed)
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(seen, **kinds(labels, problem), n_rows_=rows.shape[0])
        return self

    def decision_function(self, X: Matrix) -> Doubles:
        """Scores: (n,) for two classes, positive for the second; else (n, k)."""
        S = self._scores(X)
        return S[:, 1] - S[:, 0] if has(self.space_, OneScore) else S

    def predict(self, X: Matrix) -> Array:
        """Predict the best label of each row; ties go to the lowest class. Label sets: all labels scored above 0."""
        S = self._scores(X)
        if not has(self.space_, SetSpace):
            return self.classes_[S.argmax(axis=1)]
        if self.form_ == "lists":
            return [tuple(self.classes_[row > 0].tolist()) for row in S]  # type: ignore[return-value]
        return (S > 0).astype(np.int64)

    @available_if(_knows_chances)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Matrix) -> Doubles:
        """Class probabilities (n, k), in the order of `classes_`; for label sets, one for each label independently."""
        S = self._scores(X)
        return self.model_.chances(S)  # type: ignore[attr-defined]

    def _recipe(self) -> Recipe:
        return Recipe(features=Ready(self.n_features_in_), learner=_meant(self.learner), seed=self.seed)

    def _trained(self) -> Model:
        recipe = self._recipe()
        found = Model(
            task=recipe.task,
            plan=recipe,
            features=self._features(),
            params=weights_of(self.model_, self.space_),
            space=self.space_,
            classes=self.classes_,
            form=self.form_,
            facts={"rows": self.n_rows_, "ending": "learned"},
            body=self.model_,
        )
        return replace(found, decision=untaught(found))

    def _take(self, model: Model) -> None:
        if model.body is None or model.classes is None:
            raise damaged("its estimator is of another kind")
        self.model_, self.n_rows_ = model.body, int(model.facts.get("rows", 0))
        self.classes_, self.form_, self.space_ = model.classes, model.form, model.space

    def _scores(self, X: Matrix) -> Doubles:
        check_is_fitted(self, "model_")
        return self.model_.scores(self._checked(X))


def _meant(learner: Piece) -> Piece:
    learner = meant("learner", learner, LEARNERS)
    if not is_family(learner):
        raise InputTypeError(
            f"MatrixClassifier takes a learner that computes scores itself, such as 'multinomial', not {learner!r}; "
            "LinearClassifier is for losses and regularizers."
        )
    return learner
