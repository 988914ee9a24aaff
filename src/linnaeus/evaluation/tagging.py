"""The facts of tags: tokens of each sentence, known and unknown words; entities as seqeval counts them.

    P = entities that are right / entities predicted,  R = entities that are right / true entities
    F1 = 2 P R / (P + R)

An entity is right if its begin, end and type are. `data/tag_encodings.py` describes how inconsistent tags are read.
Rows are sentences, since the bootstrap draws sentences: the tokens of one are not independent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.data.tag_encodings import Spans, is_encoded, spans
from linnaeus.errors import DataError
from linnaeus.evaluation.facts import Facts, offsets_of
from linnaeus.evaluation.outcome import refuse_no_rows
from linnaeus.types import Arrays, Bools, LabelSets, Longs, Source

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences


def observe_tags(
    offsets: Longs,
    truth: Source,
    predicted: Source,
    known: Bools | None = None,
    entities: bool | None = None,
) -> Facts:
    """The facts of predicted tags (m,) of sentences, given as Arrow arrays or lists of strings.

    `known` says which words are known, `entities` whether tags mark entities; None: if they look so, which a batch
    without entities does not. The rows are sentences. The classes are the types of entities, or else the tags. A token
    whose true tag is null is not counted among the tokens.

    >>> from linnaeus.evaluation import evaluate
    >>> found = evaluate(observe_tags(np.array([0, 3]), ["B-PER", "I-PER", "O"], ["B-PER", "O", "O"]), rounds=0)
    >>> round(found.value("accuracy"), 3), found.value("f1"), found.headline
    (0.667, 0.0, 'f1')
    """
    gold, guess = _array(truth), _array(predicted)
    m = int(offsets[-1] - offsets[0])
    if len(gold) != m or len(guess) != m:
        raise DataError(f"there are {len(gold)} true and {len(guess)} predicted tags for {m} tokens; give one each.")
    refuse_no_rows(len(offsets) - 1)
    codes, names = numbered_together(gold, guess)
    counted = ~np.asarray(gold.is_null().to_numpy(zero_copy_only=False), bool)
    right = (codes[0] == codes[1]) & counted
    bounds = offsets - offsets[0]
    values: Arrays = {"tokens": sums(counted, bounds), "right_tokens": sums(right, bounds)}
    values["answered_tokens"] = sums(counted & (codes[1] >= 0), bounds)
    values["whole"] = (values["tokens"] == values["right_tokens"]).astype(np.uint8)
    for name, among in () if known is None else (("known", counted & known), ("unknown", counted & ~known)):
        if among.any():
            values |= {name: sums(among, bounds), f"right_{name}": sums(right & among, bounds)}
    if is_encoded(names) if entities is None else entities:
        classes, sets = _entities(gold, guess, bounds)
        counts = (np.diff(part.offsets) for part in sets)
        values |= dict(zip(("entities", "predicted_entities", "right_entities"), counts, strict=True))
    else:
        classes, sets = label_tokens(codes, names, (counted, right), bounds)
    return Facts("tags", classes, np.ones(len(bounds) - 1), sets[0], sets[1], values, right=sets[2])


def label_tokens(
    codes: list[Longs], names: list[str], flags: tuple[Bools, Bools], bounds: Longs
) -> tuple[tuple[str, ...], list[LabelSets]]:
    """The tags of tokens: true, predicted, and right ones."""
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), np.int32)
    place[order] = np.arange(len(names), dtype=np.int32)
    counted, right = flags
    said = counted & (codes[1] >= 0)
    sets = [
        LabelSets(offsets_of(there)[bounds], place[tags[there]])
        for tags, there in ((codes[0], counted), (codes[1], said), (codes[0], right))
    ]
    return tuple(names[i] for i in order), sets


def _entities(gold: pa.Array, guess: pa.Array, bounds: Longs) -> tuple[tuple[str, ...], list[LabelSets]]:
    """The types of entities: true, predicted, and right ones."""
    there, said = spans(gold, bounds), spans(guess, bounds)
    types = sorted({*there.types, *said.types})
    number = {kind: i for i, kind in enumerate(types)}
    own = [_kinds(found, number) for found in (there, said)]
    # A token begins at most one entity of each side: they are the same where both begin there, alike.
    _, a, b = np.intersect1d(there.starts, said.starts, assume_unique=True, return_indices=True)
    same = (there.ends[a] == said.ends[b]) & (own[0][a] == own[1][b])
    found = ((there.starts, own[0]), (said.starts, own[1]), (there.starts[a][same], own[0][a][same]))
    return tuple(types), [
        LabelSets(np.searchsorted(starts, bounds).astype(np.int64), kinds.astype(np.int32)) for starts, kinds in found
    ]


def _kinds(found: Spans, number: dict[str, int]) -> Longs:
    return np.array([number[kind] for kind in found.types], np.int64)[found.kinds] if len(found) else found.starts


def sums(flags: Bools, bounds: Longs) -> Longs:
    """How many tokens of each sentence have the flag."""
    return np.diff(offsets_of(flags)[bounds])


def _array(tags: Source) -> pa.Array:
    return tags if isinstance(tags, pa.Array) else pa.array(list(tags), pa.string())


def numbered_together(gold: pa.Array, guess: pa.Array) -> tuple[list[Longs], list[str]]:
    """Both as numbers of the same names; null is -1."""
    both = pa.concat_arrays([gold.cast(pa.large_string()), guess.cast(pa.large_string())]).dictionary_encode()
    codes = both.indices.fill_null(-1).to_numpy()
    return [codes[: len(gold)], codes[len(gold) :]], both.dictionary.to_pylist()


def is_known(sentences: Sentences, words: pa.Array) -> Bools:
    """Which tokens are among these words.

    >>> from linnaeus.data.sentences import Sentences
    >>> is_known(Sentences.from_lists([["a", "b"]]), pa.array(["b"])).tolist()
    [False, True]
    """
    import pyarrow.compute as pc

    return pc.is_in(sentences.tokens, value_set=words.cast(sentences.tokens.type)).to_numpy(zero_copy_only=False)
