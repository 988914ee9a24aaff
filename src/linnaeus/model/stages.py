"""Earlier stages of a pipeline: what they say about sentences and texts becomes further columns, or candidates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import numpy as np
import pyarrow as pa

from linnaeus.data.batch import Batch, join
from linnaeus.data.groups import Groups
from linnaeus.data.sentences import Sentences
from linnaeus.data.tag_encodings import spans
from linnaeus.features.base import Batches, as_stream
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.text import sentences as cut
from linnaeus.types import Label, Longs, Source, Words64, groups

if TYPE_CHECKING:
    from linnaeus.model.model import Model
    from linnaeus.tasks.base import Task
    from linnaeus.tasks.examples import Examples
    from linnaeus.tasks.rank.task import Rank

R = TypeVar("R", bound="Rows")

JOINT = "_"
"""Between the words of one entity, and between a word and its tag."""


def staged(model: Model, source: Source) -> Sentences | Groups | Stream:
    """Examples of the last stage with the answers of the earlier ones: sentences, a stream of texts, or candidates."""
    if isinstance(source, Groups):
        return _with_all(Unlisted.of(model.task, source), model).groups
    if model.task.tokens:
        return _with_all(Tokens(model.task.material(source)), model).sentences
    return Staged(model, as_stream([source] if isinstance(source, str) else source))


@dataclass(frozen=True, eq=False)
class Staged:
    """A stream of texts whose batches get the answers of earlier stages as columns when they are read."""

    model: Model
    stream: Stream

    def batches(self) -> Iterator[Batch]:
        """The batches in order."""
        for batch in self.stream.batches():
            yield _with_all(Texts.of(batch), self.model).batch()


def _with_all(rows: R, model: Model) -> R:
    """The rows with the answers of all stages of a model."""
    for name, stage in model.stages:
        rows = rows.answered(name, stage, rows.answers(stage))
    return rows


class Rows(ABC):
    """Rows of a stage: a model of an earlier stage answers them, and its answers are added."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of rows."""

    @abstractmethod
    def take(self, rows: Longs) -> Self:
        """These rows, ascending."""

    @abstractmethod
    def batch(self) -> Batch:
        """The rows as texts, with their columns."""

    @abstractmethod
    def examples(self, task: Task[Any, Any]) -> Examples:
        """The rows as examples of the task."""

    def units(self, task: Task[Any, Any], at: Longs) -> Rows:
        """Some rows as a model of this task counts them: sentences for a tagger, texts for a classifier."""
        del task
        return self.take(at)

    def keys(self, task: Task[Any, Any]) -> list[Any]:
        """A key for each row as a model of this task counts them, which is that of equal ones."""
        return _listed(task.keys(Batches((self.batch(),)), None))

    @abstractmethod
    def answers(self, model: Model) -> list[Label]:
        """What a model says of each sentence, the label of each text, or the candidates for it."""

    @abstractmethod
    def answered(self, name: str, model: Model, said: list[Label]) -> Self:
        """The rows with these answers of a stage."""


def _listed(keys: Words64 | None) -> list[Any]:
    return [] if keys is None else keys.tolist()


class SentenceRows(Rows):
    """Rows that are sentences, or are cut into sentences."""

    @property
    @abstractmethod
    def sentences(self) -> Sentences:
        """The sentences of all rows."""

    @abstractmethod
    def tagged(self, name: str, tags: pa.Array, marks: bool) -> Self:
        """With the tags of a stage beside the tokens."""

    @abstractmethod
    def labeled(self, name: str, labels: list[str]) -> Self:
        """With the label of each row beside each of its tokens."""

    def units(self, task: Task[Any, Any], at: Longs) -> Rows:
        """Some sentences for a tagger, some rows for a classifier."""
        return Tokens(self.sentences.take(at)) if task.tokens else self.take(at)

    def keys(self, task: Task[Any, Any]) -> list[Any]:
        """Those of the sentences for a tagger, of the rows for a classifier."""
        return _listed(task.keys(self.sentences, None)) if task.tokens else super().keys(task)

    def answers(self, model: Model) -> list[Label]:
        """What is said of each sentence, or the label of each text."""
        if model.task.tokens:
            return model.predict(self.sentences)
        return [_label(value) for value in np.asarray(model.predict(self.batch()), dtype=object).tolist()]

    def answered(self, name: str, model: Model, said: list[Label]) -> Self:
        """With the tags or the label that a stage gave as columns."""
        if not model.task.tokens:
            return self.labeled(name, said)
        rows = self
        for suffix, tags in model.task.said(rows.sentences, said).items():
            rows = rows.tagged(f"{name}.{suffix}" if suffix else name, tags, model.task.spans)
        return rows


def _label(value: Label) -> str:
    """A label; several are joined."""
    return " ".join(map(str, value)) if isinstance(value, list | tuple | set) else str(value)


@dataclass(frozen=True, eq=False)
class Tokens(SentenceRows):
    """Rows that are sentences; a classifier reads each of them as a text."""

    tokens: Sentences

    @property
    def sentences(self) -> Sentences:
        """The rows."""
        return self.tokens

    def __len__(self) -> int:
        return len(self.sentences)

    def take(self, rows: Longs) -> Tokens:
        """These rows, in this order."""
        return Tokens(self.sentences.take(rows))

    def examples(self, task: Task[Any, Any]) -> Examples:
        """The sentences."""
        return task.examples(self.tokens)

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
class Unlisted(Rows):
    """Rows that are examples for a ranker, whose candidates a stage proposes."""

    groups: Groups
    task: Rank

    @classmethod
    def of(cls, task: Task[Any, Any], groups: Groups) -> Unlisted:
        """The examples of a ranker."""
        return cls(groups, cast("Rank", task))

    def __len__(self) -> int:
        return len(self.groups)

    def take(self, rows: Longs) -> Unlisted:
        """These rows, in this order."""
        return replace(self, groups=self.groups.take(rows))

    def batch(self) -> Batch:
        """The rows as texts, with the columns of the examples."""
        return Batch(self.groups.text.cast(pa.large_string()), columns=dict(self.groups.columns))

    def examples(self, task: Task[Any, Any]) -> Examples:
        """The rows with the candidates that were proposed."""
        return task.examples(self.groups)

    def answers(self, model: Model) -> list[Label]:
        """The candidates for each text, best first, with their chances."""
        return model.rank(self.batch(), self.task.proposed)

    def answered(self, name: str, model: Model, said: list[Label]) -> Unlisted:
        """With these candidates."""
        del name, model
        return replace(self, groups=self.task.choosable(self.groups.proposed(said)))


@dataclass(frozen=True, eq=False)
class Texts(SentenceRows):
    """Rows that are texts. They are cut into sentences when these are needed: those of text i are `firsts[i]` on."""

    rows: Batch
    read: Examples | None = None
    given: tuple[Sentences, Longs] | None = None

    @classmethod
    def of(cls, source: Source, examples: Examples | None = None) -> Texts:
        """The rows of a corpus, a batch or a list of texts."""
        return cls(join(list(as_stream(source).batches())), examples)

    def examples(self, task: Task[Any, Any]) -> Examples:
        """The examples that were read, with all columns."""
        return task.examples(self.sentences) if task.tokens else cast("Examples", self.read)

    @cached_property
    def _cut(self) -> tuple[Sentences, Longs]:
        texts = self.rows.text if self.rows.text is not None else pa.array([], pa.string())
        return self.given or read_texts(texts)

    @property
    def sentences(self) -> Sentences:
        """The sentences of all texts."""
        return self._cut[0]

    @property
    def firsts(self) -> Longs:
        """Where the sentences of each text begin."""
        return self._cut[1]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: Longs) -> Texts:
        """These rows, ascending."""
        some = self.rows.take(rows)
        examples = None if self.read is None else replace(self.read.take(rows), stream=Batches((some,)))
        if "_cut" not in self.__dict__:
            return Texts(some, examples)
        firsts, at, _ = groups(self.firsts, rows)
        return Texts(some, examples, (self.sentences.take(at), firsts))

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
        examples = None if self.read is None else replace(self.read, stream=Batches((rows,)))
        return Texts(rows, examples, (said, self.firsts))


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
