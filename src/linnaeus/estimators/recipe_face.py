"""What estimators with a recipe share: `fit` leaves a trained `Model` in `model_`, which is saved and loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from linnaeus.errors import InputTypeError, ModelFileError
from linnaeus.estimators.face import ESTIMATORS, estimator_of
from linnaeus.features.restore import Functions
from linnaeus.model.model import Model
from linnaeus.model.summary import face_repr
from linnaeus.recipes.cookbook import recipe as named
from linnaeus.recipes.recipe import Recipe
from linnaeus.types import Piece

if TYPE_CHECKING:
    from os import PathLike


class RecipeFace(BaseEstimator):  # type: ignore[misc]
    """An estimator with a recipe; after `fit`, `model_` holds the trained `Model`."""

    task: ClassVar[str]
    """The task of the models that it holds."""

    recipe: Piece
    model_: Model

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return face_repr(self, self.get_params(deep=False))

    def save(self, path: str | PathLike[str], force: bool = False) -> None:
        """Write the trained model to one file, without pickle; `force` replaces an existing file."""
        self._model().save(path, force)

    @classmethod
    def load(cls, path: str | PathLike[str], functions: Functions | None = None) -> Self:
        """Load a fitted estimator from a file that `save` or `linnaeus train` wrote; `functions` as in `load`."""
        model = Model.load(path, functions)
        if (face := estimator_of(model)) != ESTIMATORS[cls.task]:
            raise ModelFileError(f"{path} holds a model for {face}; load it with that class.")
        return cls(model.recipe)._take(model)

    def _take(self, model: Model) -> Self:
        """Become the estimator of this model."""
        self.model_ = model
        return self

    def _named(self, task: str) -> Recipe:
        """The recipe, also if only its name is given."""
        found = named(self.recipe, task) if isinstance(self.recipe, str) else self.recipe
        if not isinstance(found, Recipe):
            raise InputTypeError(f"recipe takes a name or a Recipe, not {self.recipe!r}.")
        return found

    def _model(self) -> Model:
        if "model_" not in self.__dict__:
            check_is_fitted(self, "model_")  # raises; scikit-learn takes longer to look than one text to classify
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)
