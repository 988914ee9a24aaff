"""A user-defined function of the text or the row as an extractor."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, InputTypeError, MissingFunctionError, UsageError, damaged
from linnaeus.features.base import LARGEST, Block, Fitted, rows_from
from linnaeus.features.batches import texts
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.store import states
from linnaeus.types import NOT_STORED, Ints, State

Answer: TypeAlias = dict[str, float]
Of: TypeAlias = Literal["text", "row"]
OF = ("text", "row")


@dataclass(frozen=True)
class Function(Block):
    """Features from `fn(text)`, or from `fn(row)` with `of="row"`: a dict with "text" and all further columns.

    The function returns a number (one column, called `name`), a sequence of numbers of constant length (columns
    `name[0]`, `name[1]` ...), or a dict from names to numbers, booleans or strings (a string is the feature
    `key=value`). The columns of dicts are the names that occur in training, sorted by code point; other names are
    ignored. The function must be deterministic. A saved model stores only its name, by default the dotted name; pass
    the function again to load the model: `load(path, functions={name: fn})`.

    >>> Function(lambda text: {"question": text.endswith("?")}, name="marks").fit(["Why?", "So."]).names()
    ['question']
    """

    fn: Callable[..., object] = field(repr=False, metadata=NOT_STORED)
    name: str = ""
    of: Of = "text"

    def __post_init__(self) -> None:
        if not callable(self.fn):
            raise InputTypeError(f"Function needs a function of the text or row, not {type(self.fn).__name__}.")
        if self.of not in OF:
            raise UsageError(f"Function(of=...) must be 'text' or 'row', not {self.of!r}.")
        if not self.name:
            home, own = getattr(self.fn, "__module__", ""), getattr(self.fn, "__qualname__", "")
            if not own or "<" in own:
                raise UsageError("Function needs a name for this function; give it a name=...")
            object.__setattr__(self, "name", f"{home}.{own}")

    def learn(self, stream: Stream) -> FittedFunction:
        """Collect the names of columns in one pass."""
        call = _Call(self.fn, self.name, self.of)
        return self._fitted(call, (name for batch in stream.batches() for row in call.answers(batch) for name in row))

    def learn_rows(self, stream: Stream) -> tuple[FittedFunction, CSR]:
        """Fit and return the rows in one pass, so that the function is called once for each row."""
        call = _Call(self.fn, self.name, self.of)
        answers = [answer for batch in stream.batches() for answer in call.answers(batch)]
        fitted = self._fitted(call, (name for answer in answers for name in answer))
        return fitted, fitted.assemble(answers)

    def _fitted(self, call: _Call, names: Iterable[str]) -> FittedFunction:
        columns = list(dict.fromkeys(names))
        if call.size is None:
            columns.sort()
        return FittedFunction(self.fn, self.name, self.of, tuple(columns), call.size)


@dataclass
class _Call:
    """Calls the function and checks its results."""

    fn: Callable[..., object]
    name: str
    of: Of
    size: int | None = None
    """How long the sequences are that it gives; their columns have an order of their own."""

    def answers(self, batch: Batch) -> Iterator[Answer]:
        for number, row in enumerate(_inputs(batch, self.of)):
            where = f"Function {self.name!r}, row {batch.start + number + 1}"
            try:
                given = self.fn(row)
            except Exception as error:
                raise UsageError(f"{where}: it raised {type(error).__name__}: {error}") from error
            answer = dict(self._items(given, where))
            bad = next((key for key, value in answer.items() if not abs(value) <= LARGEST), None)
            if bad is not None:
                raise DataError(f"{where}: {bad!r} is {answer[bad]}, but features are finite float32 numbers.")
            yield answer

    def _items(self, given: object, where: str) -> Iterator[tuple[str, float]]:
        if isinstance(given, np.ndarray) and given.ndim == 0:
            given = given.item()
        if isinstance(given, Mapping):
            for key, value in given.items():
                yield (f"{key}={value}", 1.0) if isinstance(value, str) else (str(key), _number(value, where))
        elif isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes):
            self.size = len(given) if self.size is None else self.size
            if len(given) != self.size:
                raise DataError(
                    f"{where}: it returned {len(given)} numbers, but {self.size} before; always return as many."
                )
            for place, value in enumerate(given):
                yield f"{self.name}[{place}]", _number(value, where)
        else:
            yield self.name, _number(given, where)


def _number(value: object, where: str) -> float:
    if not isinstance(value, bool | int | float | np.number | np.bool_):
        raise DataError(f"{where}: it returned {type(value).__name__}, but must return a number, a dict or a sequence.")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _inputs(batch: Batch, of: Of) -> Sequence[object]:
    if of == "text":
        return texts(batch, "Function")
    columns = {name: values.to_pylist() for name, values in batch.columns.items()}
    if batch.text is not None:
        columns["text"] = batch.text.to_pylist()
    return [{name: values[i] for name, values in columns.items()} for i in range(len(batch))]


@dataclass(frozen=True)
class FittedFunction(Fitted):
    """A function with the columns it had in training."""

    fn: Callable[..., object] = field(repr=False)
    name: str
    of: Of
    columns: tuple[str, ...]
    size: int | None = None
    """The length of its sequences, where it gives such."""

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: column for column, name in enumerate(self.columns)}

    @property
    def width(self) -> int:
        """The columns seen in training."""
        return len(self.columns)

    def extract(self, batch: Batch) -> CSR:
        """The results of the function for each row."""
        return self.assemble(list(_Call(self.fn, self.name, self.of, self.size).answers(batch)))

    def assemble(self, answers: list[Answer]) -> CSR:
        """Rows from the function's answers."""
        known = self._numbers
        cells = [{known[name]: value for name, value in answer.items() if name in known} for answer in answers]
        return rows_from(cells, self.width)

    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def keep(self, columns: Ints) -> FittedFunction:
        """Only these columns."""
        return replace(self, columns=tuple(self.columns[column] for column in columns.tolist()))

    def state(self) -> State:
        """The function's name, never the function."""
        manifest = {"kind": "function", "name": self.name, "of": self.of, "size": self.size}
        return State(manifest, states.pack_strings("columns", self.columns))

    @classmethod
    def from_state(cls, state: State, functions: Mapping[str, Callable[..., object]]) -> FittedFunction:
        """Restore with the function of that name; nothing is imported."""
        name, of = states.field(state.manifest, "name", str), states.field(state.manifest, "of", str)
        if name not in functions:
            raise MissingFunctionError(name)
        if of not in OF:
            raise damaged(f"function {name!r} has the unknown input {of!r}")
        size = states.field(state.manifest, "size", (int, type(None)))
        return cls(functions[name], name, of, tuple(states.unpack_strings("columns", state.tensors)), size)
