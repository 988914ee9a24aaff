"""Answers of taggers: scores of tags, the best tagging, marginals, n best; as Arrow columns, and judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from linnaeus.arrays.numerics import finite_scores
from linnaeus.data.tag_encodings import OUTSIDE, spans
from linnaeus.errors import DataError, UsageError
from linnaeus.tasks.tag.encoding import allowed, spoken

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.data.sentences import Sentences
    from linnaeus.evaluation import Facts
    from linnaeus.model.model import Model
    from linnaeus.tasks.classify.answers import Wish
    from linnaeus.tasks.tag.encoding import Allowed
    from linnaeus.types import Doubles, Floats, Ints, Longs


ENTITIES = pa.list_(
    pa.struct([("start", pa.int64()), ("end", pa.int64()), ("type", pa.string()), ("text", pa.string())])
)


class Part(NamedTuple):
    """A tagger of a part of the sentences, for those that are held out; it has what tags need of a model."""

    task: Any
    features: Any
    body: Any
    names: tuple[str, ...]
    words: dict[str, int]


def encoding_of(model: Model | Part) -> str:
    """How the tags of a tagger are to be understood."""
    task: Any = model.task
    return str(task.encoding)


def emissions(model: Model | Part, sentences: Sentences) -> Floats:
    """Scores of each tag at each token (m, k), without transitions; words in the dictionary have one tag only."""
    E: Floats = finite_scores(model.features.scores(sentences, model.body.W))
    if not model.words:
        return E
    words = sentences.tokens.dictionary_encode()
    known = np.array([model.words.get(word, -1) for word in words.dictionary.to_pylist()], np.int32)
    tag = known[words.indices.to_numpy()]
    E[(tag >= 0)[:, None] & (tag[:, None] != np.arange(E.shape[1]))] = -np.inf
    return E


def rules(model: Model | Part) -> Allowed | None:
    """Which tag may follow which, if the tags encode spans."""
    return allowed(model.names, encoding_of(model))


def decoded(model: Model | Part, sentences: Sentences) -> Ints:
    """The tags (m,) of the best taggings, as numbers."""
    found: Ints = model.body.decode(emissions(model, sentences), bounds(sentences), rules(model))
    return found


def tagged(model: Model | Part, sentences: Sentences, abstain: Any = None) -> pa.Array:
    """The tags of all tokens as one Arrow array of strings (m,); null where the model abstains."""
    z = decoded(model, sentences)
    found = spoken(z, model.names, encoding_of(model))
    if abstain is None:
        return found
    import pyarrow.compute as pc

    from linnaeus.decision.abstention import sure

    given = sure(abstain, z, marginals(model, sentences))
    return pc.if_else(pa.array(given), found, pa.scalar(None, found.type))


def marginals(model: Model | Part, sentences: Sentences) -> Doubles:
    """The probability of each tag at each token (m, k)."""
    P: Doubles = model.body.marginals(emissions(model, sentences), bounds(sentences), rules(model))[0]
    return P


def nbest(model: Model | Part, sentence: Sentences, count: int) -> list[tuple[list[str], float]]:
    """The best taggings of one sentence with their scores, best first."""
    if count < 1:
        raise UsageError(f"count is a whole number from 1 up, not {count}.")
    found = model.body.nbest(emissions(model, sentence), bounds(sentence), count, rules(model))
    return [(spoken(z, model.names, encoding_of(model)).to_pylist(), score) for z, score in found]


def columns(model: Model, sentences: Sentences, wish: Wish) -> pa.RecordBatch:
    """The tokens and tags of each sentence, one row each, and the entities that tags mark.

    Tokens of plain text have their places in it, as `spans`; with `top` there are also the best taggings.
    """
    kind = pa.list_(pa.string())
    tags = sentences.lists(tagged(model, sentences, wish.abstain))
    found = {"tokens": pa.array(sentences.lists(), kind), "tags": pa.array(tags, kind)}
    if "start" in sentences.columns:
        places = zip(*(sentences.columns[name].to_pylist() for name in ("start", "end")), strict=True)
        found["spans"] = pa.array(sentences.lists(list(map(list, places))), pa.list_(pa.list_(pa.int64())))
    if encoding_of(model) != "plain":
        found["entities"] = pa.array([entities(*row) for row in zip(sentences.lists(), tags, strict=True)], ENTITIES)
    if wish.top:
        best = [
            [{"tags": tags, "score": score} for tags, score in nbest(model, sentences.slice(i, i + 1), wish.top)]
            for i in range(len(sentences))
        ]
        found["top"] = pa.array(best, pa.list_(pa.struct([("tags", kind), ("score", pa.float64())])))
    return pa.RecordBatch.from_pydict(found)


def entities(tokens: list[str], tags: list[str | None]) -> list[dict[str, Any]]:
    """Start, end, type and text of each span that the tags of a sentence mark; places are those of tokens.

    >>> entities(["Ann", "Lee", "left"], ["B-PER", "I-PER", "O"])
    [{'start': 0, 'end': 2, 'type': 'PER', 'text': 'Ann Lee'}]
    """
    found = spans([tag or OUTSIDE for tag in tags], np.array([0, len(tags)])).listed()
    return [{"start": a, "end": b, "type": kind, "text": " ".join(tokens[a:b])} for a, b, kind in found]


def observed(model: Model | Part, sentences: Sentences, abstain: Any = None) -> Facts:
    """The facts of the tags of these sentences, by which they are evaluated."""
    from linnaeus.evaluation import observe_tags

    if sentences.tags is None:
        raise DataError("the sentences have no tags; name the column that holds them.")
    if not sentences.count:
        raise DataError("There are no tokens to test on; give sentences with tags.")
    found = tagged(model, sentences, abstain)
    known, entities = known_words(model, sentences), None if encoding_of(model) == "plain" else True
    return observe_tags(sentences.offsets, sentences.tags, found, known, entities)


def known_words(model: Model | Part, sentences: Sentences) -> NDArray[np.bool_] | None:
    """Which tokens occur in the training data; None if the templates do not keep whole words."""
    from linnaeus.evaluation import is_known

    words = model.features.values_of("word", "word")
    return None if words is None else is_known(sentences, words)


def bounds(sentences: Sentences) -> Longs:
    """The offsets of sentences, counted from 0."""
    first = sentences.offsets[0]
    return sentences.offsets if first == 0 else sentences.offsets - first
