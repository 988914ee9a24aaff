"""Features that the rows bring along: matrices, entries of libsvm files, columns of vectors (embeddings, images)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import prod
from typing import ClassVar, Literal, NoReturn, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from linnaeus.arrays import CSR, Dense, as_rows
from linnaeus.data.arrow import as_numpy, is_list, settled
from linnaeus.data.batch import Batch, row_numbers
from linnaeus.errors import DataError, UsageError, damaged, expect, said
from linnaeus.features.base import LARGEST, Block, Fitted, empty_rows
from linnaeus.features.batches import column, pieces
from linnaeus.features.names import Names, numbered
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream, TakesMatrices, has_method
from linnaeus.store import states
from linnaeus.types import Doubles, Longs, Source, State, offsets_of

MAX_COLUMNS = 2**31


@dataclass(frozen=True)
class Ready(Block):
    """Precomputed features: column i is index i of the libsvm file, which may count from 0 or 1.

    The width is the largest index of the training rows plus one, or `width` if it is given. Larger indices in later
    rows are ignored, as they have no weights. The values of an index that occurs twice in a row are added.

    >>> import pyarrow as pa; from linnaeus.data.batch import Batch
    >>> entries = pa.list_(pa.struct([("index", pa.int32()), ("value", pa.float32())]))
    >>> rows = Batch(features=pa.array([[{"index": 3, "value": 0.5}], [{"index": 1, "value": 2.0}]], entries))
    >>> Ready().fit_rows(rows)[1].to_scipy().toarray().tolist()
    [[0.0, 0.0, 0.0, 0.5], [0.0, 2.0, 0.0, 0.0]]
    """

    width: int | None = None

    def __post_init__(self) -> None:
        if self.width is not None:
            expect("Ready(width=...)", self.width, int, 1, MAX_COLUMNS)

    def learn(self, stream: Stream) -> FittedReady:
        """One walk that looks for the largest index; none where the width is known."""
        if self.width is not None:
            return FittedReady(self.width)
        return FittedReady(max((_entries(batch).width for batch in stream.batches()), default=0))


@dataclass(frozen=True, slots=True)
class Matrix(Batch):
    """Rows of a matrix as a batch; they stay in the type that they have in memory.

    >>> batch = Matrix(rows=as_rows([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    >>> len(batch), batch.slice(1, 2).rows.shape
    (3, (2, 2))
    """

    rows: CSR | Dense = Dense(np.zeros((0, 0)))

    def __len__(self) -> int:
        return self.rows.shape[0]

    def slice(self, offset: int, length: int) -> Matrix:
        """A range of rows."""
        stop = min(offset + length, len(self))
        labels = None if self.labels is None else self.labels.slice(offset, length)
        return Matrix(labels=labels, rows=self.rows.rows_slice(offset, stop), start=self.start + offset)

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> Matrix:
        """The rows with these numbers, in this order, numbered from 0."""
        chosen = row_numbers(rows)
        return Matrix(labels=None if self.labels is None else self.labels.take(chosen), rows=self.rows.take(chosen))


@dataclass(frozen=True)
class FittedReady(Fitted):
    """The first columns of what the rows bring along; columns of a data frame have names."""

    size: int
    called: tuple[str, ...] | None = None
    provides: ClassVar[tuple[type, ...]] = (TakesMatrices,)

    @property
    def width(self) -> int:
        """As many columns as the training rows had, or as were asked for."""
        return self.size

    def extract(self, batch: Batch) -> CSR:
        """The entries of each row, sorted by index; zeros are left out."""
        if not isinstance(batch, Matrix):
            return _entries(batch).rows(self.width, batch.start)
        return batch.rows.to_csr() if isinstance(batch.rows, Dense) else batch.rows

    def adopt(self, source: Source) -> Source:
        """A matrix (an array, a SciPy matrix, a data frame, lists of numbers) as a batch; other data as they are.

        >>> len(FittedReady(2).adopt([[1.0, 2.0], [0.0, 3.0]]))
        2
        """
        if isinstance(source, Batch) or has_method(source, "batches"):
            return source
        names = None if self.called is None else np.array(self.called, object)
        return Matrix(rows=as_rows(source, self.width, names))

    def names(self) -> Names:
        """The column names of the data frame; without one, `#7` for index 7."""
        called = self.called
        return numbered(self.width) if called is None else Names(self.width, lambda start, end: [*called[start:end]])

    def state(self) -> State:
        """The width, and names if there are some."""
        names = {} if self.called is None else states.pack_strings("names", self.called)
        return State({"kind": "ready", "width": self.width}, names)

    @classmethod
    def from_state(cls, state: State) -> FittedReady:
        """Restore from the stored state."""
        width = states.field(state.manifest, "width", int)
        if not 0 <= width <= MAX_COLUMNS:
            raise damaged(f"it claims {width} columns")
        called = tuple(states.unpack_strings("names", state.tensors)) if state.tensors else None
        if called is not None and len(called) != width:
            raise damaged("the names of its columns are not as many as its columns")
        return cls(width, called)


@dataclass(frozen=True, eq=False)
class _Entries:
    """Row, index and value of every entry of a batch of n rows."""

    n: int
    row: Longs
    index: Longs
    value: Doubles

    @property
    def width(self) -> int:
        return int(self.index.max(initial=-1)) + 1

    def rows(self, width: int, start: int) -> CSR:
        inside = self.index < width
        keys, place = np.unique(self.row[inside] * width + self.index[inside], return_inverse=True)
        sums = np.bincount(place, self.value[inside], len(keys)).astype(np.float32)
        finite = np.isfinite(sums)
        if not finite.all():
            row, column = divmod(int(keys[~finite][0]), width)
            raise DataError(f"Row {start + row + 1} has no finite value at index {column}; correct it or leave it out.")
        keys, sums = keys[sums != 0], sums[sums != 0]
        indptr = offsets_of(np.bincount(keys // width, minlength=self.n))
        return CSR(indptr, (keys % width).astype(np.int32), sums, width)


def _entries(batch: Batch) -> _Entries:
    if batch.features is None:
        raise DataError("Ready needs the features of a libsvm file, but the rows have none; use Words(...) for texts.")
    lists = batch.features
    row = np.repeat(np.arange(len(lists)), pc.fill_null(lists.value_lengths(), 0).to_numpy(zero_copy_only=False))
    index, value = lists.flatten().flatten()
    if (index.null_count or value.null_count) or (len(index) and index.to_numpy().min() < 0):
        raise DataError("Some row has a feature without an index or a value, or an index below 0; read the file again.")
    return _Entries(len(lists), row, index.to_numpy().astype(np.int64), value.to_numpy().astype(np.float64))


Scale: TypeAlias = Literal["none", "l2", "standard"]
SCALES = ("none", "l2", "standard")
MAX_NUMBERS = 1 << 24
"""Numbers that one vector may have."""


@dataclass(frozen=True)
class Vectors(Block):
    """The numbers of a column of vectors, one feature for each place, called `embedding[17]`.

    Cells are lists of numbers, all of one length; lists of lists, such as images, all of one shape (`image[3][17]`); or
    text that writes such a list, as in a CSV file. `scale` is "none" for the numbers as they are, "l2" for vectors of
    length 1, or "standard" for (value - mean) / deviation of each place, as in the training rows.

    >>> from linnaeus.data.batch import Batch; from linnaeus.features import Words
    >>> rows = Batch(pa.array(["good", "bad"]), columns={"embedding": pa.array([[0.5, -1.0], [2.0, 0.0]])})
    >>> fitted, X = (Words() | Vectors("embedding")).fit_rows(rows)
    >>> fitted.names(), X.to_scipy().toarray().tolist()
    (['bad', 'good', 'embedding[0]', 'embedding[1]'], [[0.0, 1.0, 0.5, -1.0], [1.0, 0.0, 2.0, 0.0]])
    """

    column: str = "embedding"
    scale: Scale = "none"

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise UsageError(f"Vectors takes the name of a column, not {self.column!r}.")
        if self.scale not in SCALES:
            raise UsageError(f"Vectors(scale=...) must be 'none', 'l2' or 'standard', not {self.scale!r}.")

    def learn(self, stream: Stream) -> FittedVectors:
        """The shape, from the first row; two passes over all rows where means and deviations are wanted."""
        first = next((batch for batch in stream.batches() if len(batch)), None)
        if first is None:
            raise DataError(f"Vectors needs rows with the column {self.column!r}, and there are none.")
        shape = _Cells(first.slice(0, 1), self.column).shape
        plain = FittedVectors(self.column, shape, "none")
        if self.scale != "standard":
            return FittedVectors(self.column, shape, self.scale)
        count = sum(len(batch) for batch in stream.batches())
        mean = sum((plain.matrix(piece).sum(axis=0) for piece in pieces(stream)), np.zeros(plain.width)) / count
        squares = (((plain.matrix(piece) - mean) ** 2).sum(axis=0) for piece in pieces(stream))
        deviation = np.sqrt(sum(squares, np.zeros(plain.width)) / count)
        return FittedVectors(self.column, shape, "standard", mean, np.where(deviation > 0, deviation, 1.0))


@dataclass(frozen=True, eq=False)
class FittedVectors(Fitted):
    """A column of vectors of one shape, and for standard scale the mean and deviation of each place (width,)."""

    full: ClassVar[bool] = True
    """Rows have a number in every column."""

    column: str
    shape: tuple[int, ...]
    scale: str
    mean: Doubles = field(default_factory=lambda: np.zeros(0))
    deviation: Doubles = field(default_factory=lambda: np.zeros(0))

    @property
    def width(self) -> int:
        """The numbers of one vector."""
        return prod(self.shape)

    def matrix(self, batch: Batch) -> Doubles:
        """The numbers as they are (n, width)."""
        return _Cells(batch, self.column).numbers(self.shape)

    def extract(self, batch: Batch) -> CSR:
        """The numbers, scaled; zeros are not stored."""
        if not len(batch):
            return empty_rows(0, self.width)
        found = self.matrix(batch)
        if self.scale == "standard":
            found = np.clip((found - self.mean) / self.deviation, -LARGEST, LARGEST)
        elif self.scale == "l2":
            lengths = np.sqrt(np.square(found).sum(axis=1, keepdims=True))
            found = np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)
        values = found.astype(np.float32)
        stored = values != 0
        places = np.broadcast_to(np.arange(self.width, dtype=np.int32), values.shape)
        return CSR(offsets_of(stored.sum(axis=1)), places[stored], values[stored], self.width)

    def names(self) -> Names:
        """The column, and the place in the vector."""
        return Names(self.width, lambda start, end: [self._name(place) for place in range(start, end)])

    def _name(self, place: int) -> str:
        return self.column + "".join(f"[{at}]" for at in np.unravel_index(place, self.shape))

    def state(self) -> State:
        """The column, the shape and the scale."""
        manifest = {"kind": "vectors", "column": self.column, "shape": list(self.shape), "scale": self.scale}
        standard = {"mean": self.mean, "deviation": self.deviation} if self.scale == "standard" else {}
        return State(manifest, standard)

    @classmethod
    def from_state(cls, state: State) -> FittedVectors:
        """Restore from the stored state."""
        name, scale = states.field(state.manifest, "column", str), states.field(state.manifest, "scale", str)
        shape = states.listed(state.manifest, "shape", int)
        if scale not in SCALES or not shape or min(shape) < 1 or prod(shape) > MAX_NUMBERS:
            raise damaged("its vectors have no usable shape or scale")
        if scale != "standard":
            return cls(name, shape, scale)
        mean, deviation = (states.tensor(state.tensors, part, np.float64) for part in ("mean", "deviation"))
        if not len(mean) == len(deviation) == prod(shape) or not np.isfinite(mean).all() or not (deviation > 0).all():
            raise damaged("its means and deviations do not fit its vectors")
        return cls(name, shape, scale, mean, deviation)


class _Cells:
    """The cells of a column of vectors; every error names the row."""

    def __init__(self, batch: Batch, name: str) -> None:
        self._name, self._start, self._n = name, batch.start, len(batch)
        cells = settled(column(batch, name, "Vectors"))
        if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
            cells = self._parsed(cells)
        if len(cells) and not is_list(cells.type):
            raise DataError(f"The column {name!r} holds {cells.type}, not vectors; its cells must be lists of numbers.")
        self._cells = cells

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first cell."""
        shape, inside = [], self._cells
        while is_list(inside.type):
            self._whole(inside)
            shape.append(len(inside[0]))
            if not shape[-1]:
                self._refuse(0, "is an empty list")
            inside = inside[:1].flatten()
        if prod(shape) > MAX_NUMBERS:
            self._refuse(0, f"has {prod(shape):,} numbers, more than {MAX_NUMBERS:,}")
        return tuple(shape)

    def numbers(self, shape: tuple[int, ...]) -> Doubles:
        """All numbers (n, width), each finite; every cell has this shape."""
        inside, before = self._cells, 1
        for size in shape:
            if not is_list(inside.type):
                self._refuse(0, f"holds {inside.type}, not lists, where the training rows have {_said(shape)}")
            self._whole(inside)
            self._check_sizes(inside, size, before)
            inside, before = inside.flatten(), before * size
        if is_list(inside.type):
            self._refuse(0, f"holds lists in lists, where the training rows have {_said(shape)}")
        self._whole(inside)
        found = self._as_floats(inside).reshape(self._n, before)
        bad = ~(np.abs(found) <= LARGEST).all(axis=1)
        if bad.any():
            self._refuse(int(np.argmax(bad)), "holds a number that is not finite, or beyond float32")
        return found

    def _check_sizes(self, lists: pa.Array, size: int, before: int) -> None:
        if pa.types.is_fixed_size_list(lists.type):
            sizes = np.full(len(lists), lists.type.list_size)
        else:
            sizes = np.asarray(lists.value_lengths().to_numpy(zero_copy_only=False))
        wrong = np.flatnonzero(sizes != size)
        if len(wrong):
            what = "numbers" if not is_list(lists.type.value_type) else "lists"
            self._refuse(int(wrong[0]) // before, f"has {sizes[wrong[0]]} {what}, where the training rows have {size}")

    def _whole(self, cells: pa.Array) -> None:
        """Refuse what is missing, in a cell or instead of one."""
        if cells.null_count:
            at = int(np.argmax(as_numpy(cells.is_null())))
            self._refuse(at * self._n // len(cells), "is missing, or lacks a number")

    def _as_floats(self, values: pa.Array) -> Doubles:
        try:
            found: Doubles = as_numpy(values.cast(pa.float64()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise DataError(f"The column {self._name!r} holds lists of {values.type}: {said(error)}.") from error
        return found

    def _parsed(self, cells: pa.Array) -> pa.Array:
        """Lists from text such as `[0.5, 1]`."""
        import msgspec

        found = []
        for row, text in enumerate(cells.to_pylist()):
            try:
                found.append(None if text is None or not text.strip() else msgspec.json.decode(text, type=list))
            except (msgspec.DecodeError, RecursionError):
                self._refuse(row, f"is {text[:40]!r}, not a list of numbers such as [0.5, 1]")
        try:
            return pa.array(found)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(
                f"The column {self._name!r} holds lists that are not all of numbers: {said(error)}."
            ) from error

    def _refuse(self, row: int, why: str) -> NoReturn:
        raise DataError(
            f"Row {self._start + row + 1} of the column {self._name!r} {why}; give every row a vector of one shape, "
            "or leave the row out."
        )


def _said(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) + " numbers"
