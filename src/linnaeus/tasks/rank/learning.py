"""Learning to rank: features of pairs, strengths tried on held-out examples, weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import DataError
from linnaeus.evaluation import evaluate, observe_choices
from linnaeus.features.pairs.base import View
from linnaeus.learners.linear.structured import solve_candidates
from linnaeus.outputs import Candidates
from linnaeus.tasks.examples import Examples, Learned, Leg
from linnaeus.tasks.keys import example_keys
from linnaeus.text import as_texts

if TYPE_CHECKING:
    from linnaeus.data.groups import Groups
    from linnaeus.data.split import Split
    from linnaeus.learners.linear.learner import Linear
    from linnaeus.learners.run import Run
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.rank.task import Rank


def rank_examples(task: Rank, source: Any) -> Examples:
    """Examples with their candidates and answers."""
    groups = task.material(source)
    truth = groups.truth()
    if not (np.bincount(groups.group, truth.gold, len(groups)) > 0).any():
        raise DataError("No example has a right candidate; give answers, or use none='option'.")
    return Examples(groups, None, None, np.ones(len(groups)))


def keyed(examples: Examples) -> Examples:
    """With keys of equal examples."""
    return replace(examples, keys=example_keys(examples.stream))


def grouped(examples: Examples, by: str) -> Examples:
    """With the values of a column as groups."""
    values = examples.stream.column(by).dictionary_encode().indices.to_numpy()
    return replace(examples, groups=values)


def contents(examples: Examples) -> Iterator[bytes]:
    """The bytes of texts, candidates and answers, and where each begins."""
    groups: Groups = examples.stream
    for column in (groups.text, groups.candidates):
        texts = as_texts(column.fill_null(""))
        yield texts.data[int(texts.offsets[0]) : int(texts.offsets[-1])].tobytes()
        yield np.ascontiguousarray(np.diff(texts.offsets)).tobytes()
    for array in (groups.offsets, groups.truth().gold):
        yield np.ascontiguousarray(array).tobytes()


class RankLesson:
    """The features of all candidates, and which of them are right."""

    folds = 5
    strata = None

    def __init__(self, recipe: Recipe, examples: Examples) -> None:
        self.recipe, self.groups = recipe, examples.stream
        self.view = View(self.groups)
        self.features = recipe.features.fit(self.view)

    def enough(self, rows: int, groups: int) -> bool:
        """Whether some of these examples can be held out."""
        del rows
        return groups > 1

    def legs(self, split: Split, strengths: tuple[float, ...]) -> Iterator[Leg]:
        """For each strength, the scores of held-out candidates; each starts from the weights of the one before."""
        known, asked = View(self.groups.take(split.train)), View(self.groups.take(split.test))
        features = self.recipe.features.fit(known)
        X, start = features.learning_rows(known), None
        for strength in strengths:
            learner = self.recipe.learner
            learner = learner if learner.strength is None else learner.with_strength(strength)
            fit = solve_candidates(learner, X, known.groups.truth(), self.recipe.seed, start)
            start = fit.params
            scores = features.scores(asked, fit.params["W"][:, 0])
            facts = observe_choices(scores, asked.groups.truth())
            yield Leg(facts, evaluate(facts, rounds=0).merit)

    def learn(self, learner: Linear, run: Run) -> Learned:
        """One weight for each feature."""
        X = self.features.learning_rows(self.view)
        fit = solve_candidates(learner, X, self.groups.truth(), self.recipe.seed, run=run)
        W = fit.params["W"].astype(np.float32)
        if not np.isfinite(W).all():
            raise DataError("Training diverged; use a smaller learning rate, a stronger regularizer, or another loss.")
        found = {"space": Candidates(), "classes": None, "form": "candidates", "params": {"W": W}}
        return Learned(found, fit.trace)
