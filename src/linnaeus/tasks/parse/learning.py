"""Learning of dependency trees: sentences to features, heads and relations; a learner of trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.data.sentences import Sentences
from linnaeus.errors import UsageError
from linnaeus.learners.dependencies.learner import Treebank
from linnaeus.learners.run import Run, telling
from linnaeus.protocols import UpdatesTrees, capability
from linnaeus.tasks.examples import Examples, Learned
from linnaeus.tasks.parse.task import Part, space_of, with_read_columns
from linnaeus.tasks.parse.trees import RELATIONS, UNNAMED, column_named, trees_of
from linnaeus.tasks.sentences import SentenceLesson
from linnaeus.types import Heads

if TYPE_CHECKING:
    from linnaeus.features.arcs import FittedArcs
    from linnaeus.learners.dependencies import Dependencies, TreeWeights
    from linnaeus.model.model import Model
    from linnaeus.recipes.recipe import Recipe


class ParseLesson(SentenceLesson):
    """The sentences with their features, heads and relations."""

    def __init__(self, recipe: Recipe, examples: Examples) -> None:
        super().__init__(recipe, examples)
        self.features = recipe.features.fit(self.sentences)
        self.bank, self.names = treebank(self.features, self.sentences)

    def fitted(self, learner: Dependencies, run: Run) -> Part:
        """A parser of these sentences."""
        return Part(self.features, self.learned(learner, run), tuple(self.names))

    def learned(self, learner: Dependencies, run: Run) -> TreeWeights:
        """The weights of arcs and relations."""
        told = telling(run, self.sentences.count, learner.epochs * learner.parts(self.features))
        return learner.learn_trees(self.bank, self.recipe.seed, told, run.kept)

    def learn(self, learner: Dependencies, run: Run) -> Learned:
        """The fields of the model of all sentences."""
        weights, names = self.learned(learner, run), np.array(self.names, dtype=str)
        return Learned({"space": space_of(weights), "classes": names, "form": "trees", "body": weights})


def treebank(features: FittedArcs, sentences: Sentences, known: Sequence[str] = ()) -> tuple[Treebank, list[str]]:
    """What a parser learns from; and the names of relations, sorted, with those that are known."""
    arcs = trees_of(sentences)
    found = arcs.relations.dictionary_encode()
    own = found.dictionary.to_pylist()
    names = sorted({*own, *known})
    place = {name: at for at, name in enumerate(names)}
    relations = np.array([place[name] for name in own], np.int32)[found.indices.to_numpy()]
    y = Heads.of(np.diff(sentences.offsets), arcs.heads)
    return Treebank(features, sentences, y, relations, len(names)), names


def learn_more(model: Model, examples: Examples, run: Run) -> Learned:
    """One epoch over more sentences, from the weights so far; new relations begin with zeros, features stay."""
    learner = capability(model.recipe.learner, UpdatesTrees)
    if learner is None:
        name = type(model.recipe.learner).__name__
        raise UsageError(f"A parser by {name} cannot be updated; train it again on all sentences.")
    sentences = with_read_columns(model, examples.stream)
    if (column_named(sentences, RELATIONS) is None) != (model.names == (UNNAMED,)):
        what = "have no relations" if model.names != (UNNAMED,) else "have relations"
        raise UsageError(
            f"The new sentences {what}, unlike those that the parser learned from; give sentences like them."
        )
    bank, names = treebank(model.features, sentences, model.names)
    start = model.body.widened(np.searchsorted(names, model.names), len(names))
    weights = learner.update_trees(bank, start, model.recipe.seed, telling(run, examples.stream.count, None))
    return Learned({"classes": np.array(names, dtype=str), "body": weights})
