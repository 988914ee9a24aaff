"""`Tagger`: a scikit-learn estimator that takes lists of tokens and returns lists of tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from linnaeus.data.sentences import Sentences
from linnaeus.estimators.recipe_face import RecipeFace
from linnaeus.model.model import Model
from linnaeus.recipes.recipe import Recipe
from linnaeus.types import Piece


class Tagger(RecipeFace):
    """A tagger with a recipe, given by name or as an object; `random_state` replaces the recipe's random seed.

    >>> tagger = Tagger().fit([["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]])
    >>> tagger.predict([["the", "cat"]])
    [['D', 'N']]
    """

    task: ClassVar[str] = "tag"

    def __init__(self, recipe: str | Recipe = "pos", random_state: int | None = None) -> None:
        self.recipe = recipe
        self.random_state = random_state

    def fit(self, X: Sequence[Sequence[str]], y: Sequence[Sequence[str]]) -> Self:
        """Train on a list of tokens and a list of tags for each sentence."""
        recipe = self._named("tag")
        if self.random_state is not None:
            recipe = recipe.changed({"seed": self.random_state})
        return self._take(recipe.fit(Sentences.from_lists(X, y)))

    def predict(self, X: Sequence[Sequence[str]], abstain: Piece = None) -> list[list[str]]:
        """Predict a list of tags for each sentence; None where the model abstains."""
        return self._model().predict(X, abstain)

    def predict_marginals(self, X: Sequence[Sequence[str]]) -> list[list[dict[str, float]]]:
        """The probability of each tag, for each token of each sentence."""
        model = self._model()
        sentences = Sentences.from_lists(X)
        rows = model.probabilities(sentences).tolist()
        return sentences.lists([dict(zip(model.names, row, strict=True)) for row in rows])

    def score(self, X: Sequence[Sequence[str]], y: Sequence[Sequence[str]]) -> float:
        """Token accuracy, or the F1 score of entities if the tags mark entities."""
        return self._model().evaluate(Sentences.from_lists(X, y), rounds=0).value()

    def _take(self, model: Model) -> Self:
        self.classes_ = list(model.names)
        return super()._take(model)
