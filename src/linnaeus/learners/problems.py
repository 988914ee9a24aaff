"""Learners of the families that enter at scores (counting, neighbors, kernels, trees): the problems they learn."""

from __future__ import annotations

import numpy as np

from linnaeus.arrays.labels import Labels
from linnaeus.arrays.weights import refuse_strangers
from linnaeus.errors import DataError, UsageError
from linnaeus.learners.linear.problems import posed, refuse_few_classes
from linnaeus.learners.linear.solving import Problem
from linnaeus.learners.run import Run
from linnaeus.outputs import Binary, Multiclass, MultiLabel, Real
from linnaeus.protocols import LearnsRows, MinimizesLoss, Model, NumberSpace, OutputSpace, Rows, capability, has
from linnaeus.types import Doubles, LabelSets, Lesson, Piece, Truth


def is_family(learner: Piece) -> bool:
    """Whether a learner enters at scores, rather than minimizing an objective."""
    return capability(learner, LearnsRows) is not None


def posed_family(learner: Piece, X: Rows | None, truth: Labels | Doubles, weights: Doubles) -> Problem:
    """The problem that labels, or numbers (n,) or (n, t), make for such a learner."""
    kind = "numbers" if not isinstance(truth, Labels) else "sets" if truth.sets else "classes"
    if kind not in learner.answers:
        there = {"numbers": "numbers", "sets": "sets of labels", "classes": "one class for each row"}[kind]
        known = " and ".join(learner.answers)
        raise UsageError(f"{type(learner).__name__} learns {known}, but the labels are {there}; use another recipe.")
    if isinstance(truth, Labels) and (own := capability(learner, MinimizesLoss)) is not None:
        refuse_strangers(learner.class_weight, truth.classes)
        return posed(own.settings(0), X, truth, weights)
    if isinstance(truth, Labels):
        refuse_few_classes(truth)
        space = MultiLabel() if truth.sets else Binary() if len(truth.classes) == 2 else Multiclass()
        return Problem(X, truth.y, weights, space, len(truth.classes))
    table = truth.reshape(len(weights), -1)
    if not np.isfinite(table).all():
        raise DataError("A label is not a finite number; correct it, or leave its row out.")
    return Problem(X, table, weights, Real(), table.shape[1])


def learn(learner: LearnsRows, problem: Problem, seed: int, run: Run | None = None) -> Model:
    """The learner's model of a problem; `run` tells of progress and keeps a checkpoint."""
    about = {"space": problem.space, "names": problem.names, "run": run}
    return learner.learn(Lesson(problem.rows, problem.y, problem.weights, problem.k, seed, **about))


def goodness(space: OutputSpace, S: Doubles, y: Truth, weights: Doubles) -> float:
    """The share of right answers; of label sets micro-F1; of numbers minus the mean squared error."""
    found = space.decode(S)
    if has(space, NumberSpace):
        return -float(np.average(((found - y) ** 2).reshape(len(weights), -1).mean(axis=1), weights=weights))
    if not isinstance(y, LabelSets):
        return float(np.average(found == y, weights=weights))
    truth = np.zeros(found.shape, bool)
    truth[np.repeat(np.arange(len(y)), np.diff(y.offsets)), y.labels] = True
    hits = float(weights @ (truth & (found > 0)).sum(axis=1))
    return 2 * hits / max(1e-300, float(weights @ (truth.sum(axis=1) + (found > 0).sum(axis=1))))
