"""`read`, and the `Corpus` it returns: labeled text as Arrow columns, in memory or streamed from large files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from linnaeus.data.arrow import as_times
from linnaeus.data.batch import Batch, join, row_numbers
from linnaeus.data.files import Found, find, names_files
from linnaeus.data.formats import FORMATS, Format
from linnaeus.data.ledger import Ledger, Progress, Skipped, Watcher
from linnaeus.data.memory import MEMORY, chunks
from linnaeus.data.options import Options, ReadOptions
from linnaeus.data.roles import Roles, Shape, assign, listed, shape_of
from linnaeus.data.split import Split, folds, folds_by_time, holdout, holdout_by_time
from linnaeus.data.streams import File
from linnaeus.errors import DataError, UsageError
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Json, Longs, Source

Batches: TypeAlias = "Held | Files | Selected"
"""Batches in order. Each `walk` gives all of them, with the bytes read so far; `size` counts all bytes to read."""


@dataclass(frozen=True, slots=True)
class Held:
    """Batches in memory; what was skipped when they were made."""

    held: Sequence[Batch]
    skipped: Skipped = Skipped()
    size: int = 0

    def walk(self, ledger: Ledger) -> Iterator[tuple[Batch, int]]:
        """The batches as they are."""
        for batch in self.held:
            yield batch, 0


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one format, one after the other. `owner` keeps a temporary folder alive."""

    files: tuple[File, ...]
    form: Format
    shape: Shape
    owner: object = None

    @property
    def size(self) -> int:
        """Bytes of all files on disk."""
        return sum(file.size for file in self.files)

    def walk(self, ledger: Ledger) -> Iterator[tuple[Batch, int]]:
        """All rows; after a missing label the walk only counts the others."""
        before = rows = 0
        for file in self.files:
            for chunk in self.form.chunks(file, self.shape.columns, ledger):
                rows += len(chunk.rows)
                batch = self.shape.batch(file.name, chunk, ledger)
                if len(batch) and not ledger.unlabeled:
                    yield batch, before + chunk.done
            before += file.size
        ledger.close(rows)


@dataclass(frozen=True, slots=True)
class Selected:
    """Some rows of another source, in its order: `rows` ascend."""

    base: Batches
    rows: Longs

    @property
    def size(self) -> int:
        """Bytes of the whole source, which has to be read."""
        return self.base.size

    def walk(self, ledger: Ledger) -> Iterator[tuple[Batch, int]]:
        """The chosen rows of each batch."""
        first = found = 0
        for batch, done in self.base.walk(ledger):
            here = self.rows[slice(*np.searchsorted(self.rows, [first, first + len(batch)]))]
            if len(here) == len(batch):
                yield batch, done
            elif len(here):
                yield batch.take(here - first), done
            first, found = first + len(batch), found + len(here)
        if found < len(self.rows):
            raise DataError(f"row {self.rows[found]} is wanted but there are only {first}; did the files change?")


class Corpus:
    """Rows of text with labels, weights, groups and other columns, as `linnaeus.read` returns them.

    You can iterate over a corpus any number of times. A corpus of files reads them again each time, in constant memory;
    `load()` keeps the rows in memory instead. `skipped` counts the rows that could not be used.

    >>> from linnaeus.data import read
    >>> corpus = read([("good film", "pos"), ("bad film", "neg"), ("fine film", "pos")])
    >>> len(corpus), corpus.classes, corpus.kind
    (3, ('neg', 'pos'), 'one')
    >>> [batch.text.to_pylist() for batch in corpus.head(2).batches()]
    [['good film', 'bad film']]
    """

    def __init__(self, source: Batches, shape: Shape, policy: str = "error", batch_rows: int | None = None) -> None:
        self._source, self._shape, self._policy, self._batch_rows = source, shape, policy, batch_rows
        self._watcher: Watcher | None = None
        self._ledger = Ledger(policy)
        self._count: int | None = None

    # What there is

    @property
    def roles(self) -> Roles:
        """Which columns hold the text, the label and so on, and which of these were guessed."""
        return self._shape.roles

    @property
    def kind(self) -> str:
        """The kind of labels: "one" for each row, "many", "numeric" or "none"."""
        return self._shape.kind

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the other columns."""
        return self._shape.further

    @property
    def skipped(self) -> Skipped:
        """How many rows the latest pass left out, with the reasons for the first few."""
        return self._source.skipped if isinstance(self._source, Held) else self._ledger.skipped

    @property
    def size(self) -> int:
        """The size of the files in bytes; 0 for data in memory."""
        return self._source.size

    @property
    def headed(self) -> bool:
        """Whether the files have a header, as in CSV; row numbers start after it."""
        return isinstance(self._source, Files) and self._source.form.headed

    def __len__(self) -> int:
        """The number of rows; for files the first time walks over them."""
        if self._count is None:
            self._count = sum(len(batch) for batch in self.batches())
        return self._count

    def __bool__(self) -> bool:
        return next(iter(self.batches()), None) is not None

    def __repr__(self) -> str:
        rows = "" if self._count is None else f", {self._count} row{'s' * (self._count != 1)}"
        return f"Corpus({self.roles.describe()}{rows})"

    # Walks

    def batches(self) -> Iterator[Batch]:
        """All rows in order, in batches; columns that are already Arrow are not copied."""
        self._ledger = ledger = Ledger(self._policy)
        total, start = self._source.size, 0
        for whole, done in self._source.walk(ledger):
            for batch in _cut(whole, self._batch_rows):
                yield batch.at(start)
                start += len(batch)
            if self._watcher:
                self._watcher(Progress(start, done, total))
        self._count = start

    def watch(self, watcher: Watcher | None) -> Corpus:
        """The same corpus; each pass over it calls `watcher` with its `Progress` after every block."""
        watched = self._with(self._source)
        watched._watcher, watched._count = watcher, self._count
        return watched

    def batch(self) -> Batch:
        """All rows as one batch in memory; a single batch is not copied."""
        return join(list(self.batches()) or [self._shape.nothing()])

    def load(self) -> Corpus:
        """The same rows, in memory."""
        batches = list(self.batches())
        return self._with(Held(batches, self.skipped))

    # Columns

    @property
    def text(self) -> pa.Array | None:
        """All texts."""
        return self.batch().text

    @property
    def labels(self) -> pa.Array | None:
        """All labels."""
        return self.batch().labels

    @property
    def classes(self) -> tuple[str, ...]:
        """The distinct labels, sorted by code point; empty if labels are numeric or missing."""
        if self.kind not in ("one", "many"):
            return ()
        import pyarrow.compute as pc

        found: set[str] = set()
        for batch in self.batches():
            if batch.labels is not None:
                labels = batch.labels.flatten() if self.kind == "many" else batch.labels
                found.update(pc.unique(labels).to_pylist())
        return tuple(sorted(found))

    # Parts

    def head(self, n: int) -> Corpus:
        """The first n rows, in memory; the rest of the files is not read."""
        if n < 0:
            raise UsageError(f"head takes a number of rows from 0 up, not {n}.")
        found: list[Batch] = []
        for batch in self.batches():
            found.append(batch.slice(0, n - batch.start))
            if batch.start + len(batch) >= n:
                break
        return self._with(Held(found, self.skipped))

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> Corpus:
        """The rows with these numbers, in this order. Ascending numbers are streamed, others are taken in memory."""
        chosen = row_numbers(rows)
        if len(chosen) and chosen.min() < 0:
            raise UsageError(f"row {chosen.min()} is below 0; rows are numbered from 0.")
        ascending = bool((np.diff(chosen) > 0).all())
        if ascending and not isinstance(self._source, Held):
            return self._with(Selected(self._source, chosen))
        if len(chosen) and chosen.max() >= len(self):
            raise UsageError(f"row {chosen.max()} is wanted but there are only {len(self)}.")
        if ascending:
            found = [batch for batch, _ in Selected(self._source, chosen).walk(Ledger())]
            return self._with(Held(found or [self.batch().slice(0, 0)]))
        return self._with(Held([self.batch().take(chosen)]))

    def split(self, share: float = 0.2, *, seed: int = 0, by: str | None = None) -> tuple[Corpus, Corpus]:
        """Split into training rows and test rows; the test part has this share of the rows.

        The split is stratified by label, and each group is in one part only, if the corpus has labels and groups.
        `by="random"` ignores both; `by="time"` tests on the latest rows. See `linnaeus.data.split` for row numbers.
        """
        if by == "time":
            return self._parts(holdout_by_time(self._times(), share=share))
        strata, groups = self._dealt(by)
        return self._parts(holdout(len(self), share=share, seed=seed, strata=strata, groups=groups))

    def folds(self, k: int = 5, *, seed: int = 0, by: str | None = None) -> Iterator[tuple[Corpus, Corpus]]:
        """K pairs of training and test rows. Each row is tested once; by time, training rows are before test rows."""
        if by == "time":
            return map(self._parts, folds_by_time(self._times(), k))
        strata, groups = self._dealt(by)
        return map(self._parts, folds(len(self), k, seed=seed, strata=strata, groups=groups))

    def _parts(self, split: Split) -> tuple[Corpus, Corpus]:
        return self.take(split.train), self.take(split.test)

    def _dealt(self, by: str | None) -> tuple[Longs | None, Longs | None]:
        """Labels and groups as numbers, where there are any and they are to be heeded."""
        if by not in (None, "random"):
            raise UsageError(f"by={by!r} is not known; take 'random', 'time', or None for labels and groups.")
        if by == "random":
            return None, None
        import pyarrow.compute as pc

        strata, groups = _Numbering(), _Numbering()
        for batch in self.batches():
            if self.kind in ("one", "many"):
                strata.add(batch.labels if self.kind == "one" else pc.binary_join(batch.labels, "\x1f"))
            if batch.groups is not None:
                groups.add(batch.groups)
        return strata.numbers(), groups.numbers()

    def _times(self) -> Array:
        name = self.roles.time
        if name is None or name not in self._shape.columns:
            raise UsageError("a split by time needs the column of times; name it with time= when reading.")
        return as_times([batch.columns[name] for batch in self.batches()], name)

    def _with(self, source: Batches) -> Corpus:
        made = Corpus(source, self._shape, self._policy, self._batch_rows)
        made._watcher = self._watcher
        return made


class _Numbering:
    """Strings to numbers in the order they first come, over many batches."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._found: list[Longs] = []

    def add(self, values: pa.Array) -> None:
        encoded = values.dictionary_encode()
        table = [self._known.setdefault(value, len(self._known)) for value in encoded.dictionary.to_pylist()]
        self._found.append(np.array(table, np.int64)[encoded.indices.to_numpy(zero_copy_only=False)])

    def numbers(self) -> Longs | None:
        return np.concatenate(self._found) if self._found else None


def _cut(batch: Batch, rows: int | None) -> Iterator[Batch]:
    if rows is None or len(batch) <= rows:
        yield batch
        return
    for first in range(0, len(batch), rows):
        yield batch.slice(first, rows)


def read(source: Source, *, text: str | None = None, label: str | None = None, **options: Unpack[Options]) -> Corpus:
    """Read labeled text.

    `source` is a path, a pattern (`"part-*.csv.gz"`), a folder of files or of one folder per label, a list of
    `pathlib.Path`, or `"-"` for standard input, which is kept in a temporary file so that it can be walked over more
    than once; or data in memory: a list of texts, of (text, label) pairs or of dicts, a dict of columns, Arrow, pandas,
    polars, a Hugging Face dataset. A string is always a path, and a list of strings is always a list of texts.

    Files are read when the corpus is walked over, in constant memory; data in memory is checked at once, and text that
    is Arrow already is not copied. `ReadOptions` describes all options; `corpus.roles` says which columns were taken.

    >>> corpus = read({"review": ["good", "bad"], "stars": ["5", "1"]}, label="stars")
    >>> corpus.roles.describe()
    "text 'review' (guessed), label 'stars'"
    """
    chosen = ReadOptions.of({"text": text, "label": label, **options})
    if names_files(source):
        return _from_files(find(source, chosen), chosen)
    return _from_memory(source, chosen)


def read_usual(source: str, usual: Mapping[str, str], **options: Json) -> Corpus:
    """Read a file as `read` does; where it has the columns of `usual` (by role), these are taken, not guessed ones."""
    chosen = ReadOptions.of(options)
    return _from_files(find(source, chosen), chosen, usual)


def _from_files(found: Found, options: ReadOptions, usual: Mapping[str, str] | None = None) -> Corpus:
    form = FORMATS[found.format](options)
    first, *others = found.files
    schema = form.schema(first)
    shape = shape_of(first.name, schema, assign(first.name, schema, options, usual), options)
    for file in others:
        _check_alike(form, (first, file), schema, shape, options)
    return Corpus(Files(found.files, form, shape, found.owner), shape, options.bad_rows, options.batch_rows)


def _check_alike(form: Format, files: tuple[File, File], schema: pa.Schema, shape: Shape, options: ReadOptions) -> None:
    """Refuse a file whose columns are not those of the first."""
    first, file = files
    other = form.schema(file)
    wanted = shape.roles.taken() if form.loose else set(schema.names)
    absent = sorted(wanted - set(other.names))
    if absent or not (form.loose or wanted == set(other.names)):
        raise DataError(
            f"{file.name}: its columns {listed(other.names)} are not those of {first.name}, {listed(schema.names)}; "
            "read them one by one."
        )
    kind = shape_of(file.name, other, shape.roles, options).kind
    if kind != shape.kind:
        raise DataError(f"{file.name}: labels are {kind!r} but {shape.kind!r} in {first.name}; give label_kind=.")


def _from_memory(source: Source, options: ReadOptions) -> Corpus:
    given, ledger = list(chunks(source)), Ledger(options.bad_rows)
    schema = given[0].table.schema
    shape = shape_of(MEMORY, schema, assign(MEMORY, schema, options), options)
    made = [shape.batch(MEMORY, chunk, ledger) for chunk in given]
    ledger.close(sum(len(chunk.rows) for chunk in given))
    return Corpus(Held(made, ledger.skipped), shape, options.bad_rows, options.batch_rows)
