"""`Recipe.fit`: features, cross-fitting, the final training, the decision and an honest account of it all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays.linear import stored
from linnaeus.arrays.weights import refuse_strangers
from linnaeus.erm.progress import Folds, Phase, Watcher, Watching
from linnaeus.errors import DataError, UsageError
from linnaeus.features import Counted, Everyone, as_unseen, count_rows
from linnaeus.features.label_use import peeks
from linnaeus.kernels.threads import Beside
from linnaeus.learners.linear.problems import posed
from linnaeus.learners.linear.solving import Problem, solve
from linnaeus.learners.problems import is_family, learn, posed_family
from linnaeus.learners.restore import weights_of
from linnaeus.losses import PointLoss, Squared
from linnaeus.model.kept_texts import keep
from linnaeus.model.model import Classifier
from linnaeus.outputs import Real
from linnaeus.recipes.tuning import refuse_folds
from linnaeus.tasks.classify.swapped import refuse_swapped
from linnaeus.tasks.examples import Examples, as_examples
from linnaeus.training.account import fingerprint, settle
from linnaeus.training.crossfit import Held, crossfit, cut

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.data.split import Split
    from linnaeus.features import Fitted
    from linnaeus.recipes.recipe import Recipe


CALIBRATION = Phase("calibration", None, "probabilities and intervals from held-out rows")


def train_corpus(recipe: Recipe, corpus: Any, progress: Watcher | None = None) -> Classifier:
    """Train on a corpus, or on anything `linnaeus.read` takes."""
    return train(recipe, as_examples(corpus), progress)


def train(recipe: Recipe, examples: Examples, progress: Watcher | None = None) -> Classifier:
    """The whole training; the same data, recipe and seed give the same bits."""
    tell = progress or (lambda _phase: None)
    if not is_family(recipe.learner):
        refuse_loss(recipe.learner.loss, numbers=examples.labels is None)
    examples = examples.counted()
    refuse_swapped(examples)
    refuse_folds(recipe.tuning, len(examples))
    tell(Phase("features"))
    if (summed := _summed(recipe, examples)) is not None:
        return summed
    examples = examples.keyed(recipe.features) if recipe.tuning else examples
    counted = count_rows(recipe.features, examples.stream) if peeks(recipe.features) and recipe.tuning else None
    everything = np.arange(len(examples))
    features, X = counted.learn(examples.stream, everything) if counted else recipe.features.fit_rows(examples.stream)
    problem = pose(recipe.learner, X, examples)
    held = _held(recipe, examples, (features, problem, counted), tell)
    del counted
    learner = recipe.learner if held is None or held.strength is None else recipe.learner.with_strength(held.strength)
    tell(Phase("training"))
    mark = Beside(lambda: fingerprint(examples)).begin()  # as long as one thread is enough for the rest
    found = _bare(recipe, examples, features, problem.space)
    if is_family(learner):
        body = learn(learner, problem, recipe.seed)
        found = replace(found, params=weights_of(body, problem.space), body=body)
        tell(CALIBRATION)
        return settle(found, examples, held, None, mark.result())
    fit = solve(learner.settings(recipe.seed, Watching(progress) if progress else None), problem)
    tell(CALIBRATION)
    return settle(replace(found, params=stored(fit.params)), examples, held, fit.trace, mark.result())


def _bare(recipe: Recipe, examples: Examples, features: Fitted, space: Any) -> Classifier:
    """A classifier before anything is learned."""
    return Classifier(
        plan=recipe,
        features=features,
        params={},
        space=space,
        classes=None if examples.labels is None else examples.labels.classes,
        form="numbers" if examples.labels is None else examples.labels.form,
        kept=keep(examples) if recipe.keep == "texts" else None,
    )


def _summed(recipe: Recipe, examples: Examples) -> Classifier | None:
    """The same, of a learner that only sums up plain counts, without rows; None where it needs them."""
    if not is_family(recipe.learner) or examples.labels is None:
        return None
    from linnaeus.training.tallying import tallied

    mark = Beside(lambda: fingerprint(examples))
    found = tallied(recipe, examples, mark.begin)
    if found is None:
        return None
    features, body = found
    space = posed_family(recipe.learner, None, examples.labels, examples.weights).space
    model = replace(_bare(recipe, examples, features, space), params=weights_of(body, space), body=body)
    return settle(model, examples, None, None, mark.result())


def refuse_loss(loss: Any, *, numbers: bool) -> None:
    """Refuse, before any work, a loss for other labels than these."""
    name = type(loss).__name__
    if numbers and not isinstance(loss, PointLoss):
        raise UsageError(
            f"The {name} loss is for classes, and the labels are numbers; take the recipe ridge, or the loss squared, "
            "absolute or huber, or read the labels as classes with label_kind='one'."
        )
    if not numbers and isinstance(loss, PointLoss) and not isinstance(loss, Squared):
        raise UsageError(f"The {name} loss is for numbers, and the labels are classes; take another.")


def pose(learner: Any, X: CSR, examples: Examples) -> Problem:
    """The problem that the labels make: classes, label sets or numbers."""
    if is_family(learner):
        truth = examples.numbers if examples.labels is None else examples.labels
        assert truth is not None
        return posed_family(learner, X, truth, examples.weights)
    if examples.labels is not None:
        refuse_strangers(learner.class_weight, examples.labels.classes)
        return posed(learner.settings(0), X, examples.labels, examples.weights)
    assert examples.numbers is not None
    table = examples.numbers.reshape(len(examples), -1)
    if not np.isfinite(table).all():
        raise DataError("A label is not a finite number; correct it, or leave its row out.")
    return Problem(X, table, examples.weights, Real(), table.shape[1])


def _held(
    recipe: Recipe, examples: Examples, known: tuple[Fitted, Problem, Counted | None], tell: Watcher
) -> Held | None:
    """Scores by models that have not seen the rows, where the recipe wants any and there are rows enough.

    Features that look at labels are learned anew for each fold, from counts where these are known. Terms of the fold
    alone are taken out of its rows, as they would be out of new ones.
    """
    whole, problem, counted = known
    if recipe.tuning is None or not (splits := cut(problem, examples, recipe.tuning, recipe.seed)):
        return None
    shown, everyone = Folds(len(splits), len(recipe.tuning.strengths or ()), tell), Everyone.of(problem.rows)

    def parts(split: Split) -> tuple[Problem, Problem]:
        shown.begin()
        if not peeks(recipe.features):
            rows = as_unseen(recipe.features, whole, problem.rows.take(split.test), everyone)
            return problem.take(split.train), problem.part(split.test, rows)
        stream = examples.take(split.train).stream
        if counted is not None:
            features, X = counted.learn(stream, split.train)
            rows = as_unseen(recipe.features, features, counted.rows(features, split.test), everyone)
            return problem.part(split.train, X), problem.part(split.test, rows)
        features, X = recipe.features.fit_rows(stream)
        rows = features.rows(examples.take(split.test).stream)
        return problem.part(split.train, X), problem.part(split.test, rows)

    return crossfit(recipe.learner, parts, splits, recipe.tuning, recipe.seed, shown.tried)
