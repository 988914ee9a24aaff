"""scikit-learn estimators for ranking: `CandidateClassifier` chooses a candidate, `Ranker` orders all candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from linnaeus.data.groups import Groups
from linnaeus.estimators.recipe_face import RecipeFace
from linnaeus.tasks.rank.groups import as_groups
from linnaeus.types import Label, Piece, Source

MOST = 1 << 62
"""All candidates."""


class CandidateClassifier(RecipeFace):
    """Chooses one candidate for each example, from the example's own candidates.

    X is `Groups`, dicts with `text` and `candidates`, a table or a file; y gives the answers if X has none:
    positions, candidates, lists of these, or None. `recipe` is a name or a `Recipe`.

    >>> from linnaeus import Recipe
    >>> X = [{"text": "a sky", "candidates": ["blue sky", "bread"]}, {"text": "apple", "candidates": ["car", "apple"]}]
    >>> CandidateClassifier(Recipe(task="rank")).fit(X, ["blue sky", "apple"]).predict(X)
    ['blue sky', 'apple']
    """

    task: ClassVar[str] = "rank"

    def __init__(self, recipe: Piece = "plain") -> None:
        self.recipe = recipe

    def fit(self, X: Source, y: Label = None) -> Self:
        """Train on these examples."""
        return self._take(self._named("rank").fit(_labeled(X, y)))

    def predict(self, X: Source) -> Sequence[Label]:
        """Predict a candidate for each example; None means "none of these"."""
        return self._model().predict(X)

    def score(self, X: Source, y: Label = None) -> float:
        """Accuracy."""
        return self._model().evaluate(_labeled(X, y), rounds=0).value("accuracy")


class Ranker(CandidateClassifier):
    """Ranks the candidates of each example; `predict` returns them best first.

    >>> rows = [{"text": "who barks", "candidates": ["a dog barks", "a cat"], "answer": 0}]
    >>> ranker = Ranker().fit(rows * 3)
    >>> ranker.predict([{"text": "who barks", "candidates": ["a cat", "a dog barks"]}])
    [['a dog barks', 'a cat']]
    """

    def predict(self, X: Source) -> list[list[str | None]]:
        """Rank the candidates of each example, best first; None means "none of these"."""
        return [[candidate for candidate, _ in row] for row in self._model().rank(X, MOST)]

    def score(self, X: Source, y: Label = None) -> float:
        """The mean reciprocal rank of the right candidate."""
        return self._model().evaluate(_labeled(X, y), rounds=0).value("reciprocal_rank")


def _labeled(X: Source, y: Label) -> Groups:
    groups = as_groups(X)
    return groups if y is None else groups.answered(y)
