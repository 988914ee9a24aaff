"""What a stage learns from or answers: sentences, or texts; and what earlier stages said about it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.data.batch import Batch, join
from linnaeus.features.base import Batches, as_stream
from linnaeus.frozen import dataclass
from linnaeus.model.stack_columns import as_text, read_texts, tag_columns, with_columns

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.types import Longs


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
        return Batch(as_text(self.sentences))

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
    examples: Any = None

    @classmethod
    def of(cls, source: Any, examples: Any = None) -> Texts:
        """The rows of a corpus, a batch or a list of texts, cut into sentences."""
        batch = join(list(as_stream(source).batches()))
        texts = batch.text if batch.text is not None else pa.array([], pa.string())
        return cls(batch, *read_texts(texts), examples)

    def __len__(self) -> int:
        return len(self.firsts) - 1

    def take(self, rows: Longs) -> Texts:
        """These rows, ascending."""
        from linnaeus.types import groups

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
        return self._with(with_columns(self.rows, columns), said)

    def labeled(self, name: str, labels: list[str]) -> Texts:
        """With the label of each text as a column, and beside each of its tokens."""
        ends = self.sentences.offsets[self.firsts]
        each = np.repeat(np.array(labels, dtype=object), np.diff(ends))
        said = self.sentences.with_column(name, pa.array(each.tolist(), pa.large_string()))
        return self._with(with_columns(self.rows, {name: pa.array(labels, pa.large_string())}), said)

    def _with(self, rows: Batch, said: Sentences) -> Texts:
        examples = None if self.examples is None else replace(self.examples, stream=Batches((rows,)))
        return Texts(rows, said, self.firsts, examples)


def of_sentences(source: Any, truth: str | None = None, tagged: bool = True) -> Tokens:
    """Sentences, lists of tokens, or a file of them; with their tags where these are wanted."""
    from linnaeus.data.sentence_reading import read_sentences

    return Tokens(read_sentences(source, tags=truth if tagged else ""))


def of_texts(source: Any) -> Texts:
    """Labeled texts, or anything that `linnaeus.read` takes."""
    from linnaeus.tasks.examples import as_examples

    examples = as_examples(source)
    return Texts.of(examples.stream, examples)
