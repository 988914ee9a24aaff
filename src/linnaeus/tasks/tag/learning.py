"""Learning of tags: sentences to templates, rows and tags; a chain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.erm.progress import Phase
from linnaeus.evaluation import evaluate
from linnaeus.learners.chain.learner import BatchChain
from linnaeus.learners.run import Run
from linnaeus.outputs import Sequence
from linnaeus.tasks.base import TaskLesson
from linnaeus.tasks.examples import Examples, Learned, Leg
from linnaeus.tasks.tag.task import Part
from linnaeus.types import Tags

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.data.split import Split
    from linnaeus.learners.chain.learner import Chain, Greedy
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.types import Ints

LEAST = 20
"""Sentences from which some are held out."""


class TagLesson(TaskLesson):
    """The rows of all tokens and their tags."""

    folds = 1

    def __init__(self, recipe: Recipe, examples: Examples) -> None:
        sentences: Sentences = examples.stream
        self.recipe, self.sentences = recipe, sentences
        tags, self.names = _numbered(recipe.task.coder.classes(sentences))
        self.features = recipe.features.fit(sentences)
        self.y = Tags(sentences.offsets - sentences.offsets[0], tags)

    def enough(self, rows: int, groups: int) -> bool:
        """Whether some of these sentences can be held out."""
        return rows >= LEAST and groups >= LEAST // 2

    def legs(self, split: Split, strengths: tuple[float, ...]) -> Iterator[Leg]:
        """For each strength, the tags of the held-out sentences by a tagger trained on the others."""
        part = TagLesson(self.recipe, Examples(self.sentences.take(split.train), None, None, np.ones(0)))
        held = self.sentences.take(split.test)
        for strength in strengths:
            found = part.learn(self.recipe.learner.with_strength(strength), Run()).fields
            model = Part(part.features, found["body"], tuple(part.names), found["words"])
            facts = self.recipe.task.observe(model, held)
            yield Leg(facts, evaluate(facts, rounds=0).merit)

    def learn(self, learner: Chain | BatchChain | Greedy, run: Run) -> Learned:
        """The weights of features and transitions."""
        X, count = self.features.rows(self.sentences), self.sentences.count
        # A learner that ends at its tolerance does not know how many epochs that takes.
        epochs = None if isinstance(learner, BatchChain) else learner.epochs

        def told(epoch: int, loss: float, wrong: int | None) -> None:
            missed = "" if wrong is None else f", {wrong / max(count, 1):.2%} of tokens wrong"
            share = None if epochs is None else (epoch + 1) / epochs
            if run.progress is not None:
                run.progress(Phase("training", share, f"epoch {epoch + 1}, loss {loss:,.1f}{missed}"))

        weights = learner.learn_tags(X, self.y, len(self.names), self.recipe.seed, told, run.kept)
        words = dictionary(self.sentences, self.y.tags, self.recipe.task.dictionary)
        names = np.array(self.names, dtype=str)
        return Learned({"space": Sequence(), "classes": names, "form": "tags", "body": weights, "words": words})


def _numbered(tags: pa.Array) -> tuple[Ints, list[str]]:
    """Tags as numbers, and their names, sorted."""
    found = tags.dictionary_encode()
    names = found.dictionary.to_pylist()
    order = sorted(range(len(names)), key=lambda i: names[i])
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names))
    return rank[found.indices.to_numpy()], [names[i] for i in order]


def dictionary(sentences: Sentences, tags: Ints, least: int) -> dict[str, int]:
    """Words seen so often and always with one tag, and that tag."""
    if not least:
        return {}
    words = sentences.tokens.dictionary_encode()
    at, count = words.indices.to_numpy(), np.bincount(words.indices.to_numpy(), minlength=len(words.dictionary))
    low, high = np.full(len(count), np.iinfo(np.int32).max, np.int32), np.full(len(count), -1, np.int32)
    np.minimum.at(low, at, tags)
    np.maximum.at(high, at, tags)
    keep = np.flatnonzero((count >= least) & (low == high))
    return dict(zip(words.dictionary.take(pa.array(keep)).to_pylist(), low[keep].tolist(), strict=True))
