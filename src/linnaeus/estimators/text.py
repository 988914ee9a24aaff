"""`TextClassifier` and `TextRegressor`: recipes as scikit-learn estimators, raw texts in, labels or numbers out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from linnaeus.arrays.labels import Labels, encode, label_sets
from linnaeus.arrays.weights import sample_weights
from linnaeus.errors import DataError, InputTypeError, LinnaeusError, ModelFileError
from linnaeus.estimators.face import estimator_of
from linnaeus.features.base import Batches
from linnaeus.features.batches import text_batches
from linnaeus.model.model import Model
from linnaeus.model.summary import face_repr
from linnaeus.protocols import has_method
from linnaeus.recipes.cookbook import recipe as named
from linnaeus.recipes.paths import SHORT, change, paths
from linnaeus.recipes.recipe import Recipe
from linnaeus.tasks.examples import Examples, label_column
from linnaeus.training.merging import updated
from linnaeus.training.train import train_examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from linnaeus.evaluation import Evaluation
    from linnaeus.explain import Explanation
    from linnaeus.features.restore import Functions
    from linnaeus.tasks.classify.prediction import Prediction
    from linnaeus.types import Doubles


class TextFace(BaseEstimator):  # type: ignore[misc]
    """A recipe with changes; after `fit`, `model_` holds the trained `Model`."""

    model_: Model

    def __init__(self, recipe: Any = "default", **changes: Any) -> None:
        self.recipe = recipe
        self.changes = changes
        if changes:
            self.composed()  # a name with a slip in it is refused here, not hours later in a search

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return face_repr(self, self.get_params(deep=False))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The recipe and its changes; with `deep`, every parameter, such as `regularizer__strength`, and its value."""
        given = {"recipe": self.recipe, **self.changes}
        try:
            return {**given, **paths(self.composed()), **given} if deep else given
        except LinnaeusError:
            return given  # a name that is not known is refused by `fit`

    def set_params(self, **params: Any) -> Self:
        """Set the recipe or change its parameters; if a value is not valid, raise an error and set nothing."""
        changed = {**self.changes, **{name: value for name, value in params.items() if name != "recipe"}}
        whole = params.get("recipe", self.recipe)
        type(self)(whole, **changed).composed()
        self.recipe, self.changes = whole, changed
        return self

    def composed(self) -> Recipe:
        """The recipe with the changes applied."""
        found = named(self.recipe, "classify") if isinstance(self.recipe, str) else self.recipe
        if not isinstance(found, Recipe):
            raise InputTypeError(f"recipe takes a name or a Recipe, not {self.recipe!r}.")
        composed: Recipe = change(found, self.changes, SHORT, "__")
        return composed

    @abstractmethod
    def _examples(self, X: Any, y: Any, sample_weight: Any) -> Examples:
        """What is learned from."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, progress: Callable[[Any], None] | None = None) -> Self:
        """Train on texts X (a list, a column of any kind, or a table with one) and their labels y."""
        found = train_examples(self.composed(), self._examples(X, y, sample_weight), progress)
        self.model_ = found
        if found.classes is not None:
            self.classes_ = found.classes
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from one more batch; the first one trains without tuning and fits the features, which then stay.

        Words that the first batch does not have need hashed terms (`Hashed`) or a given vocabulary (`Given`).
        """
        examples = self._examples(X, y, sample_weight)
        if "model_" in self.__dict__:
            found = updated(self.model_, examples)
        else:
            found = train_examples(replace(self.composed(), tuning=None), examples)
        self.model_ = found
        if found.classes is not None:
            self.classes_ = found.classes
        return self

    def explain(self, text: Any, classes: Any = ()) -> Explanation:
        """Explain the prediction for a text."""
        return self._model().explain(text, classes)

    def save(self, path: str | PathLike[str], force: bool = False) -> None:
        """Write the trained model to one file, without pickle; `force` replaces an existing file."""
        self._model().save(path, force)

    @classmethod
    def load(cls, path: str | PathLike[str], functions: Functions | None = None) -> Self:
        """Load a fitted estimator from a file that `save` or `linnaeus train` wrote; `functions` as in `load`."""
        model = Model.load(path, functions)
        face = estimator_of(model)
        if face != ("TextRegressor" if issubclass(cls, RegressorMixin) else "TextClassifier"):
            raise ModelFileError(f"{path} holds a model for {face}; load it with that class.")
        found = cls(model.recipe)
        found.model_ = model
        if model.classes is not None:
            found.classes_ = model.classes
        return found

    @property
    def evaluation_(self) -> Evaluation | None:
        """The evaluation on rows that were held out in training."""
        return self._model().evaluation

    def _model(self) -> Model:
        if "model_" not in self.__dict__:
            check_is_fitted(self, "model_")  # raises; scikit-learn takes longer to look than one text to classify
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def __sklearn_tags__(self) -> Any:
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

    classes_: NDArray[Any]

    def predict(self, X: Any, abstain: Any = None) -> NDArray[Any]:
        """Predict the label of each text; None if the model abstains. Label sets have the form that `fit` was given.

        If `fit` was given a list of lists or a sparse matrix, so is the result, although the type says an array.
        """
        model = self._model()
        found: Any = model.predict(_source(X), abstain)
        if model.form in ("indicator", "sparse"):
            found = self._matrix(found)
        elif model.form == "lists":
            found = [list(row) for row in found]
        answers: NDArray[Any] = found
        return answers

    def predict_proba(self, X: Any) -> Doubles:
        """Class probabilities (n, k), in the order of `classes_`."""
        return self._model().probabilities(_source(X))

    def decision_function(self, X: Any) -> Doubles:
        """Scores: (n,) for two classes, positive for the second; else (n, k)."""
        S = self._model().scores(_source(X))
        return S[:, 0] if S.shape[1] == 1 and len(self.classes_) == 2 else S

    def classify(self, text: str, top: int = 1) -> Prediction:
        """Classify one text, quickly; the result ranks the `top` classes."""
        return self._model().classify(text, top)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy. A label set is correct if every label is correct."""
        found = self.predict(X)
        if self._model().form != "lists":
            return float(super().score(X, y, sample_weight))
        right = [set(a) == b for a, b in zip(found, label_sets(y, len(found)), strict=True)]
        return float(np.average(right, weights=sample_weight))

    def _examples(self, X: Any, y: Any, sample_weight: Any) -> Examples:
        labels = encode(y, "TextRegressor")
        batches = _batches(X, len(labels.y))
        return Examples(_labeled(batches, labels), labels, None, sample_weights(sample_weight, len(labels.y)))

    def _matrix(self, found: Any) -> Any:
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

    def __init__(self, recipe: Any = "ridge", **changes: Any) -> None:
        super().__init__(recipe, **changes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict a number for each text."""
        found: NDArray[Any] = self._model().predict(_source(X))
        return found

    def _examples(self, X: Any, y: Any, sample_weight: Any) -> Examples:
        try:
            numbers = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError("The targets of a regressor are numbers; use TextClassifier for labels.") from error
        batches = _batches(X, len(numbers))
        return Examples(batches, None, numbers, sample_weights(sample_weight, len(numbers)))


def _source(X: Any) -> Any:
    """Texts as they are; a table by its columns."""
    if hasattr(X, "columns") or isinstance(X, dict):
        from linnaeus.data import read

        return read(X, label="")
    return X


def _batches(X: Any, n: int) -> Any:
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
