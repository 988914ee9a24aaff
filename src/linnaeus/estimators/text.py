"""`TextClassifier` and `TextRegressor`: recipes as scikit-learn estimators, raw texts in, labels or numbers out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from linnaeus.arrays.labels import Labels, encode
from linnaeus.arrays.weights import sample_weights
from linnaeus.erm.progress import Watcher
from linnaeus.errors import DataError, LinnaeusError
from linnaeus.estimators.face import sets_score
from linnaeus.estimators.recipe_face import RecipeFace
from linnaeus.features.base import Batches
from linnaeus.features.batches import text_batches
from linnaeus.model.model import Model
from linnaeus.protocols import has_method
from linnaeus.recipes.paths import SHORT, change, paths
from linnaeus.recipes.recipe import Recipe
from linnaeus.tasks.classify.prediction import Prediction
from linnaeus.tasks.examples import Examples, label_column
from linnaeus.training.merging import updated
from linnaeus.training.train import train_examples
from linnaeus.types import Array, Doubles, Label, Matrix, Piece, Source

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from linnaeus.evaluation import Evaluation
    from linnaeus.explain import Explanation


class TextFace(RecipeFace):
    """A recipe for texts, with changes."""

    def __init__(self, recipe: Piece = "default", **changes: Piece) -> None:
        self.recipe = recipe
        self.changes = changes
        if changes:
            self.composed()  # a name with a slip in it is refused here, not hours later in a search

    def get_params(self, deep: bool = True) -> dict[str, Piece]:
        """The recipe and its changes; with `deep`, every parameter, such as `regularizer__strength`, and its value."""
        given = {"recipe": self.recipe, **self.changes}
        try:
            return {**given, **paths(self.composed()), **given} if deep else given
        except LinnaeusError:
            return given  # a name that is not known is refused by `fit`

    def set_params(self, **params: Piece) -> Self:
        """Set the recipe or change its parameters; if a value is not valid, raise an error and set nothing."""
        changed = {**self.changes, **{name: value for name, value in params.items() if name != "recipe"}}
        whole = params.get("recipe", self.recipe)
        type(self)(whole, **changed).composed()
        self.recipe, self.changes = whole, changed
        return self

    def composed(self) -> Recipe:
        """The recipe with the changes applied."""
        return change(self._named("classify"), self.changes, SHORT, "__")

    @abstractmethod
    def _examples(self, X: Source, y: Label, sample_weight: Source) -> Examples:
        """What is learned from."""

    def fit(self, X: Source, y: Label, sample_weight: Source = None, progress: Watcher | None = None) -> Self:
        """Train on texts X (a list, a column of any kind, or a table with one) and their labels y."""
        return self._take(train_examples(self.composed(), self._examples(X, y, sample_weight), progress))

    def partial_fit(self, X: Source, y: Label, sample_weight: Source = None) -> Self:
        """Learn from one more batch; the first one trains without tuning and fits the features, which then stay.

        Words that the first batch does not have need hashed terms (`Hashed`) or a given vocabulary (`Given`).
        """
        examples = self._examples(X, y, sample_weight)
        if "model_" in self.__dict__:
            return self._take(updated(self.model_, examples))
        return self._take(train_examples(replace(self.composed(), tuning=None), examples))

    def explain(self, text: Source, classes: Label = ()) -> Explanation:
        """Explain the prediction for a text; `classes` are explained beside the predicted one."""
        return self._model().explain(text, classes=classes)

    @property
    def evaluation_(self) -> Evaluation | None:
        """The evaluation on rows that were held out in training."""
        return self._model().evaluation

    def _take(self, model: Model) -> Self:
        if model.classes is not None:
            self.classes_ = model.classes
        elif model.many is not None:
            self.classes_ = model.many.array()
        return super()._take(model)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class TextClassifier(ClassifierMixin, TextFace):  # type: ignore[misc]
    """A recipe as a scikit-learn classifier. Each text has one label of any type, or a list of labels.

    The parameters are `recipe` (a name that `linnaeus recipes` lists, or a `Recipe`) and changes by path, with two
    underscores for dots: `TextClassifier("default", regularizer__strength=0.1, features__blocks__0__ngrams=(1, 3))`.

    >>> model = TextClassifier("fast").fit(["good film", "bad film", "good", "bad"], ["pos", "neg", "pos", "neg"])
    >>> model.predict(["a good one"]).tolist()
    ['pos']
    """

    task: ClassVar[str] = "classify"

    classes_: Array

    def predict(self, X: Source, abstain: Piece = None) -> Array:
        """Predict the label of each text; None if the model abstains. Label sets have the form that `fit` was given.

        If `fit` was given a list of lists or a sparse matrix, so is the result, although the type says an array.
        """
        model = self._model()
        found: Array = model.predict(_source(X), abstain)
        if model.form in ("indicator", "sparse"):
            found = self._matrix(found)
        return [list(row) for row in found] if model.form == "lists" else found  # type: ignore[return-value]

    def predict_proba(self, X: Source) -> Doubles:
        """Class probabilities (n, k), in the order of `classes_`."""
        return self._model().probabilities(_source(X))

    def decision_function(self, X: Source) -> Doubles:
        """Scores: (n,) for two classes, positive for the second; else (n, k)."""
        S = self._model().scores(_source(X))
        return S[:, 0] if S.shape[1] == 1 and len(self.classes_) == 2 else S

    def classify(self, text: str, top: int = 1) -> Prediction:
        """Classify one text, quickly; the result ranks the `top` classes."""
        return self._model().classify(text, top)

    def score(self, X: Source, y: Label, sample_weight: Source = None) -> float:
        """Accuracy. A label set is correct if every label is correct."""
        found = self.predict(X)
        if self._model().form != "lists":
            return float(super().score(X, y, sample_weight))
        return sets_score(found, y, sample_weight)

    def _examples(self, X: Source, y: Label, sample_weight: Source) -> Examples:
        labels = encode(y, "TextRegressor")
        batches = _batches(X, len(labels.y))
        return Examples(_labeled(batches, labels), labels, None, sample_weights(sample_weight, len(labels.y)))

    def _matrix(self, found: Array) -> Matrix:
        from scipy import sparse

        owner = np.repeat(np.arange(len(found)), [len(row) for row in found])
        columns = np.array([label for row in found for label in row], dtype=np.int64)
        matrix = sparse.csr_array((np.ones(len(owner), np.int64), (owner, columns)), (len(found), len(self.classes_)))
        return matrix if self._model().form == "sparse" else matrix.toarray()


class TextRegressor(RegressorMixin, TextFace):  # type: ignore[misc]
    """A recipe as a scikit-learn regressor: numbers from texts.

    >>> model = TextRegressor().fit(["good", "fine", "bad", "awful"], [5.0, 4.0, 2.0, 1.0])
    >>> bool(model.predict(["good"])[0] > model.predict(["awful"])[0])
    True
    """

    task: ClassVar[str] = "regress"

    def __init__(self, recipe: Piece = "ridge", **changes: Piece) -> None:
        super().__init__(recipe, **changes)

    def predict(self, X: Source) -> Array:
        """Predict a number for each text."""
        return self._model().predict(_source(X))

    def _examples(self, X: Source, y: Label, sample_weight: Source) -> Examples:
        try:
            numbers = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError("The targets of a regressor are numbers; use TextClassifier for labels.") from error
        batches = _batches(X, len(numbers))
        return Examples(batches, None, numbers, sample_weights(sample_weight, len(numbers)))


def _source(X: Source) -> Source:
    """Texts as they are; a table by its columns."""
    if hasattr(X, "columns") or isinstance(X, dict):
        from linnaeus.data import read

        return read(X, label="")
    return X


def _batches(X: Source, n: int) -> Batches:
    source = _source(X)
    batches = source if has_method(source, "batches") else Batches(text_batches(source))
    rows = sum(len(batch) for batch in batches.batches())
    if rows != n:
        raise DataError(f"X has {rows} texts, but y has {n} labels; give one label for each text.")
    return Batches(tuple(batches.batches()))


def _labeled(batches: Batches, labels: Labels) -> Batches:
    """The same batches with their labels as strings, for features that look at them."""
    column, at, found = label_column(labels), 0, []
    for batch in batches.parts:
        found.append(replace(batch, labels=column.slice(at, len(batch))))
        at += len(batch)
    return Batches(tuple(found))
