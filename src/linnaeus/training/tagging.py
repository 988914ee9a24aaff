"""Training of taggers: sentences to templates, rows and tags; a learner; a `TagModel`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.erm.progress import Phase
from linnaeus.errors import DataError
from linnaeus.learners.chain.learner import BatchChain
from linnaeus.model.tagger import TagModel
from linnaeus.tasks.tag.encoding import encoded
from linnaeus.tasks.tag.sentences import as_sentences
from linnaeus.types import Tags

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.recipes.tag_recipe import TagRecipe
    from linnaeus.types import Ints

    Progress = Callable[[Phase], None] | None


def train_tagger(recipe: TagRecipe, source: Any, progress: Progress = None) -> TagModel:
    """A tagger that knows the tags of these sentences."""
    sentences = as_sentences(source)
    if (sentences.tags is not None and sentences.tags.null_count) or not sentences.count:
        what = "some tokens have no tag" if sentences.count else "there are no tokens"
        raise DataError(f"{what}; give sentences in which every token has its tag.")
    tags, names = _numbered(encoded(sentences, recipe.encoding))
    say = progress or (lambda _: None)
    say(Phase("features", None, f"{sentences.count:,} tokens"))
    features = recipe.templates.fit(sentences)
    X = features.rows(sentences)
    y = Tags(sentences.offsets - sentences.offsets[0], tags)

    # A learner that ends at its tolerance does not know how many epochs that takes.
    epochs = None if isinstance(recipe.learner, BatchChain) else recipe.learner.epochs
    say(Phase("training", None if epochs is None else 0.0, f"{features.width:,} features"))

    def told(epoch: int, loss: float, wrong: int | None) -> None:
        missed = "" if wrong is None else f", {wrong / max(sentences.count, 1):.2%} of tokens wrong"
        say(
            Phase(
                "training",
                None if epochs is None else (epoch + 1) / epochs,
                f"epoch {epoch + 1}, loss {loss:,.1f}{missed}",
            )
        )

    weights = recipe.learner.learn_tags(X, y, len(names), recipe.seed, told)
    facts = {"sentences": len(sentences), "tokens": sentences.count, "features": features.width}
    words = dictionary(sentences, tags, recipe.dictionary)
    return TagModel(recipe, features, weights, names, words, facts)


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
