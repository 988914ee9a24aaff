"""Learning a model of many labels: the rows, answers to held-out ones, and what is learned from these."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import UsageError, damaged
from linnaeus.evaluation import observe_ranked
from linnaeus.evaluation.facts import singles
from linnaeus.features.cross_validation import peeks
from linnaeus.learners.label_tree.chances import learn_curve, learn_threshold
from linnaeus.learners.label_tree.fitted import BORDER, FittedLabels
from linnaeus.learners.label_tree.learner import LabelTree
from linnaeus.learners.label_tree.names import LabelNames
from linnaeus.learners.linear.solving import Problem
from linnaeus.tasks.examples import Examples, Held, Learned, Leg
from linnaeus.tasks.judging import held_out_evaluation
from linnaeus.tasks.rows import RowsLesson
from linnaeus.types import Array, Doubles, Floats, Ints, Label, LabelSets, Lesson, Longs, Truth

if TYPE_CHECKING:
    from linnaeus.data.split import Split
    from linnaeus.learners.run import Run
    from linnaeus.model.model import Model
    from linnaeus.recipes.recipe import Recipe

LEADING = 5
"""Labels of a set by which strengths are compared."""
DEPTH = 10
"""The fewest labels of a text that are looked at."""
UNTAUGHT = (3.0, 0.0, 3.0 * BORDER)
"""The curve of label sets where no rows were held out: a half for a label whose ranker says 0."""


class ManyLesson(RowsLesson):
    """The rows of the examples, and which of very many labels each has."""

    def __init__(self, recipe: Recipe, examples: Examples) -> None:
        if examples.labels is None:
            raise UsageError("A model of many labels needs labels, and these are numbers; take the recipe ridge.")
        if peeks(recipe.features):
            raise UsageError(
                "These features learn weights from the labels, which are too many for it; use others, such as Words()."
            )
        super().__init__(recipe, examples)

    @property
    def folds(self) -> int:
        """One part is held out once."""
        return 1

    def legs(self, split: Split, strengths: Collection[float], run: Run) -> Iterator[Leg]:
        """The best labels of held-out rows for each strength, and how often the first is right."""
        train, test = self._parts(split)
        learner = self.recipe.learner
        for strength in strengths:
            found = self._learned(learner.with_strength(strength), train, run)
            answers = joined(*found.best(test.rows.to_csr(), depth_of(self.problem.y)))
            yield Leg(answers, float(np.average(goodness_of(parted(answers)[0], test.y), weights=test.weights)))

    def learn(self, learner: Any, run: Run) -> Learned:
        """The model of all rows."""
        labels, problem = self.examples.labels, self.problem
        assert labels is not None
        body = replace(self._learned(learner, problem, run), depth=depth_of(problem.y))
        if labels.sets:
            body = replace(body, curve=UNTAUGHT)
        return Learned({"space": problem.space, "classes": None, "form": labels.form, "params": {}, "body": body})

    def _learned(self, learner: Any, problem: Problem, run: Run) -> FittedLabels:
        """The label tree of a problem whose labels have the names of the examples."""
        labels, seed = self.examples.labels, self.recipe.seed
        assert labels is not None
        lesson = Lesson(problem.rows, problem.y, problem.weights, problem.k, seed, run=run, labels=labels.classes)
        found: FittedLabels = learner.learn(lesson)
        return found


def depth_of(y: Truth) -> int:
    """How many labels of a text are looked at: twice as many as texts have, or more."""
    return max(DEPTH, int(np.ceil(2 * len(y.labels) / max(1, len(y))))) if isinstance(y, LabelSets) else DEPTH


def joined(labels: Ints, scores: Floats) -> Doubles:
    """Labels and their scores side by side in one array, as held-out answers are kept."""
    return np.hstack([labels.astype(np.float64), np.maximum(scores.astype(np.float64), -1e30)])


def parted(answers: Doubles) -> tuple[Ints, Floats]:
    """The labels and the scores again."""
    depth = answers.shape[1] // 2
    labels = answers[:, :depth].astype(np.int32)
    return labels, np.where(labels >= 0, answers[:, depth:], -np.inf).astype(np.float32)


def goodness_of(labels: Ints, truth: Truth) -> Doubles:
    """Whether the best label of each row is right; of label sets the share of the five best that could be."""
    right = found_in(labels, truth)
    if not isinstance(truth, LabelSets):
        return right[:, 0].astype(np.float64)
    most = np.clip(np.diff(truth.offsets), 1, LEADING)
    return right[:, :LEADING].sum(axis=1) / most


def found_in(labels: Ints, truth: Truth) -> Array:
    """Which of the best labels are true (n, depth)."""
    if not isinstance(truth, LabelSets):
        return labels == truth[:, None]
    k = 1 + max(int(labels.max(initial=0)), int(truth.labels.max(initial=0)))
    owner = np.repeat(np.arange(len(truth)), np.diff(truth.offsets))
    return np.isin(np.arange(len(labels))[:, None] * k + labels, owner * k + truth.labels) & (labels >= 0)


def as_sets(y: Truth) -> LabelSets:
    """One label for each row as label sets."""
    return y if isinstance(y, LabelSets) else singles(y)


def settle(model: Model, examples: Examples, held: Held | None) -> Model:
    """The model with chances and a threshold that held-out rows teach, and its evaluation on them."""
    if held is None:
        return model
    labels, scores = parted(held.answers)
    truth, weights = examples.y[held.rows], examples.weights[held.rows]
    body: FittedLabels = taught(model.body, (labels, scores), truth, weights)
    facts = observe_ranked(labels, as_sets(truth), body.counts.astype(np.int64), len(examples), weights)
    account = held_out_evaluation(facts, examples, held, model.recipe.seed)
    return replace(model, body=body, account=account)


def taught(body: FittedLabels, best: tuple[Ints, Floats], truth: Truth, weights: Doubles) -> FittedLabels:
    """The trees with the curve of chances and the threshold that these answers to held-out rows teach."""
    labels, scores = best
    right = found_in(labels, truth)
    if not right.any() or not len(right):
        return body
    body = replace(body, curve=learn_curve(scores, right, weights))
    if not isinstance(truth, LabelSets):
        from linnaeus.tasks.many.stopping import learn_stops

        return replace(body, stops=learn_stops(body, best, truth, weights))
    sizes: Longs = np.diff(truth.offsets)
    return replace(body, threshold=learn_threshold(body.chances(scores), right, sizes))


def more(model: Model, examples: Examples) -> Learned:
    """The trees after more rows; the labels of both are numbered anew."""
    from linnaeus.learners.label_tree.updating import News, extended, renumbered

    labels, body, learner = examples.labels, model.body.whole(), model.recipe.learner
    if not isinstance(learner, LabelTree):
        raise damaged("its recipe learns no label tree")
    if labels is None or labels.sets != (model.form != "single"):
        raise UsageError(
            "The labels of the new rows differ in kind from the model's; give rows like the training rows."
        )
    y = as_sets(labels.y)
    used, at = np.unique(y.labels, return_inverse=True)
    given = body.names.alike(labels.classes[used].tolist())
    places = dict(zip(given, body.names.find(given).tolist(), strict=True))
    fresh = [name for name, place in places.items() if place < 0]
    places |= dict(zip(fresh, range(body.k, body.k + len(fresh)), strict=True))
    numbers = np.array([places[name] for name in given], np.int32)
    X = model.features.rows(examples.stream)
    called = tuple(map(str, fresh))
    news = News(X, LabelSets(y.offsets, numbers[at]), examples.weights, body.k, body.k + len(fresh), called)
    names, order = body.names.joined(fresh)
    body = renumbered(extended(learner, body, news), order)
    return Learned({"body": replace(body, names=names)})


def less(model: Model, labels: Sequence[Label]) -> Learned:
    """The trees without these labels."""
    from linnaeus.learners.label_tree.updating import renumbered

    body = model.body.whole()
    gone = body.names.find(list(labels))
    for name, label in zip(labels, gone.tolist(), strict=True):
        if label < 0:
            raise UsageError(f"The model has no label {str(name)!r} to remove.")
    kept = np.ones(body.k, bool)
    kept[gone] = False
    if not kept.any():
        raise UsageError("These are all labels of the model; keep at least one.")
    numbers = np.where(kept, np.cumsum(kept) - 1, -1)
    return Learned({"body": replace(renumbered(body, numbers), names=LabelNames.of(body.names.array()[kept]))})
