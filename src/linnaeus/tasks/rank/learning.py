"""Learning to rank: features of pairs, strengths tried on held-out examples, weights."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import DataError
from linnaeus.evaluation import evaluate, observe_choices
from linnaeus.features.pairs.base import View
from linnaeus.learners.run import Run
from linnaeus.outputs import Candidates
from linnaeus.protocols import LearnsCandidates
from linnaeus.tasks.base import TaskLesson
from linnaeus.tasks.examples import Examples, Learned, Leg
from linnaeus.tasks.rank.scoring import candidate_scores
from linnaeus.types import GroupedLesson

if TYPE_CHECKING:
    from linnaeus.data.split import Split
    from linnaeus.features.pairs import FittedPairs
    from linnaeus.learners.candidates import FittedCandidates
    from linnaeus.recipes.recipe import Recipe


class RankLesson(TaskLesson):
    """The features of all candidates, and which of them are right."""

    def __init__(self, recipe: Recipe, examples: Examples) -> None:
        self.recipe, self.groups = recipe, examples.stream
        self.view = View(self.groups)
        self.features = recipe.features.fit(self.view)

    def legs(self, split: Split, strengths: Collection[float], run: Run) -> Iterator[Leg]:
        """For each strength, the scores of held-out candidates; each starts from the weights of the one before."""
        known, asked = View(self.groups.take(split.train)), View(self.groups.take(split.test))
        features = self.recipe.features.fit(known)
        lesson = self._posed(features, known, run if len(strengths) == 1 else Run())
        fit: FittedCandidates | None = None
        for strength in strengths:
            learner = self.recipe.learner
            learner = learner if learner.strength is None else learner.with_strength(strength)
            fit = learner.learn_candidates(lesson, fit)
            scores = candidate_scores(features, asked, fit.params, fit.body)
            facts = observe_choices(scores, asked.groups.truth())
            yield Leg(facts, evaluate(facts, rounds=0).merit)

    def learn(self, learner: LearnsCandidates, run: Run) -> Learned:
        """What scores the candidates of all examples."""
        fit = learner.learn_candidates(self._posed(self.features, self.view, run))
        params = fit.stored
        if not all(np.isfinite(values).all() for values in params.values()):
            raise DataError("Training diverged; use a smaller learning rate, a stronger regularizer, or another loss.")
        found = {"space": Candidates(), "classes": None, "form": "candidates", "params": params, "body": fit.body}
        return Learned(found, fit.trace)

    def _posed(self, features: FittedPairs, view: View, run: Run) -> GroupedLesson:
        rows, truth = features.learning_rows(view), view.groups.truth()
        return GroupedLesson(rows, truth, 1, self.recipe.seed, features.names, run)
