"""`RankModel`: fitted pair features and one weight for each; it ranks the candidates of each example."""

from __future__ import annotations

import itertools
import os
from dataclasses import field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import store
from linnaeus.arrays.finite import finite_scores
from linnaeus.errors import UsageError
from linnaeus.features.pairs.base import View
from linnaeus.frozen import dataclass
from linnaeus.model.summary import figure, model_repr
from linnaeus.outputs import Candidates
from linnaeus.tasks.rank.groups import as_groups
from linnaeus.types import Choices

if TYPE_CHECKING:
    from linnaeus.data.groups import Groups
    from linnaeus.evaluation import Evaluation
    from linnaeus.explain import Explanation
    from linnaeus.features.pairs import FittedPairs
    from linnaeus.recipes.rank_recipe import RankRecipe
    from linnaeus.types import Doubles, Floats, Json, Longs


@dataclass(frozen=True, eq=False, repr=False)
class RankModel:
    """A fitted ranker. Its methods take `Groups`, or anything that `read_groups` reads: a file, a table, dicts.

    >>> from linnaeus import RankRecipe
    >>> rows = [{"text": "who barks", "candidates": ["a dog barks", "a cat"], "answer": 0}]
    >>> model = RankRecipe().fit(rows * 3)
    >>> isinstance(model, RankModel), model.weights.shape[0] > 0
    (True, True)
    """

    recipe: RankRecipe
    features: FittedPairs
    weights: Floats
    facts: dict[str, Json] = field(default_factory=dict)

    def __repr__(self) -> str:
        counts = {name: figure(self.facts.get(name)) for name in ("examples", "candidates")}
        learner = type(self.recipe.learner).__name__
        return model_repr(self, {"learner": learner, "features": figure(len(self.weights)), **counts})

    @property
    def alone(self) -> bool:
        """Whether each example is scored independently; some features use other examples of the same document."""
        return not _looks_around(self.recipe.pairs)

    def groups(self, source: Any) -> Groups:
        """The examples with their candidates, including "none of these" if the recipe allows it."""
        found = as_groups(source)
        return found.with_none() if self.recipe.none == "option" else found

    def scores(self, source: Any) -> tuple[Doubles, Longs]:
        """The scores of all candidates (m,), and the offsets of the examples; "none of these" is the last of each."""
        groups = self.groups(source)
        return self._scores(groups), groups.offsets

    def choose(self, source: Any) -> Longs:
        """The position of the chosen candidate of each example, from 0; -1 for "none of these" or no candidates."""
        s, offsets = self.scores(source)
        found = Candidates().decode(s[:, None], offsets)
        last = np.diff(offsets) - 1
        return np.where(found == last, -1, found) if self.recipe.none == "option" else found

    def predict(self, source: Any) -> list[str | None]:
        """Predict a candidate for each example; None means "none of these"."""
        groups = as_groups(source)
        words, starts = groups.candidates.to_pylist(), groups.offsets[:-1].tolist()
        return [None if at < 0 else words[start + at] for at, start in zip(self.choose(groups), starts, strict=True)]

    def rank(self, source: Any) -> list[list[tuple[str | None, float]]]:
        """Rank the candidates of each example, best first, with their probabilities."""
        from linnaeus.evaluation.choices import best_first

        groups = self.groups(source)
        s = self._scores(groups)
        p = self._softmax(s, groups)
        order, words = best_first(s, groups.offsets), groups.candidates.to_pylist()
        bounds = groups.offsets.tolist()
        ranked = [(words[at], float(p[at])) for at in order.tolist()]
        return [ranked[a:b] for a, b in itertools.pairwise(bounds)]

    def probabilities(self, source: Any) -> tuple[Doubles, Longs]:
        """The softmax of the scores of each example (m,), and the offsets."""
        groups = self.groups(source)
        return self._softmax(self._scores(groups), groups), groups.offsets

    def _scores(self, groups: Groups) -> Doubles:
        return finite_scores(self.features.scores(View(groups), self.weights.astype(np.float64)))

    def _softmax(self, s: Doubles, groups: Groups) -> Doubles:
        every = Choices(groups.offsets, np.ones(len(s), bool))
        return Candidates().soft(s[:, None], every).parts[:, 0]

    def test(self, source: Any, rounds: int = 1000) -> Evaluation:
        """Accuracy, mean reciprocal rank and recall at k on examples with answers."""
        from linnaeus.evaluation import evaluate, observe_choices

        groups = self.groups(source)
        return evaluate(observe_choices(self._scores(groups), groups.truth()), rounds)

    def explain(self, source: Any, row: int = 0) -> Explanation:
        """Explain, feature by feature, why the chosen candidate of an example scores above the second best."""
        from linnaeus.tasks.rank.reasons import reason

        groups = self.groups(source)
        if not 0 <= row < len(groups):
            raise UsageError(f"There is no example {row}; they are numbered from 0 to {len(groups) - 1}.")
        return reason(self, groups, row)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write one file, in one step; equal models give equal bytes. `force` replaces an existing file."""
        from linnaeus.model.ranker_file import state_of

        store.save(path, state_of(self), force)

    @staticmethod
    def load(path: str | os.PathLike[str], functions: Any = None, verify: bool | None = None) -> RankModel:
        """Load a model from a file that `save` wrote; `functions` are the functions that its features name."""
        from linnaeus.model.ranker_file import ranker_of

        return ranker_of(store.load(path, verify), functions)


def _looks_around(piece: Any) -> bool:
    """Whether a feature, or one inside it, puts examples together by a column."""
    if isinstance(piece, tuple):
        return any(map(_looks_around, piece))
    if not is_dataclass(piece):
        return False
    return getattr(piece, "by", None) is not None or any(
        _looks_around(getattr(piece, part.name)) for part in fields(piece)
    )
