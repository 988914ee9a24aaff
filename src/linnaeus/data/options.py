"""ReadOptions: everything `read` can be told, in one frozen record."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TypedDict

from linnaeus.errors import UsageError, did_you_mean, expect, nearest
from linnaeus.frozen import dataclass
from linnaeus.types import Json

LABEL_KINDS = ("one", "many", "numeric")
POLICIES = ("error", "skip")

PARTS = {
    "train": ("train", "training"),
    "dev": ("dev", "valid", "validation", "val", "development"),
    "test": ("test", "testing", "eval", "evaluation"),
}
"""The words of a name that tell each part."""

ALL = "all"
"""What reads every part, and files of no part too."""


class FileOptions(TypedDict, total=False):
    """The keyword arguments of readers of sentences and of groups, about files; see `ReadOptions` for meanings."""

    names: Sequence[str] | None
    format: str | None
    encoding: str
    delimiter: str | None
    bad_rows: str
    max_bytes: int | None
    split: str | None


class Options(FileOptions, total=False):
    """The keyword arguments of `read` beside text and label, for type checkers; see `ReadOptions` for meanings."""

    weight: str | None
    group: str | None
    time: str | None
    columns: Sequence[str] | None
    label_kind: str | None
    label_separator: str | None
    batch_rows: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read data.

    - `text`, `label`, `weight`, `group`, `time`: the columns in these roles; None guesses where the names make it
      plain (time is never guessed), and the empty string means that no column has the role.
    - `columns`: the further columns to keep; None keeps all.
    - `names`: the column names of a CSV file that has no header.
    - `format`: a key of `linnaeus.data.FORMATS`; None takes it from the file name.
    - `encoding`, `delimiter`: of text files; delimiter None looks at the header.
    - `label_kind`: "one", "many" or "numeric"; None takes it from the data.
    - `label_separator`: what stands between several labels in one cell.
    - `bad_rows`: "error" refuses the first bad row, "skip" leaves bad rows out and counts them.
    - `max_bytes`: how large a compressed file (or standard input) may become; None refuses a file that grows more
      than 100-fold.
    - `batch_rows`: no batch has more rows; None cuts where the file or the Arrow chunks do.
    - `split`: which part of a folder with parts: "train", "dev", "test", or "all" of them.

    >>> ReadOptions(label="intent").bad_rows
    'error'
    """

    text: str | None = None
    label: str | None = None
    weight: str | None = None
    group: str | None = None
    time: str | None = None
    columns: Sequence[str] | None = None
    names: Sequence[str] | None = None
    format: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    label_kind: str | None = None
    label_separator: str | None = None
    bad_rows: str = "error"
    max_bytes: int | None = None
    batch_rows: int | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        _one_of("bad_rows", self.bad_rows, POLICIES)
        if self.label_kind is not None:
            _one_of("label_kind", self.label_kind, LABEL_KINDS)
        if self.split is not None:
            _one_of("split", self.split, (*PARTS, ALL))
        _positive("max_bytes", self.max_bytes)
        _positive("batch_rows", self.batch_rows)
        for name in ("columns", "names"):
            if isinstance(getattr(self, name), str):
                raise UsageError(f"{name}={getattr(self, name)!r} is one string; give a list of column names.")
        for name in ("encoding", "delimiter", "label_separator"):
            if name == "encoding" or getattr(self, name) is not None:
                expect(f"{name}=", getattr(self, name), str)
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or self.delimiter in '"\r\n' or not self.delimiter.isascii()
        ):
            raise UsageError(f"delimiter={self.delimiter!r} is not one ASCII character such as ',' or '\\t'.")
        if self.label_separator == "":
            raise UsageError("label_separator= is empty; give the characters between labels, such as ';'.")
        object.__setattr__(self, "encoding", _codec(self.encoding))

    @classmethod
    def of(cls, options: Mapping[str, Json]) -> ReadOptions:
        """The record of these keyword arguments; an unknown one is refused with the nearest known name."""
        known = [f.name for f in fields(cls)]
        for name in options:
            if name not in known:
                raise UsageError(f"read has no option {name!r}; {did_you_mean(name, known)}")
        return cls(**options)


def _one_of(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        near = nearest(value, known)
        hint = "" if near is None else f"; did you mean {near!r}?"
        raise UsageError(f"{name}={value!r} is not one of {', '.join(map(repr, known))}{hint or '.'}")


def _positive(name: str, value: int | None) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise UsageError(f"{name}={value!r} is not a whole number above 0.")


def _codec(name: str) -> str:
    """The codec's own name; a byte-order mark needs no other codec, because it is always dropped."""
    try:
        info = codecs.lookup(name)
        "".encode(info.name)  # refuses codecs such as base64 that are not for text
    except LookupError as error:
        raise UsageError(f"encoding={name!r} is not known; try 'utf-8', 'latin-1', 'cp1252' or 'utf-16'.") from error
    return "utf-8" if info.name in ("utf-8-sig", "ascii") else info.name
