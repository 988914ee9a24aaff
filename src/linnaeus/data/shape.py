"""Shape: raw columns to a Batch, by roles. Here, for all sources alike, missing and unusable cells are found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from linnaeus.data.batch import Batch
from linnaeus.data.cells import ENTRIES, MANY, as_numbers, as_text, as_texts, holds_nul, is_list, is_missing, settled
from linnaeus.data.formats.base import Chunk
from linnaeus.data.roles import Roles, listed
from linnaeus.errors import DataError
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.ledger import Ledger
    from linnaeus.data.options import ReadOptions


@dataclass(frozen=True, slots=True)
class Shape:
    """The roles of the columns, the kind of the labels ("one", "many", "numeric", "none") and the further columns."""

    roles: Roles
    kind: str
    further: tuple[str, ...]
    separator: str | None = None

    @property
    def columns(self) -> list[str]:
        """What has to be read."""
        return list(dict.fromkeys([*sorted(self.roles.taken()), *self.further]))

    def nothing(self) -> Batch:
        """A batch of no rows that has the columns."""
        kinds = {"one": pa.string(), "many": MANY, "numeric": pa.float64()}
        return Batch(
            text=pa.array([], pa.string()) if self.roles.text else None,
            labels=pa.array([], kinds[self.kind]) if self.roles.label else None,
            weights=pa.array([], pa.float64()) if self.roles.weight else None,
            groups=pa.array([], pa.string()) if self.roles.group else None,
            features=pa.array([], ENTRIES) if self.roles.features else None,
            columns={name: pa.array([], pa.string()) for name in self.further},
        )

    def batch(self, name: str, chunk: Chunk, ledger: Ledger) -> Batch:
        """The rows of a chunk that can be used; `name` is the file, for messages."""
        work = _Work(self, chunk, name, ledger)
        try:
            made = Batch(
                text=work.text(),
                labels=work.labels(),
                weights=work.weights(),
                groups=work.groups(),
                features=chunk.table.column(self.roles.features) if self.roles.features else None,
                columns={key: settled(chunk.table.column(key)) for key in self.further},
            )
        except DataError as error:
            if str(error).startswith(name):
                raise
            raise DataError(f"{name}: {error}") from error
        if work.keep.all():
            return made
        keep = pa.array(work.keep)
        return made.each(lambda array: array.filter(keep))


def shape_of(source: str, schema: pa.Schema, roles: Roles, options: ReadOptions) -> Shape:
    """The shape of these columns under these options."""
    names = [name for name in schema.names if name not in roles.taken()]
    if options.columns is not None:
        absent = [name for name in options.columns if name not in schema.names]
        if absent:
            raise DataError(f"{source}: has no column {absent[0]!r}; its columns are {listed(schema.names)}.")
        names = list(dict.fromkeys([*options.columns, *([roles.time] if roles.time else [])]))
    kind = "none" if roles.label is None else options.label_kind or _kind(schema.field(roles.label).type, options)
    return Shape(roles, kind, tuple(names), options.label_separator)


def _kind(column: pa.DataType, options: ReadOptions) -> str:
    if pa.types.is_floating(column):
        return "numeric"
    return "many" if options.label_separator or is_list(column) else "one"


class _Work:
    """One chunk on its way to a batch: `keep` loses the rows that cannot be used."""

    def __init__(self, shape: Shape, chunk: Chunk, name: str, ledger: Ledger) -> None:
        self.shape, self.chunk, self.name, self.ledger = shape, chunk, name, ledger
        self.keep = np.ones(len(chunk.table), bool)

    def text(self) -> pa.Array | None:
        role = self.shape.roles.text
        if role is None:
            return None
        text = as_text(self.chunk.table.column(role), role)
        if text.null_count:
            bad = text.is_null().to_numpy(zero_copy_only=False)
            self._reject(bad, f"no text in column {role!r}", "fill it in")
        return text

    def labels(self) -> pa.Array | None:
        role, kind = self.shape.roles.label, self.shape.kind
        if role is None:
            return None
        column = self.chunk.table.column(role)
        if kind in ("one", "many"):
            made = as_text(column, role) if kind == "one" else as_texts(column, role, self.shape.separator)
            self._miss(is_missing(made))
            self._reject(holds_nul(made), f"the label in column {role!r} holds a NUL character", "correct it")
        else:
            missing = is_missing(settled(column))
            made, good = as_numbers(column, role)
            self._miss(missing)
            self._reject(~good & ~missing, f"the label in column {role!r} is not a finite number", "correct it")
        return made

    def weights(self) -> pa.Array | None:
        role = self.shape.roles.weight
        if role is None:
            return None
        made, good = as_numbers(self.chunk.table.column(role), role)
        good = good & (made.to_numpy(zero_copy_only=False) >= 0)
        remedy = "correct it, read without weights with weight=''"
        self._reject(~good, f"the weight in column {role!r} is not a number from 0 up", remedy)
        return made

    def groups(self) -> pa.Array | None:
        role = self.shape.roles.group
        if role is None:
            return None
        made = as_text(self.chunk.table.column(role), role)
        if made.null_count:
            bad = made.is_null().to_numpy(zero_copy_only=False)
            self._reject(bad, f"no group in column {role!r}", "fill it in, read without groups with group=''")
        return made

    def _miss(self, bad: NDArray[np.bool_]) -> None:
        rows = self._fresh(bad)
        if rows:
            self.ledger.miss(self.name, rows)

    def _reject(self, bad: NDArray[np.bool_], why: str, remedy: str) -> None:
        rows = self._fresh(bad)
        if rows:
            self.ledger.reject(f"{self.name}, row {rows[0]}", why, remedy, len(rows))

    def _fresh(self, bad: NDArray[np.bool_]) -> Sequence[int]:
        """The numbers of the bad rows that were still kept; they are no more."""
        found = np.flatnonzero(bad & self.keep)
        self.keep[found] = False
        return [int(self.chunk.rows[i]) for i in found.tolist()]
