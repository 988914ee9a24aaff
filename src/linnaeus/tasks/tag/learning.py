"""Learning of tags: sentences to templates, rows and tags; a fitted tagger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.data.sentences import Sentences
from linnaeus.errors import UsageError
from linnaeus.learners.run import Run
from linnaeus.outputs import Sequence as Chains
from linnaeus.protocols import LearnsTags, UpdatesTags, capability
from linnaeus.tasks.examples import Examples, Learned
from linnaeus.tasks.sentences import SentenceLesson
from linnaeus.tasks.tag.encoding import Encoding
from linnaeus.tasks.tag.task import Part
from linnaeus.types import GroupedLesson, Ints, Tags

if TYPE_CHECKING:
    from linnaeus.model.model import Model
    from linnaeus.recipes.recipe import Recipe


class TagLesson(SentenceLesson):
    """The rows of all tokens and their tags."""

    def __init__(self, recipe: Recipe, examples: Examples) -> None:
        super().__init__(recipe, examples)
        self.y, self.names = numbered(self.sentences, recipe.task.coder)
        self.features = recipe.features.fit(self.sentences)

    def fitted(self, learner: LearnsTags, run: Run) -> Part:
        """A tagger of these sentences."""
        found = self.learn(learner, run).fields
        return Part(self.features, found["body"], tuple(self.names), found["words"])

    def learn(self, learner: LearnsTags, run: Run) -> Learned:
        """Scores of tags at tokens, and transitions."""
        X = self.features.rows(self.sentences)
        seed, names = self.recipe.seed, np.array(self.names, dtype=str)
        body = learner.learn_tags(GroupedLesson(X, self.y, len(names), seed, self.features.names, run))
        words = dictionary(self.sentences, self.y.tags, self.recipe.task.dictionary)
        return Learned({"space": Chains(), "classes": names, "form": "tags", "body": body, "words": words})


def numbered(sentences: Sentences, coder: Encoding, known: Sequence[str] = ()) -> tuple[Tags, list[str]]:
    """The classes of tags as numbers among their names and the known ones, and these names, sorted."""
    found = coder.classes(sentences).dictionary_encode()
    own = found.dictionary.to_pylist()
    names = sorted({*own, *known})
    place = {name: at for at, name in enumerate(names)}
    tags = np.array([place[name] for name in own], np.int32)[found.indices.to_numpy()]
    return Tags(sentences.offsets - sentences.offsets[0], tags), names


def learn_more(model: Model, examples: Examples, run: Run) -> Learned:
    """One epoch over more sentences, from the weights so far; new tags begin with zeros, features stay."""
    learner, sentences = capability(model.recipe.learner, UpdatesTags), examples.stream
    if learner is None:
        name = type(model.recipe.learner).__name__
        raise UsageError(f"A tagger by {name} cannot be updated; train it again on all sentences.")
    y, names = numbered(sentences, model.recipe.task.coder, model.names)
    at = np.searchsorted(names, model.names)
    start = model.body.widened(at, len(names))
    X, seed = model.features.rows(sentences), model.recipe.seed
    weights = learner.update_tags(GroupedLesson(X, y, len(names), seed, model.features.names, run), start)
    seen = set(zip(sentences.tokens.to_pylist(), y.tags.tolist(), strict=True))
    words = {word: int(at[tag]) for word, tag in model.words.items()}
    wrong = {word for word, tag in seen if words.get(word, tag) != tag}
    kept = {word: tag for word, tag in words.items() if word not in wrong}
    return Learned({"classes": np.array(names, dtype=str), "body": weights, "words": kept})


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
