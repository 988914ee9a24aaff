"""Earlier stages of a pipeline: what they say about sentences and texts becomes further columns of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from linnaeus.data.batch import Batch, join
from linnaeus.data.sentences import Sentences
from linnaeus.data.tag_encodings import spans
from linnaeus.features.base import Batches, as_stream
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.text import sentences as cut
from linnaeus.types import Label, Longs, Source, groups

if TYPE_CHECKING:
    from linnaeus.model.model import Model
    from linnaeus.tasks.examples import Examples

    Material: TypeAlias = "Tokens | Texts"

JOINT = "_"
"""Between the words of one entity, and between a word and its tag."""


def staged(model: Model, source: Source) -> Sentences | Stream:
    """Examples of the last stage with the answers of the earlier ones: sentences, or a stream of texts."""
    if model.task.tokens:
        rows: Material = Tokens(model.task.material(source))
        for name, stage in model.stages:
            rows = rows_with(name, stage, rows)
        return rows.sentences
    return Staged(model, as_stream([source] if isinstance(source, str) else source))


@dataclass(frozen=True, eq=False)
class Staged:
    """A stream of texts whose batches get the answers of earlier stages as columns when they are read."""

    model: Model
    stream: Stream

    def batches(self) -> Iterator[Batch]:
        """The batches in order."""
        for batch in self.stream.batches():
            rows: Material = Texts.of(batch)
            for name, stage in self.model.stages:
                rows = rows_with(name, stage, rows)
            yield rows.batch()


def rows_with(name: str, model: Model, rows: Material) -> Material:
    """The rows with the answers of a stage."""
    return answered(name, model, rows, answers_of(model, rows))


def answers_of(model: Model, rows: Material) -> list[Label]:
    """What is said of each sentence, or the label of each text."""
    if model.task.tokens:
        return model.predict(rows.sentences)
    return [_label(value) for value in np.asarray(model.predict(rows.batch()), dtype=object).tolist()]


def _label(value: Label) -> str:
    """A label; several are joined."""
    return " ".join(map(str, value)) if isinstance(value, list | tuple | set) else str(value)


def answered(name: str, model: Model, rows: Material, said: list[Label]) -> Material:
    """The rows with these answers of the stage."""
    if not model.task.tokens:
        return rows.labeled(name, said)
    for suffix, tags in model.task.said(rows.sentences, said).items():
        rows = rows.tagged(f"{name}.{suffix}" if suffix else name, tags, model.task.spans)
    return rows


@dataclass(frozen=True, eq=False)
class Tokens:
    """Rows that are sentences; a classifier reads each of them as a text."""

    sentences: Sentences

    def __len__(self) -> int:
        return len(self.sentences)

    def take(self, rows: Longs) -> Tokens:
        """These rows, in this order."""
        return Tokens(self.sentences.take(rows))

    def batch(self) -> Batch:
        """The rows as texts."""
        return Batch(pa.array([" ".join(tokens) for tokens in self.sentences.lists()], pa.large_string()))

    def tagged(self, name: str, tags: pa.Array, marks: bool) -> Tokens:
        """With the tags of a stage beside the tokens."""
        del marks
        return Tokens(self.sentences.with_column(name, tags))

    def labeled(self, name: str, labels: list[str]) -> Tokens:
        """With the label of each sentence beside each of its tokens."""
        each = np.repeat(np.array(labels, dtype=object), np.diff(self.sentences.offsets))
        return Tokens(self.sentences.with_column(name, pa.array(each.tolist(), pa.large_string())))


@dataclass(frozen=True, eq=False)
class Texts:
    """Rows that are texts, and their sentences: those of text i are `firsts[i]` to `firsts[i+1]`."""

    rows: Batch
    sentences: Sentences
    firsts: Longs
    examples: Examples | None = None

    @classmethod
    def of(cls, source: Source, examples: Examples | None = None) -> Texts:
        """The rows of a corpus, a batch or a list of texts, cut into sentences."""
        batch = join(list(as_stream(source).batches()))
        texts = batch.text if batch.text is not None else pa.array([], pa.string())
        return cls(batch, *read_texts(texts), examples)

    def __len__(self) -> int:
        return len(self.firsts) - 1

    def take(self, rows: Longs) -> Texts:
        """These rows, ascending."""
        firsts, at, _ = groups(self.firsts, rows)
        some = self.rows.take(rows)
        examples = None if self.examples is None else replace(self.examples.take(rows), stream=Batches((some,)))
        return Texts(some, self.sentences.take(at), firsts, examples)

    def batch(self) -> Batch:
        """The rows as texts."""
        return self.rows

    def tagged(self, name: str, tags: pa.Array, marks: bool) -> Texts:
        """With the tags of a stage beside the tokens, and as columns of the texts."""
        said = self.sentences.with_column(name, tags)
        columns = tag_columns(name, said.with_tags(tags), self.firsts, marks)
        return self._with(replace(self.rows, columns={**self.rows.columns, **columns}), said)

    def labeled(self, name: str, labels: list[str]) -> Texts:
        """With the label of each text as a column, and beside each of its tokens."""
        ends = self.sentences.offsets[self.firsts]
        each = np.repeat(np.array(labels, dtype=object), np.diff(ends))
        said = self.sentences.with_column(name, pa.array(each.tolist(), pa.large_string()))
        return self._with(
            replace(self.rows, columns={**self.rows.columns, name: pa.array(labels, pa.large_string())}), said
        )

    def _with(self, rows: Batch, said: Sentences) -> Texts:
        examples = None if self.examples is None else replace(self.examples, stream=Batches((rows,)))
        return Texts(rows, said, self.firsts, examples)


def read_texts(texts: pa.Array) -> tuple[Sentences, Longs]:
    """The sentences of all texts, and where those of each text begin."""
    tokens: list[str] = []
    ends, firsts = [0], [0]
    for text in texts.to_pylist():
        for sentence in cut(text):
            tokens += [token.text for token in sentence]
            ends.append(len(tokens))
        firsts.append(len(ends) - 1)
    return Sentences(np.array(ends, np.int64), pa.array(tokens, pa.large_string())), np.array(firsts, np.int64)


def tag_columns(name: str, said: Sentences, firsts: Longs, marks: bool) -> dict[str, pa.Array]:
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


def _entities(said: Sentences, words: list[str], firsts: Longs) -> pa.Array:
    """The entities of each text, with their types."""
    texts: list[list[str]] = [[] for _ in range(len(firsts) - 1)]
    for start, end, kind in spans(said.tags, said.offsets).listed():
        sentence = int(np.searchsorted(said.offsets, start, side="right")) - 1
        text = int(np.searchsorted(firsts, sentence, side="right")) - 1
        texts[text].append(JOINT.join([*words[start:end], kind]))
    return pa.array([" ".join(found) for found in texts], pa.large_string())
