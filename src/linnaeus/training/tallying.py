"""Counting models from texts to counts in one go: where rows would only be summed up, none are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.features.ngrams import TermBlock
from linnaeus.frozen import dataclass
from linnaeus.learners.bayes import Complement, CountModel, Counts, Frequencies, Multinomial
from linnaeus.learners.bayes.counts import check_number
from linnaeus.tasks.rows import summed

if TYPE_CHECKING:
    from linnaeus.data import Batch
    from linnaeus.features import Fitted
    from linnaeus.protocols import Stream
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.examples import Examples, Learned

SUMMING = (Multinomial, Complement, Frequencies)
"""The learners that look at sums of rows only."""
MOST = 16
"""Classes up to which each thread counts all terms for each of them; with more, rows are smaller than that."""


def tallied(recipe: Recipe, examples: Examples, meanwhile: Callable[[], Any]) -> tuple[Fitted, Learned] | None:
    """Features and model, where nothing is held out and features are plain counts; None where rows are needed.

    The counts are those of the rows to the last bit. `meanwhile` is called when the texts have been read: what is left
    keeps one thread busy.
    """
    labels, features = examples.labels, recipe.features
    if recipe.tuning is not None or not isinstance(features, TermBlock) or not isinstance(recipe.learner, SUMMING):
        return None
    if labels is None or labels.sets or not 2 <= len(labels.classes) <= MOST or (examples.weights != 1).any():
        return None
    k = len(labels.classes)
    check_number(recipe.learner.priors, k)
    found = features.learn_tally(_Then(examples.stream, meanwhile), (labels.y.astype(np.int32, copy=False), k))
    if found is None:
        return None
    sizes = np.bincount(labels.y, minlength=k).astype(np.float64)
    return found[0], summed(recipe, examples, CountModel(recipe.learner, Counts(found[1], sizes)))


@dataclass(frozen=True)
class _Then:
    """A stream after whose end something is begun."""

    stream: Stream
    begin: Callable[[], Any]

    def batches(self) -> Iterator[Batch]:
        yield from self.stream.batches()
        self.begin()
