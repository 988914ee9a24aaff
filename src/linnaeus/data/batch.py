"""Batch: some consecutive rows in memory, as Arrow columns of one length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, fields, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from linnaeus.data.arrow import from_numpy
from linnaeus.errors import InputTypeError
from linnaeus.frozen import dataclass
from linnaeus.types import Longs

_ROOM = 2**31 - 1  # bytes that the 32-bit offsets of a string array can reach


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive rows in memory: Arrow columns of one length.

    `text` is string or large_string without nulls; `labels` is string (one), list<string> (many) or float64
    (numeric); `features`, from libsvm files, is list<struct<index: int32, value: float32>>; `columns` holds all
    other columns by name. A part that the source does not have is None. `start` is the number of the first row.

    >>> batch = Batch(pa.array(["good film", "bad film"]), pa.array(["pos", "neg"]))
    >>> len(batch), batch.take([1]).labels.to_pylist()
    (2, ['neg'])
    """

    text: pa.Array | None = None
    labels: pa.Array | None = None
    weights: pa.Array | None = None
    groups: pa.Array | None = None
    features: pa.Array | None = None
    columns: dict[str, pa.Array] = field(default_factory=dict)
    start: int = 0

    def __len__(self) -> int:
        return next((len(array) for array in self.arrays()), 0)

    def arrays(self) -> Iterator[pa.Array]:
        """All columns, those with roles first."""
        for name in _ROLES:
            array = getattr(self, name)
            if array is not None:
                yield array
        yield from self.columns.values()

    def each(self, change: Callable[[pa.Array], pa.Array], start: int = 0) -> Batch:
        """The batch with the same function applied to every column."""
        roles = {name: getattr(self, name) for name in _ROLES}
        changed = {name: change(array) for name, array in roles.items() if array is not None}
        return Batch(**changed, columns={name: change(array) for name, array in self.columns.items()}, start=start)

    def slice(self, offset: int, length: int) -> Batch:
        """A range of rows; the columns are views, not copies."""
        return self.each(lambda array: array.slice(offset, length), self.start + offset)

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> Batch:
        """The rows with these numbers, in this order, numbered from 0."""
        chosen = from_numpy(row_numbers(rows))
        return self.each(lambda array: _widened(array).take(chosen))

    def at(self, start: int) -> Batch:
        """The same rows, numbered from `start`."""
        return replace(self, start=start)


_ROLES = tuple(f.name for f in fields(Batch) if f.name not in ("columns", "start"))


def row_numbers(rows: Sequence[int] | NDArray[np.integer]) -> Longs:
    """Row numbers as an array; a mask is refused, because its values would be read as rows 0 and 1.

    >>> row_numbers([2, 0]).tolist()
    [2, 0]
    """
    found = np.asarray(rows)
    if found.size and found.dtype.kind not in "iu":
        raise InputTypeError(f"rows are chosen by number, not by {found.dtype}; convert a mask with np.flatnonzero.")
    return found.astype(np.int64)


def join(batches: Sequence[Batch]) -> Batch:
    """All rows in one batch, numbered from the first batch's start; a single batch is returned without a copy.

    >>> join([Batch(pa.array(["a"])), Batch(pa.array(["b", "c"]))]).text.to_pylist()
    ['a', 'b', 'c']
    """
    if not batches:
        return Batch()
    if len(batches) == 1:
        return batches[0]
    first = batches[0]
    roles = {
        name: concatenated([getattr(b, name) for b in batches]) for name in _ROLES if getattr(first, name) is not None
    }
    columns = {name: concatenated([b.columns[name] for b in batches]) for name in first.columns}
    return Batch(**roles, columns=columns, start=first.start)


def concatenated(arrays: Sequence[pa.Array]) -> pa.Array:
    """Concatenate arrays, in a type that holds all of them."""
    if len({array.type for array in arrays}) > 1:
        kind = _common([array.type for array in arrays])
        arrays = [array.cast(kind) for array in arrays]
    if pa.types.is_string(arrays[0].type) and sum(array.nbytes for array in arrays) > _ROOM:
        arrays = [array.cast(pa.large_string()) for array in arrays]
    return pa.concat_arrays(arrays)


def _common(kinds: Sequence[pa.DataType]) -> pa.DataType:
    """A type that holds all of these; lists of numbers and lists of text are lists of text."""
    schemas = [pa.schema([("column", kind)]) for kind in kinds]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        if all(pa.types.is_list(kind) and not pa.types.is_nested(kind.value_type) for kind in kinds):
            return pa.list_(pa.string())
        raise


def _widened(array: pa.Array) -> pa.Array:
    """A taken column may repeat rows: near the reach of 32-bit offsets it gets 64-bit ones."""
    near = pa.types.is_string(array.type) and array.nbytes > _ROOM // 2
    return array.cast(pa.large_string()) if near else array
