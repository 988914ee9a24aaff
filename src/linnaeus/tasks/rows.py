"""Learning from rows of features: the problem that labels make, and scores by models that have not seen the rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays import linear
from linnaeus.arrays.linear import stored
from linnaeus.arrays.weights import refuse_strangers
from linnaeus.erm.choose import choose_optimizer
from linnaeus.erm.pieces import piece
from linnaeus.erm.train import walk
from linnaeus.errors import DataError, UsageError
from linnaeus.features import Counted, Everyone, as_unseen, count_rows
from linnaeus.features.cross_validation import peeks
from linnaeus.features.ngrams import TermBlock
from linnaeus.frozen import dataclass
from linnaeus.learners.linear.problems import posed
from linnaeus.learners.linear.solving import Problem, fold, objective_of, solve, stopping
from linnaeus.learners.problems import goodness, is_family, learn, posed_family
from linnaeus.learners.restore import scores_of, weights_of
from linnaeus.losses import PointLoss, Squared
from linnaeus.outputs import Real
from linnaeus.protocols import JointSpace, LearnsSequences, Loss, MinimizesLoss, Solver, Stream, capability, has
from linnaeus.tasks.base import TaskLesson
from linnaeus.tasks.examples import Examples, Learned, Leg
from linnaeus.types import Array, Doubles, Longs

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.data import Batch
    from linnaeus.data.split import Split
    from linnaeus.erm import Objective, Stop
    from linnaeus.features import Fitted
    from linnaeus.learners.run import Run
    from linnaeus.recipes.recipe import Recipe

LOOSE = 1e-2
"""The relative gap to which strengths are compared: held-out scores hardly change below it."""


FOLDS = ((1e7, 10), (2e7, 3))
"""How many folds there are below so many stored values times scores; beyond, a fifth of the rows is held out once."""
ENOUGH = 200
"""Rows from which there may be more than 5 folds."""
MOST_COUNTED = 16
"""Classes up to which each thread counts all terms for each of them; with more, rows are smaller than that."""


class RowsLesson(TaskLesson):
    """The rows of the examples and the problem that their labels make.

    Features that look at labels are learned anew for each fold, from counts where these are known. Terms of the fold
    alone are taken out of its rows, as they would be out of new ones.
    """

    def __init__(self, recipe: Recipe, examples: Examples) -> None:
        if not is_family(recipe.learner):
            refuse_loss(recipe.learner.loss, numbers=examples.labels is None)
        recipe = with_known_words(recipe)
        self.recipe, self.examples = recipe, examples
        self.counted: Counted | None = None
        if peeks(recipe.features) and recipe.tuning:
            self.counted = count_rows(recipe.features, examples.stream)
        if self.counted is not None:
            self.features, X = self.counted.learn()
        else:
            self.features, X = recipe.features.fit_rows(examples.stream)
        refuse_order(recipe.learner, self.features)
        self.problem = replace(pose(recipe.learner, X, examples), names=self.features.names)

    @property
    def folds(self) -> int:
        """The number of folds for data of this size."""
        rows, space = self.problem.rows, self.problem.space
        work = rows.nnz * space.width(self.problem.k)
        found = next((folds for most, folds in FOLDS if work < most), 1)
        return found if rows.shape[0] >= ENOUGH else min(found, 5)

    @cached_property
    def _everyone(self) -> Everyone:
        return Everyone.of(self.problem.rows, self.features.ordered)

    def legs(self, split: Split, strengths: Collection[float], run: Run) -> Iterator[Leg]:
        """Held-out scores and how good they are, for each strength."""
        whole, test = self._parts(split)
        train, present = there(whole)
        for found in self._scores(train, test, strengths, run if len(strengths) == 1 else replace(run, kept=None)):
            S = spread(found, present, whole)
            yield Leg(S, goodness(test.space, S, test.y, test.weights))

    def _scores(self, train: Problem, test: Problem, strengths: Collection[float], run: Run) -> Iterator[Doubles]:
        """Scores of the second part by models of the first, each strength from where the one before it ended.

        A learner that enters at scores, or keeps rows aside to know when to stop, is trained anew for each strength.
        """
        learner, seed = self.recipe.learner, self.recipe.seed

        def at(strength: float) -> Any:
            return learner if learner.strength is None else learner.with_strength(strength)

        if is_family(learner):
            yield from (scores_of(learn(at(some), train, seed, run), test.rows, train.space) for some in strengths)
        elif learner.held_out:
            yield from (linear.scores(test.rows, solve(at(some).settings(seed), train).params) for some in strengths)
        else:
            if (folded := fold(learner, train.rows)) is not None:
                train = replace(train, rows=folded.rows)
                test = replace(test, rows=folded.other(test.rows.to_csr()))
            legs = walk(lambda some: objective_of(at(some).settings(seed), train), self._solver, strengths, seed)
            yield from (linear.scores(test.rows, leg.params) for leg in legs)

    def _solver(self, objective: Objective) -> tuple[Solver, Stop]:
        """What minimizes an objective to compare strengths, and when it stops."""
        learner = self.recipe.learner
        loose = learner if learner.tol is None else replace(learner, tol=max(learner.tol, LOOSE))
        auto = isinstance(loose.optimizer, str)
        solver = choose_optimizer(objective, loose.tol) if auto else piece("optimizer", loose.optimizer)
        return solver, stopping(loose.settings(self.recipe.seed), objective.loss, solver)

    def _parts(self, split: Split) -> tuple[Problem, Problem]:
        features, problem, counted = self.recipe.features, self.problem, self.counted
        if not peeks(features):
            rows = as_unseen(features, self.features, problem.rows.take(split.test), self._everyone)
            return problem.take(split.train), problem.part(split.test, rows)
        if counted is not None:
            fitted = counted.without(self.examples.take(split.test).stream, split.test)
            rows = as_unseen(features, fitted, counted.rows(fitted, split.test), self._everyone)
            return problem.part(split.train, counted.rows(fitted, split.train)), problem.part(split.test, rows)
        fitted, X = features.fit_rows(self.examples.take(split.train).stream)
        rows = fitted.rows(self.examples.take(split.test).stream)
        return replace(problem.part(split.train, X), names=fitted.names), problem.part(split.test, rows)

    def learn(self, learner: Any, run: Run) -> Learned:
        """The model of all rows."""
        self.counted = None  # large, and not needed any more
        problem = self.problem
        about = {"space": problem.space, **_named(self.examples)}
        if is_family(learner):
            body = learn(learner, problem, self.recipe.seed, run)
            return Learned({**about, "params": weights_of(body, problem.space), "body": body})
        fit = solve(learner.settings(self.recipe.seed, run.watching, run.kept), problem)
        return Learned({**about, "params": stored(fit.params)}, fit.trace)


def _named(examples: Examples) -> dict[str, Array | str | None]:
    """The classes of the examples, and the form of their labels."""
    if examples.labels is None:
        return {"classes": None, "form": "numbers"}
    return {"classes": examples.labels.classes, "form": examples.labels.form}


def tallied(recipe: Recipe, examples: Examples, meanwhile: Callable[[], object]) -> tuple[Fitted, Learned] | None:
    """Features and model of a learner that only sums up plain counts: no rows are made. None where rows are needed.

    The counts are those of the rows to the last bit. `meanwhile` is called when the texts have been read: what is left
    keeps one thread busy.
    """
    labels, features, learner = examples.labels, recipe.features, recipe.learner
    if recipe.tuning is not None or not isinstance(features, TermBlock) or labels is None or labels.sets:
        return None
    from linnaeus.learners.bayes import Complement, CountModel, Counts, Frequencies, Multinomial
    from linnaeus.learners.bayes.counts import check_number

    k = len(labels.classes)
    summing = isinstance(learner, Multinomial | Complement | Frequencies) and 2 <= k <= MOST_COUNTED
    if not summing or (examples.weights != 1).any():
        return None
    check_number(learner.priors, k)
    found = features.learn_tally(_Then(examples.stream, meanwhile), (labels.y.astype(np.int32, copy=False), k))
    if found is None:
        return None
    sizes = np.bincount(labels.y, minlength=k).astype(np.float64)
    body = CountModel(learner, Counts(found[1], sizes))
    space = posed_family(learner, None, labels, examples.weights).space
    return found[0], Learned({"space": space, **_named(examples), "params": weights_of(body, space), "body": body})


@dataclass(frozen=True)
class _Then:
    """A stream after whose end something is begun."""

    stream: Stream
    begin: Callable[[], object]

    def batches(self) -> Iterator[Batch]:
        yield from self.stream.batches()
        self.begin()


def with_known_words(recipe: Recipe) -> Recipe:
    """The recipe, whose features also know the words that the learner is given vectors for."""
    learner = capability(recipe.learner, LearnsSequences)
    return recipe if learner is None else replace(recipe, features=learner.reading(recipe.features))


def refuse_order(learner: Any, features: Fitted) -> None:
    """Refuse features without order for a learner that reads words in order, and ordered ones for most others."""
    name = type(learner).__name__
    if has(learner, LearnsSequences) and not features.ordered:
        raise UsageError(
            f"{name} reads words in their order, and these features have none; use WordSequence() "
            "(in a recipe: features.kind = 'word_sequence')."
        )
    if features.ordered and not has(learner, LearnsSequences) and not has(learner, MinimizesLoss):
        raise UsageError(f"{name} reads no words in their order, as WordSequence gives them; use Words().")


def refuse_loss(loss: Loss, *, numbers: bool) -> None:
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


def there(problem: Problem) -> tuple[Problem, Longs | None]:
    """The problem of the classes that have rows, where some have none and all are scored together; and which have.

    The bias of a class without rows would sink for ever under the log loss.
    """
    if not has(problem.space, JointSpace):
        return problem, None
    present, y = np.unique(problem.y, return_inverse=True)
    if len(present) == problem.k or len(present) < 2:
        return problem, None
    costs = problem.space.costs
    if costs is not None:
        costs = tuple(tuple(costs[a][b] for b in present) for a in present)
    space = replace(problem.space, costs=costs)
    return replace(problem, y=y.astype(np.int32), space=space, k=len(present)), present.astype(np.int64)


def spread(S: Doubles, present: Longs | None, problem: Problem) -> Doubles:
    """Scores of all classes: those without rows score as low as the lowest of the others."""
    if present is None:
        return S
    found = np.repeat(S.min(axis=1, keepdims=True), problem.k, axis=1)
    found[:, present] = S
    return found
