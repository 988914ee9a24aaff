"""From groups to a `RankModel`: features, strengths tried on held-out examples, weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnaeus.data.split import MANY, folds, kept_together, repeated
from linnaeus.erm import Watch, train
from linnaeus.erm.objective import Structured, structured
from linnaeus.erm.progress import Folds, Phase, Watcher, Watching, listening
from linnaeus.errors import DataError
from linnaeus.features.pairs.base import View
from linnaeus.learners.linear.solving import stopping
from linnaeus.model.ranker import RankModel
from linnaeus.optimizers import LBFGS, AdaGrad, Average
from linnaeus.outputs import Candidates
from linnaeus.tasks.keys import example_keys
from linnaeus.tasks.rank.groups import as_groups
from linnaeus.types import Start

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.data.groups import Groups
    from linnaeus.erm import Fit
    from linnaeus.learners.linear.learner import Linear
    from linnaeus.recipes.rank_recipe import RankRecipe
    from linnaeus.types import Choices, Params

    Progress: TypeAlias = Callable[[Phase], None] | None

FOLDS, BATCH = 5, 16
"""Folds where none are named; examples a step looks at."""


def train_groups(recipe: RankRecipe, source: Any, progress: Progress = None) -> RankModel:
    """Features are fitted on all examples; the strength that does best on held-out ones is taken."""
    say = progress or (lambda _: None)
    groups = as_groups(source)
    ready = groups.with_none() if recipe.none == "option" else groups
    _refuse(ready)
    facts: dict[str, Any] = {"examples": len(groups), "candidates": int(groups.offsets[-1])}
    learner = recipe.learner
    if recipe.tuning is not None:
        learner, facts["held_out"] = _tuned(recipe, ready, say)
    say(Phase("features", None, f"{len(groups):,} examples"))
    view = View(ready)
    features = recipe.pairs.fit(view)
    X = features.learning_rows(view)
    say(Phase("training"))
    fit = _solved(learner, X, ready.truth(), recipe.seed, tell=progress)
    facts |= {"strength": learner.strength, "reason": fit.trace.reason, "epochs": len(fit.trace)}
    w = fit.params["W"][:, 0].astype(np.float32)
    if not np.isfinite(w).all():
        raise DataError("Training diverged; use a smaller learning rate, a stronger regularizer, or another loss.")
    return RankModel(recipe, features, w, facts)


def _refuse(groups: Groups) -> None:
    truth = groups.truth()
    right = np.bincount(groups.group, truth.gold, len(groups)) > 0
    if not right.any():
        raise DataError("No example has a right candidate; give answers, or use none='option'.")


def _tuned(recipe: RankRecipe, groups: Groups, say: Watcher) -> tuple[Linear, dict[str, Any]]:
    """The strength with the best accuracy on held-out examples; the stronger among equals.

    With fewer examples than folds there are fewer folds; a single one cannot be held out, and nothing is tried.
    """
    assert recipe.tuning is not None
    strengths = recipe.tuning.strengths or (float(recipe.learner.strength or 0.0),)
    given = None if recipe.by is None else groups.column(recipe.by).dictionary_encode().indices.to_numpy()
    right = np.zeros((len(strengths), len(groups)))
    count, keys = max(recipe.tuning.folds or FOLDS, 2), example_keys(groups)
    parts = kept_together(keys, given, part=len(groups) / count)
    count = min(count, len(groups) if parts is None else len(np.unique(parts)))
    if count < 2:
        return recipe.learner, {"accuracy": None, "strengths": {}}
    shown = Folds(count, len(strengths), say)
    for fold in folds(len(groups), count, seed=recipe.seed, groups=parts):
        shown.begin()
        known, asked = View(groups.take(fold.train)), View(groups.take(fold.test))
        features = recipe.pairs.fit(known)
        X, start = features.learning_rows(known), None
        for i, strength in enumerate(strengths):
            learner = recipe.learner.with_strength(strength) if recipe.tuning.strengths else recipe.learner
            fit = _solved(learner, X, known.groups.truth(), recipe.seed, start)
            start = fit.params
            scores = features.scores(asked, fit.params["W"][:, 0])
            right[i, fold.test] = _right(scores, asked.groups.truth())
            shown.tried(strength, float(right[i, fold.test].mean()))
    accuracy = right.mean(axis=1)
    best = int(np.argmax(accuracy))
    tried = {str(strength): float(share) for strength, share in zip(strengths, accuracy.tolist(), strict=True)}
    learner = recipe.learner.with_strength(strengths[best]) if recipe.tuning.strengths else recipe.learner
    held: dict[str, Any] = {"accuracy": float(accuracy[best]), "strengths": tried}
    several = repeated(keys)
    if several.mean() > MANY and not several.all():
        held["once"] = float(right[best, ~several].mean())
    return learner, held


def _right(scores: Any, truth: Choices) -> Any:
    chosen = Candidates().decode(scores[:, None], truth.offsets)
    at = truth.offsets[:-1] + np.maximum(chosen, 0)
    return (chosen >= 0) & truth.gold[np.minimum(at, len(truth.gold) - 1)]


def _solved(learner: Linear, X: CSR, y: Choices, seed: int, start: Params | None = None, tell: Progress = None) -> Fit:
    objective = structured(X, y, Candidates(), learner.loss, learner.regularizer)
    optimizer = _optimizer(learner)
    stop = stopping(learner.settings(seed), learner.loss, optimizer)
    objective, columns = _narrowed(objective) if start is None else (objective, None)
    begin = Start(start or objective.initial(), seed=seed, epochs=stop.epochs or 100)
    with listening(Watching(tell) if tell else None, stop) as listeners:
        fit = train(objective, optimizer, Watch(stop, listeners=listeners), begin)
    if columns is None:
        return fit
    W = np.zeros((X.width, 1))
    W[columns] = fit.params["W"]
    return replace(fit, params={"W": W})


def _narrowed(objective: Structured) -> tuple[Structured, Any]:
    """The same with the columns that have values: pairs of words that never met need no weight."""
    X: Any = objective.X
    columns = X.touched()
    if isinstance(columns, slice) or len(columns) == X.shape[1]:
        return objective, None
    return replace(objective, X=X.narrow(columns)), columns


def _optimizer(learner: Linear) -> Any:
    if not (isinstance(learner.optimizer, str) and learner.optimizer == "auto"):
        return learner.optimizer
    return LBFGS() if learner.loss.smooth else Average(AdaGrad(batch=BATCH))
