"""Learning to rank: features of pairs, strengths tried on held-out examples, weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import DataError
from linnaeus.evaluation import evaluate, observe_choices
from linnaeus.features.pairs.base import View
from linnaeus.learners.linear.solving import solve_candidates
from linnaeus.outputs import Candidates
from linnaeus.tasks.base import TaskLesson
from linnaeus.tasks.examples import Examples, Learned, Leg

if TYPE_CHECKING:
    from linnaeus.data.split import Split
    from linnaeus.learners.linear.learner import Linear
    from linnaeus.learners.run import Run
    from linnaeus.recipes.recipe import Recipe


class RankLesson(TaskLesson):
    """The features of all candidates, and which of them are right."""

    def __init__(self, recipe: Recipe, examples: Examples) -> None:
        self.recipe, self.groups = recipe, examples.stream
        self.view = View(self.groups)
        self.features = recipe.features.fit(self.view)

    def legs(self, split: Split, strengths: tuple[float, ...], run: Run) -> Iterator[Leg]:
        """For each strength, the scores of held-out candidates; each starts from the weights of the one before."""
        del run
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
