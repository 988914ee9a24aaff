"""What a stage says about sentences and texts, as further columns that later stages read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.data.batch import Batch
from linnaeus.data.sentences import Sentences
from linnaeus.data.tag_encodings import spans
from linnaeus.text import sentences as cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

JOINT = "_"
"""Between the words of one entity, and between a word and its tag."""


def read_texts(texts: pa.Array) -> tuple[Sentences, NDArray[np.int64]]:
    """The sentences of all texts, and where those of each text begin."""
    tokens: list[str] = []
    ends, firsts = [0], [0]
    for text in texts.to_pylist():
        for sentence in cut(text):
            tokens += [token.text for token in sentence]
            ends.append(len(tokens))
        firsts.append(len(ends) - 1)
    return Sentences(np.array(ends, np.int64), pa.array(tokens, pa.large_string())), np.array(firsts, np.int64)


def tag_columns(name: str, said: Sentences, firsts: NDArray[np.int64], marks: bool) -> dict[str, pa.Array]:
    """The further columns of texts in whose sentences a tagger gave these tags.

    >>> two = Sentences.from_lists([["Ann", "Lee", "left"], ["Bye"]], [["B-PER", "I-PER", "O"], ["O"]])
    >>> said = tag_columns("ner", two, np.array([0, 2]), True)
    >>> said["ner.words"].to_pylist(), said["ner.entities"].to_pylist()
    (['ann_B-PER lee_I-PER left_O bye_O'], ['ann_lee_PER'])
    """
    assert said.tags is not None
    bounds = said.offsets[firsts].tolist()
    tags, words = said.tags.to_pylist(), [token.casefold() for token in said.tokens.to_pylist()]
    pairs = [f"{word}{JOINT}{tag}" for word, tag in zip(words, tags, strict=True)]
    found = {f"{name}.tags": _joined(tags, bounds), f"{name}.words": _joined(pairs, bounds)}
    if marks:
        found[f"{name}.entities"] = _entities(said, words, firsts)
    return found


def _joined(values: Sequence[str], bounds: list[int]) -> pa.Array:
    parts = (" ".join(values[a:b]) for a, b in pairwise(bounds))
    return pa.array(list(parts), pa.large_string())


def _entities(said: Sentences, words: list[str], firsts: NDArray[np.int64]) -> pa.Array:
    """The entities of each text, with their types."""
    texts: list[list[str]] = [[] for _ in range(len(firsts) - 1)]
    for start, end, kind in spans(said.tags, said.offsets).listed():
        sentence = int(np.searchsorted(said.offsets, start, side="right")) - 1
        text = int(np.searchsorted(firsts, sentence, side="right")) - 1
        texts[text].append(JOINT.join([*words[start:end], kind]))
    return pa.array([" ".join(found) for found in texts], pa.large_string())


def with_columns(batch: Batch, columns: dict[str, pa.Array]) -> Batch:
    """The same rows with further columns."""
    return replace(batch, columns={**batch.columns, **columns})


def as_text(sentences: Sentences) -> pa.Array:
    """Each sentence as a text, for a classifier of texts."""
    return pa.array([" ".join(tokens) for tokens in sentences.lists()], pa.large_string())


def labels_of(model: Any, batch: Batch) -> list[str]:
    """The label that a classifier gives each row; several are joined."""
    return [_label(value) for value in np.asarray(model.predict(batch), dtype=object).tolist()]


def _label(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple | set) else str(value)
