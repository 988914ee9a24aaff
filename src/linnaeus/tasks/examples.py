"""What a training learns from: texts as a stream, labels as numbers, the weight and the group of each row."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.arrays.labels import Labels, encode
from linnaeus.arrays.weights import sample_weights
from linnaeus.data.arrow import as_numpy, number
from linnaeus.data.batch import join
from linnaeus.data.roles import label_hint
from linnaeus.errors import DataError
from linnaeus.features.base import Batches, as_stream
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream, has_method
from linnaeus.tasks.keys import unwatched
from linnaeus.types import Array, Doubles, LabelSets, Longs, Source, Truth, Words64

if TYPE_CHECKING:
    from linnaeus.data import Batch
    from linnaeus.erm import Trace

ROUNDS = 1000
"""Resamples for the intervals of an evaluation."""

HELD = 1 << 30
"""Bytes of files up to which all rows are kept in memory; above, they are read anew at each walk."""


@dataclass(frozen=True)
class Leg:
    """The answers of a model to held-out examples, and how good they are by the first metric of the task."""

    answers: Any
    score: float


@dataclass(frozen=True)
class Held:
    """Examples that were held out, the answers to them, the strength that was chosen, and how each one did.

    Answers are scores (m, w) of rows, or the facts by which they are evaluated.
    """

    rows: Longs
    answers: Any
    strength: float | None
    tried: dict[float, float]


@dataclass(frozen=True)
class Learned:
    """Fields of the model that a learner gave it, and the trace of the training if it has one."""

    fields: dict[str, Any]
    trace: Trace | None = None


@dataclass(frozen=True)
class Examples:
    """A stream of rows, and beside it their labels (or numbers), weights and groups, and keys of equal texts.

    The stream of a tagger is `Sentences`, that of a ranker `Groups`; their truth is in the stream.
    """

    stream: Any
    labels: Labels | None
    numbers: Doubles | None
    weights: Doubles
    groups: Longs | None = None
    keys: Words64 | None = None

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def y(self) -> Truth:
        """The truth as the engine takes it."""
        if self.labels is not None:
            return self.labels.y
        assert self.numbers is not None
        return self.numbers

    @property
    def strata(self) -> Array | None:
        """Classes, which keep their shares in every fold; None of label sets, numbers, tags and candidates."""
        return None if self.labels is None or self.labels.sets else self.labels.y

    def take(self, rows: Longs) -> Examples:
        """These rows, ascending."""
        return Examples(
            _taken(self.stream, rows),
            None if self.labels is None else Labels(self.labels.y[rows], self.labels.classes, self.labels.form),
            None if self.numbers is None else self.numbers[rows],
            self.weights[rows],
            None if self.groups is None else self.groups[rows],
            None if self.keys is None else self.keys[rows],
        )

    def counted(self) -> Examples:
        """Without the rows whose weight is zero, and the classes that only they have."""
        if self.weights.all():
            return self
        rows = np.flatnonzero(self.weights)
        labels = None if self.labels is None else self.labels.take(rows)
        return replace(self.take(rows), labels=labels)


def _taken(stream: Any, rows: Longs) -> Any:
    if isinstance(stream, Batches):
        return Batches((join(list(stream.batches())).take(rows),))
    return stream.take(rows)


def labeled_stream(source: Source) -> Stream:
    """A batch, or a corpus, as it is; anything else as `linnaeus.read` takes it."""
    from linnaeus.data import Batch, read

    return as_stream(source if isinstance(source, Batch) or has_method(source, "batches") else read(source))


def labeled_rows(batch: Batch, y: Source, numbers: bool) -> Batch:
    """A batch with these labels (or numbers), as users of matrices give them."""
    try:
        column = pa.array(np.asarray(y, np.float64)) if numbers else label_column(encode(y))
    except (TypeError, ValueError, pa.ArrowInvalid) as error:
        raise DataError("This model predicts numbers; give one number for each row.") from error
    if len(column) != len(batch):
        raise DataError(f"X has {len(batch)} rows, but y has {len(column)}; give one label for each row.")
    return replace(batch, labels=column)


def label_column(labels: Labels) -> pa.Array:
    """Labels by their names, as a column of strings or of lists of strings.

    >>> label_column(encode([3, 1, 3])).to_pylist()
    ['3', '1', '3']
    """
    names = pa.array([str(name) for name in labels.classes.tolist()], pa.string())
    if not isinstance(labels.y, LabelSets):
        return names.take(pa.array(labels.y))
    return pa.ListArray.from_arrays(pa.array(labels.y.offsets, pa.int32()), names.take(pa.array(labels.y.labels)))


def as_examples(source: Source) -> Examples:
    """The examples of a corpus, or of anything `linnaeus.read` takes; labels are strings, numbers or lists of these."""
    from linnaeus.data import Corpus, read

    corpus = source if isinstance(source, Corpus) else read(source)
    if corpus.kind == "none":
        raise DataError(f"There are no labels to learn from; {label_hint(corpus.columns)}")
    held = corpus.load() if corpus.size <= HELD else corpus
    columns = _columns(held)
    weights = sample_weights(
        None if columns["weights"] is None else as_numpy(columns["weights"]), len(columns["labels"])
    )
    if not len(weights):
        raise DataError("There are no rows to learn from.")
    groups = None if columns["groups"] is None else _numbered(columns["groups"])[0]
    found = columns["labels"]
    if corpus.kind == "numeric":
        return Examples(held, None, as_numpy(found).astype(np.float64), weights, groups)
    labels = single(found) if corpus.kind == "one" else several(found)
    return Examples(held, labels, None, weights, groups)


def single(labels: pa.Array) -> Labels:
    """One string for each row, as indices into the sorted classes.

    >>> single(pa.array(["spam", "ham", "spam"])).y.tolist()
    [1, 0, 1]
    """
    numbers, classes = _numbered(labels)
    return Labels(numbers.astype(np.int32), classes, "single")


def several(labels: pa.Array) -> Labels:
    """A list of strings for each row, as label sets; what stands twice in a list counts once."""
    flat = labels.flatten()
    numbers, classes = _numbered(flat)
    owner = np.repeat(np.arange(len(labels)), as_numpy(labels.value_lengths()))
    pairs = np.unique(owner * max(1, len(classes)) + numbers)
    owner, numbers = np.divmod(pairs, max(1, len(classes)))
    offsets = np.zeros(len(labels) + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=len(labels)), out=offsets[1:])
    return Labels(LabelSets(offsets, numbers.astype(np.int32)), classes, "lists")


def _numbered(values: pa.Array) -> tuple[Longs, Array]:
    """Strings as numbers, and the different ones, sorted by code point."""
    codes, found = number(values)
    names = np.array(found, dtype=str)
    order = np.argsort(names, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[codes], names[order]


def _columns(stream: Stream) -> dict[str, pa.Array]:
    """Labels, weights and groups of all rows."""
    found: dict[str, list[pa.Array]] = {"labels": [], "weights": [], "groups": []}
    for batch in stream.batches():
        for name, parts in found.items():
            if getattr(batch, name) is not None:
                parts.append(getattr(batch, name))
    found["labels"] = found["labels"] or [pa.array([], pa.string())]
    return {name: pa.concat_arrays(parts) if parts else None for name, parts in found.items()}


def column_groups(examples: Examples, by: str) -> Longs:
    """The values of a column as groups."""
    parts = [batch.columns[by] for batch in examples.stream.batches() if by in batch.columns]
    if sum(map(len, parts)) != len(examples):
        raise DataError(f"There is no column {by!r} to hold rows out by; name one of the data, or leave tuning.by out.")
    return _numbered(pa.concat_arrays(parts).cast(pa.string()))[0]


def contents(examples: Examples) -> Iterator[bytes | memoryview]:
    """The digest of all texts, that of their lengths, then labels, classes and weights."""
    yield from _digests(examples.stream)
    y = examples.y
    for array in (y.offsets, y.labels) if isinstance(y, LabelSets) else (y,):
        yield np.ascontiguousarray(array).tobytes()
    if examples.labels is not None:
        yield "\x1f".join(map(str, examples.labels.classes.tolist())).encode("utf-8", "surrogatepass")
    yield np.ascontiguousarray(examples.weights).tobytes()


def _digests(stream: Stream) -> tuple[bytes, bytes]:
    """The digest of all texts, one after the other, and that of their lengths."""
    whole, lengths = hashlib.sha256(), hashlib.sha256()
    for batch in unwatched(stream).batches():
        if batch.text is not None:
            data, sizes = text_bytes(batch.text)
            whole.update(data)
            lengths.update(sizes)
    return whole.digest(), lengths.digest()


def text_bytes(column: pa.Array) -> tuple[memoryview, memoryview]:
    """The bytes of all texts of a column, one after the other, and those of their lengths."""
    from linnaeus.text import as_texts

    texts = as_texts(column)
    inside = texts.data[int(texts.offsets[0]) : int(texts.offsets[-1])]
    return inside.data, np.diff(texts.offsets).data
