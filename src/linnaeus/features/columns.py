"""Features from further columns: standardized numbers, one-hot categories, and another column of texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linnaeus.arrays.csr import CSR, hstack
from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, InputTypeError, UsageError, damaged, expect
from linnaeus.features.base import LARGEST, Block, Fitted, empty_rows
from linnaeus.features.batches import column, pieces
from linnaeus.features.names import Names, prefixed
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.store.states import field, listed, nest, pack_strings, tensor, unpack_strings
from linnaeus.types import Doubles, Ints, State, offsets_of

MISSING_WORDS = ("", "na", "n/a", "nan", "null", "none")
"""What a numeric column may say, in any case, when it has no number."""

MAX_NUMBER = 1e150
"""The largest number a column may hold: its square is still finite."""


def strings(batch: Batch, name: str, piece: str, what: str) -> pa.Array:
    """A column as Arrow strings, for the named extractor that wants this of it; null where there is no value."""
    values = column(batch, name, piece)
    try:
        return values if pa.types.is_string(values.type) else values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"The column {name!r} holds {values.type}, not {what}; turn its cells into text.") from error


def categories(batch: Batch, name: str) -> pa.Array:
    """A column as Arrow strings; null where there is no value."""
    return strings(batch, name, "Columns", "categories")


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
        expect("Columns(min_df=...)", self.min_df, int, 1)

    def learn(self, stream: Stream) -> FittedColumns:
        """Two passes: sums and categories, then squared differences from the mean."""
        sums, seen = [_Mean() for _ in self.numeric], [Counter[str]() for _ in self.categorical]
        for piece in pieces(stream):
            for mean, name in zip(sums, self.numeric, strict=True):
                mean.add(_present(numbers(piece, name)))
            for counter, name in zip(seen, self.categorical, strict=True):
                counter.update(value for value in categories(piece, name).to_pylist() if value is not None)
        means = tuple(mean.value for mean in sums)
        kept = tuple(tuple(sorted(c for c, df in counter.items() if df >= self.min_df)) for counter in seen)
        return FittedColumns(self.numeric, means, self._deviations(stream, means), self.categorical, kept)

    def _deviations(self, stream: Stream, means: tuple[float, ...]) -> tuple[float, ...]:
        """Standard deviations; 1 for a constant column, which then is 0 throughout."""
        squares = [_Mean() for _ in self.numeric]
        for piece in pieces(stream) if self.numeric else ():
            for square, name, mean in zip(squares, self.numeric, means, strict=True):
                square.add((_present(numbers(piece, name)) - mean) ** 2)
        return tuple(math.sqrt(square.value) or 1.0 for square in squares)


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
        numeric, categorical = (listed(state.manifest, name, str) for name in ("numeric", "categorical"))
        means, scales = (tuple(tensor(state.tensors, name, np.float64).tolist()) for name in ("means", "scales"))
        words = unpack_strings("categories", state.tensors)
        counts = tensor(state.tensors, "counts", np.int64).tolist()
        fits = len(means) == len(scales) == len(numeric) and len(counts) == len(categorical)
        if not fits or sum(counts) != len(words) or min(counts, default=0) < 0 or not all(scales):
            raise damaged("the numbers of its columns do not match")
        ends = np.cumsum(counts).tolist()
        kept = tuple(tuple(words[end - count : end]) for count, end in zip(counts, ends, strict=True))
        return cls(numeric, means, scales, categorical, kept)


class _Mean:
    """The mean over pieces of a fixed size, each summed without rounding: the same for any cut of the stream."""

    def __init__(self) -> None:
        self.total, self.count = 0.0, 0

    def add(self, values: Doubles) -> None:
        self.total += math.fsum(values.tolist())
        self.count += len(values)

    @property
    def value(self) -> float:
        return self.total / self.count if self.count else 0.0


def _present(values: Doubles) -> Doubles:
    return values[~np.isnan(values)]


def _standardized(values: Doubles) -> CSR:
    """Each value, or a one in the second column where it is missing; zeros are not stored."""
    missing = np.isnan(values)
    stored = missing | (values != 0)
    data = np.where(missing, 1.0, np.clip(values, -LARGEST, LARGEST))[stored].astype(np.float32)
    return CSR(offsets_of(stored), missing[stored].astype(np.int32), data, 2)


@dataclass(frozen=True)
class Field(Block):
    """The features of an extractor on another text column of the rows.

    A missing value is an empty text. The features have no position in the text, so explanations list them by name.

    >>> from linnaeus.data.batch import Batch; from linnaeus.features import Words
    >>> rows = Batch(pa.array(["long body", "another"]), columns={"title": pa.array(["Good news", None])})
    >>> fitted, X = (Words() | Field("title", Words())).fit_rows(rows)
    >>> fitted.names()
    ['another', 'body', 'long', 'title: good', 'title: news']
    """

    column: str
    block: Block

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise UsageError(f"Field takes the name of a column, not {self.column!r}.")
        if not isinstance(self.block, Block):
            raise InputTypeError(f"Field takes an extractor such as Words(), not {self.block!r}.")

    def learn(self, stream: Stream) -> FittedField:
        """What the extractor learns from the column."""
        return FittedField(self.column, self.block.learn(_Column(stream, self.column)))

    def learn_rows(self, stream: Stream) -> tuple[Fitted, CSR]:
        """Fit, and return the rows too."""
        features, X = self.block.learn_rows(_Column(stream, self.column))
        return FittedField(self.column, features), X


@dataclass(frozen=True)
class FittedField(Fitted):
    """A fitted extractor of a further column."""

    column: str
    features: Fitted

    @property
    def width(self) -> int:
        """The number of columns of the extractor."""
        return self.features.width

    def extract(self, batch: Batch) -> CSR:
        """The features of the column."""
        return self.features.extract(_read(batch, self.column))

    def names(self) -> Names:
        """The column, and the name of the feature."""
        return prefixed(f"{self.column}: ", self.features.names())

    def keep(self, columns: Ints) -> Fitted:
        """Only these columns."""
        return FittedField(self.column, self.features.keep(columns))

    def shrink(self, columns: Ints) -> Fitted:
        """Only these columns, without any data of the others."""
        return FittedField(self.column, self.features.shrink(columns))

    def state(self) -> State:
        """The name of the column, and the state of the extractor."""
        return nest({"kind": "field", "column": self.column}, (self.features,))

    @classmethod
    def from_state(cls, state: State, features: Fitted) -> FittedField:
        """Restore from the stored state."""
        name = field(state.manifest, "column", str)
        if not name:
            raise damaged("a column of its features has no name")
        return cls(name, features)


@dataclass(frozen=True)
class _Column:
    """The same rows, with the column in the place of the text."""

    stream: Stream
    column: str

    def batches(self) -> Iterator[Batch]:
        """The batches in order."""
        for batch in self.stream.batches():
            yield _read(batch, self.column)


def _read(batch: Batch, name: str) -> Batch:
    return replace(batch, text=pc.fill_null(strings(batch, name, "Field", "texts"), ""))
