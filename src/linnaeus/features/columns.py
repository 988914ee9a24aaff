"""Features from further columns: standardized numbers, and one-hot categories."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linnaeus.arrays.csr import CSR, hstack
from linnaeus.errors import DataError, InputTypeError, UsageError, damaged, expect
from linnaeus.features.base import LARGEST, Block, Fitted, empty_rows
from linnaeus.features.batches import column, pieces
from linnaeus.frozen import dataclass
from linnaeus.store.states import listed, pack_strings, tensor, unpack_strings
from linnaeus.types import Place, State

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream
    from linnaeus.types import Doubles


MISSING_WORDS = ("", "na", "n/a", "nan", "null", "none")
"""What a numeric column may say, in any case, when it has no number."""

MAX_NUMBER = 1e150
"""The largest number a column may hold: its square is still finite."""


def categories(batch: Batch, name: str) -> pa.Array:
    """A column as Arrow strings; null where there is no value."""
    values = column(batch, name, "Columns")
    try:
        return values if pa.types.is_string(values.type) else values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"The column {name!r} holds {values.type}, not categories; turn its cells into text."
        ) from error


def numbers(batch: Batch, name: str) -> Doubles:
    """A column as float64; NaN where there is no value."""
    values = column(batch, name, "Columns")
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = _parse(values, name, batch.start)
    try:
        found: Doubles = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"The column {name!r} holds {values.type}, not numbers; make numbers of its cells, or name it in "
            "categorical=..."
        ) from error
    beyond = np.abs(found) > MAX_NUMBER
    if beyond.any():
        row = batch.start + 1 + int(np.flatnonzero(beyond)[0])
        raise DataError(
            f"Row {row} of the column {name!r} is beyond {MAX_NUMBER:g}; leave it empty if it is not known."
        )
    return found


def _parse(values: pa.Array, name: str, start: int) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(values)
    absent = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(MISSING_WORDS, trimmed.type))
    present = pc.if_else(absent, None, trimmed)
    try:
        return present.cast(pa.float64())
    except pa.ArrowInvalid:
        row = next(i for i, text in enumerate(present.to_pylist()) if text is not None and not _is_number(text))
    raise DataError(
        f"Row {start + row + 1} of the column {name!r} is {values[row].as_py()!r}, which is not a number; "
        "correct it, or name the column in categorical=..."
    )


def _is_number(text: str) -> bool:
    try:
        pa.array([text]).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


@dataclass(frozen=True)
class Columns(Block):
    """Features from further columns of the rows: standardized numbers, and one-hot categories.

    A numeric column becomes (value - mean) / deviation, with the mean and standard deviation of the training rows, and
    a second column that is 1 if the value is missing (the first is then 0, the mean). A categorical column becomes one
    column for each category that occurs in at least `min_df` training rows, sorted by code point, and `<unknown>` for
    all other and missing values.

    >>> import pyarrow as pa; from linnaeus.data.batch import Batch
    >>> rows = Batch(columns={"price": pa.array([1.0, 3.0]), "country": pa.array(["se", "fi"])})
    >>> fitted, X = Columns(numeric=("price",), categorical=("country",)).fit_rows(rows)
    >>> fitted.names()
    ['price', 'price is missing', 'country=fi', 'country=se', 'country=<unknown>']
    >>> X.to_scipy().toarray().tolist()
    [[-1.0, 0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0, 0.0]]
    """

    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    min_df: int = 1

    def __post_init__(self) -> None:
        for name in ("numeric", "categorical"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise InputTypeError(f"Columns({name}=...) takes several names; write ({value!r},).")
            if not isinstance(value, Iterable):
                raise InputTypeError(f"Columns({name}=...) takes a list of names, not {value!r}.")
            object.__setattr__(self, name, tuple(value))
        if not self.numeric and not self.categorical:
            raise UsageError("Columns needs the name of at least one numeric or categorical column.")
        expect("Columns(min_df=...)", self.min_df, int)
        if self.min_df < 1:
            raise UsageError(f"Columns(min_df=...) must be at least 1, not {self.min_df}.")

    def learn(self, stream: Stream) -> FittedColumns:
        """Two passes: sums and categories, then squared differences from the mean."""
        sums = [_Sum() for _ in self.numeric]
        seen: list[Counter[str]] = [Counter() for _ in self.categorical]
        for piece in pieces(stream):
            for total, name in zip(sums, self.numeric, strict=True):
                total.add(_present(numbers(piece, name)))
            for counter, name in zip(seen, self.categorical, strict=True):
                counter.update(value for value in categories(piece, name).to_pylist() if value is not None)
        means = [total.mean() for total in sums]
        kept = tuple(tuple(sorted(c for c, df in counter.items() if df >= self.min_df)) for counter in seen)
        scales = self._deviations(stream, means) if self.numeric else []
        return FittedColumns(self.numeric, tuple(means), tuple(scales), self.categorical, kept)

    def _deviations(self, stream: Stream, means: list[float]) -> list[float]:
        """Standard deviations; 1 for a constant column, which then is 0 throughout."""
        sums = [_Sum() for _ in self.numeric]
        for piece in pieces(stream):
            for total, name, mean in zip(sums, self.numeric, means, strict=True):
                total.add((_present(numbers(piece, name)) - mean) ** 2)
        return [math.sqrt(total.mean()) or 1.0 for total in sums]


@dataclass(frozen=True)
class FittedColumns(Fitted):
    """Columns with their means, deviations and categories."""

    numeric: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    categorical: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]

    @property
    def width(self) -> int:
        """Two for each numeric column, and one more than the categories of each categorical one."""
        return 2 * len(self.numeric) + sum(len(kept) + 1 for kept in self.categories)

    def extract(self, batch: Batch) -> CSR:
        """Columns side by side, in the order of the hyper-parameters."""
        blocks = [
            _standardized((numbers(batch, name) - mean) / scale)
            for name, mean, scale in zip(self.numeric, self.means, self.scales, strict=True)
        ]
        for name, kept in zip(self.categorical, self.categories, strict=True):
            codes = pc.index_in(categories(batch, name), value_set=pa.array(kept, pa.string()))
            found = pc.fill_null(codes, len(kept)).to_numpy(zero_copy_only=False).astype(np.int32)
            ones = np.ones(len(found), np.float32)
            blocks.append(CSR(np.arange(len(found) + 1, dtype=np.int64), found, ones, len(kept) + 1))
        return hstack(blocks) if blocks else empty_rows(len(batch), 0)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """No positions: the values do not come from the text."""
        return [[] for _ in range(len(batch))]

    def names(self) -> list[str]:
        """The column, with its category where it has one."""
        names = [name for column in self.numeric for name in (column, f"{column} is missing")]
        for column_, kept in zip(self.categorical, self.categories, strict=True):
            names += [f"{column_}={category}" for category in (*kept, "<unknown>")]
        return names

    def state(self) -> State:
        """Names and categories as strings, means and deviations in float64."""
        tensors = {"means": np.array(self.means, np.float64), "scales": np.array(self.scales, np.float64)}
        strings = pack_strings("categories", [category for kept in self.categories for category in kept])
        counts = {"counts": np.array([len(kept) for kept in self.categories], np.int64)}
        manifest = {"kind": "columns", "numeric": list(self.numeric), "categorical": list(self.categorical)}
        return State(manifest, {**tensors, **strings, **counts})

    @classmethod
    def from_state(cls, state: State) -> FittedColumns:
        """Restore from the stored state."""
        numeric = listed(state.manifest, "numeric", str)
        categorical = listed(state.manifest, "categorical", str)
        means = tuple(tensor(state.tensors, "means", np.float64).tolist())
        scales = tuple(tensor(state.tensors, "scales", np.float64).tolist())
        words = unpack_strings("categories", state.tensors)
        counts = tensor(state.tensors, "counts", np.int64).tolist()
        fits = len(means) == len(scales) == len(numeric) and len(counts) == len(categorical)
        if not fits or sum(counts) != len(words) or min(counts, default=0) < 0 or not all(scales):
            raise damaged("the numbers of its columns do not match")
        ends = np.cumsum(counts).tolist()
        kept = tuple(tuple(words[end - count : end]) for count, end in zip(counts, ends, strict=True))
        return cls(numeric, means, scales, categorical, kept)


class _Sum:
    """Sum and count of pieces of a fixed size, each summed without rounding: the same for any cut of the stream."""

    def __init__(self) -> None:
        self.total, self.count = 0.0, 0

    def add(self, values: Doubles) -> None:
        self.total += math.fsum(values.tolist())
        self.count += len(values)

    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0


def _present(values: Doubles) -> Doubles:
    return values[~np.isnan(values)]


def _standardized(values: Doubles) -> CSR:
    """Each value, or a one in the second column where it is missing; zeros are not stored."""
    missing = np.isnan(values)
    stored = missing | (values != 0)
    indptr = np.zeros(len(values) + 1, np.int64)
    np.cumsum(stored, out=indptr[1:])
    data = np.where(missing, 1.0, np.clip(values, -LARGEST, LARGEST))[stored].astype(np.float32)
    return CSR(indptr, missing[stored].astype(np.int32), data, 2)
