"""`Tagger`: a scikit-learn estimator that takes lists of tokens and returns lists of tags."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from linnaeus.data.sentences import Sentences
from linnaeus.model.model import Model
from linnaeus.model.summary import face_repr
from linnaeus.recipes.cookbook import recipe as named
from linnaeus.recipes.recipe import Recipe


class Tagger(BaseEstimator):  # type: ignore[misc]
    """A tagger with a recipe, given by name or as an object; `random_state` replaces the recipe's random seed.

    >>> tagger = Tagger().fit([["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]])
    >>> tagger.predict([["the", "cat"]])
    [['D', 'N']]
    """

    def __init__(self, recipe: str | Recipe = "pos", random_state: int | None = None) -> None:
        self.recipe = recipe
        self.random_state = random_state

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return face_repr(self, self.get_params(deep=False))

    def fit(self, X: Sequence[Sequence[str]], y: Sequence[Sequence[str]]) -> Tagger:
        """Train on a list of tokens and a list of tags for each sentence."""
        recipe = named(self.recipe, "tag") if isinstance(self.recipe, str) else self.recipe
        if self.random_state is not None:
            recipe = recipe.changed({"seed": self.random_state})
        self.model_: Model = recipe.fit(Sentences.from_lists(X, y))
        self.classes_ = list(self.model_.names)
        return self

    def predict(self, X: Sequence[Sequence[str]], abstain: Any = None) -> list[list[str]]:
        """Predict a list of tags for each sentence; None where the model abstains."""
        found: list[list[str]] = self._fitted().predict(X, abstain)
        return found

    def predict_marginals(self, X: Sequence[Sequence[str]]) -> list[list[dict[str, float]]]:
        """The probability of each tag, for each token of each sentence."""
        model = self._fitted()
        sentences = Sentences.from_lists(X)
        rows = model.probabilities(sentences).tolist()
        return sentences.lists([dict(zip(model.names, row, strict=True)) for row in rows])

    def score(self, X: Sequence[Sequence[str]], y: Sequence[Sequence[str]]) -> float:
        """Token accuracy, or the F1 score of entities if the tags mark entities."""
        return self._fitted().evaluate(Sentences.from_lists(X, y), rounds=0).value()

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the fitted model to one file; `force` replaces an existing file."""
        self._fitted().save(path, force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tagger:
        """Load a fitted tagger from a file."""
        model = Model.load(path)
        found = cls(model.recipe)
        found.model_, found.classes_ = model, list(model.names)
        return found

    def _fitted(self) -> Model:
        check_is_fitted(self, "model_")
        return self.model_
