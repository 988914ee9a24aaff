"""scikit-learn estimators for ranking: `CandidateClassifier` chooses a candidate, `Ranker` orders all candidates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from linnaeus.data.groups import Groups
from linnaeus.errors import InputTypeError
from linnaeus.model.model import Model
from linnaeus.model.summary import face_repr
from linnaeus.recipes.cookbook import recipe as named
from linnaeus.recipes.recipe import Recipe
from linnaeus.tasks.rank.groups import as_groups

MOST = 1 << 62
"""All candidates."""


class CandidateClassifier(BaseEstimator):  # type: ignore[misc]
    """Chooses one candidate for each example, from the example's own candidates.

    X is `Groups`, dicts with `text` and `candidates`, a table or a file; y gives the answers if X has none:
    positions, candidates, lists of these, or None. `recipe` is a name or a `Recipe`.

    >>> X = [{"text": "a sky", "candidates": ["blue sky", "bread"]}, {"text": "apple", "candidates": ["car", "apple"]}]
    >>> CandidateClassifier(Recipe(task="rank")).fit(X, ["blue sky", "apple"]).predict(X)
    ['blue sky', 'apple']
    """

    def __init__(self, recipe: Any = "plain") -> None:
        self.recipe = recipe

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return face_repr(self, self.get_params(deep=False))

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on these examples."""
        self.model_ = self._recipe().fit(_labeled(X, y))
        return self

    def predict(self, X: Any) -> Sequence[Any]:
        """Predict a candidate for each example; None means "none of these"."""
        check_is_fitted(self)
        found: Sequence[Any] = self.model_.predict(X)
        return found

    def score(self, X: Any, y: Any = None) -> float:
        """Accuracy."""
        check_is_fitted(self)
        return self.model_.evaluate(_labeled(X, y), rounds=0).value("accuracy")

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the fitted model to a file; `force` replaces an existing file."""
        check_is_fitted(self)
        self.model_.save(path, force)

    @classmethod
    def load(cls, path: str | os.PathLike[str], functions: Any = None) -> Self:
        """Load a fitted estimator from a model file."""
        model = Model.load(path, functions)
        found = cls(model.recipe)
        found.model_ = model
        return found

    def _recipe(self) -> Recipe:
        if isinstance(self.recipe, str):
            return named(self.recipe, "rank")
        if not isinstance(self.recipe, Recipe):
            raise InputTypeError(f"recipe takes a name or a Recipe, not {self.recipe!r}.")
        return self.recipe


class Ranker(CandidateClassifier):
    """Ranks the candidates of each example; `predict` returns them best first.

    >>> rows = [{"text": "who barks", "candidates": ["a dog barks", "a cat"], "answer": 0}]
    >>> ranker = Ranker().fit(rows * 3)
    >>> ranker.predict([{"text": "who barks", "candidates": ["a cat", "a dog barks"]}])
    [['a dog barks', 'a cat']]
    """

    def predict(self, X: Any) -> list[list[str | None]]:
        """Rank the candidates of each example, best first; None means "none of these"."""
        check_is_fitted(self)
        return [[candidate for candidate, _ in row] for row in self.model_.rank(X, MOST)]

    def score(self, X: Any, y: Any = None) -> float:
        """The mean reciprocal rank of the right candidate."""
        check_is_fitted(self)
        return self.model_.evaluate(_labeled(X, y), rounds=0).value("reciprocal_rank")


def _labeled(X: Any, y: Any) -> Groups:
    groups = as_groups(X)
    return groups if y is None else groups.answered(y)
