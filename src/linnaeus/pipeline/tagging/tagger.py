"""`Tagger`: the scikit-learn face of taggers, lists of tokens in and lists of tags out."""

from __future__ import annotations

import os
from collections.abc import Sequence

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from linnaeus.data.sentences import Sentences
from linnaeus.pipeline.summary import face_repr
from linnaeus.pipeline.tagging.cookbook import tag_recipe
from linnaeus.pipeline.tagging.model import TagModel
from linnaeus.pipeline.tagging.recipe import TagRecipe


class Tagger(BaseEstimator):  # type: ignore[misc]
    """A tagger of a recipe, by name or as an object; `random_state` replaces its seed.

    >>> tagger = Tagger().fit([["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]])
    >>> tagger.predict([["the", "cat"]])
    [['D', 'N']]
    """

    def __init__(self, recipe: str | TagRecipe = "pos", random_state: int | None = None) -> None:
        self.recipe = recipe
        self.random_state = random_state

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return face_repr(self, self.get_params(deep=False))

    def fit(self, X: Sequence[Sequence[str]], y: Sequence[Sequence[str]]) -> Tagger:
        """Learn from a list of tokens and a list of tags for each sentence."""
        recipe = tag_recipe(self.recipe) if isinstance(self.recipe, str) else self.recipe
        if self.random_state is not None:
            recipe = recipe.changed({"seed": self.random_state})
        self.model_: TagModel = recipe.fit(Sentences.from_lists(X, y))
        self.classes_ = list(self.model_.tags)
        return self

    def predict(self, X: Sequence[Sequence[str]]) -> list[list[str]]:
        """A list of tags for each sentence."""
        return self._fitted().tag(X)

    def predict_marginals(self, X: Sequence[Sequence[str]]) -> list[list[dict[str, float]]]:
        """The probability of each tag, for each token of each sentence."""
        model = self._fitted()
        sentences = Sentences.from_lists(X)
        return sentences.lists([dict(zip(model.tags, row, strict=True)) for row in model.marginals(sentences).tolist()])

    def score(self, X: Sequence[Sequence[str]], y: Sequence[Sequence[str]]) -> float:
        """Accuracy over tokens; F1 of entities where tags mark these."""
        return self._fitted().test(Sentences.from_lists(X, y)).headline[1]

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the fitted model as one file; with `force` a file of that name is replaced."""
        self._fitted().save(path, force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tagger:
        """A fitted tagger from a file of one."""
        model = TagModel.load(path)
        found = cls(model.recipe)
        found.model_, found.classes_ = model, list(model.tags)
        return found

    def _fitted(self) -> TagModel:
        check_is_fitted(self, "model_")
        return self.model_
