"""Lookup tables: a row of numbers for each word, random at first or given, learned or fixed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from typing import Any, ClassVar

import numpy as np

from linnaeus.arrays.word_table import WordTable
from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.networks.operations import Batch, Operations
from linnaeus.types import NOT_STORED, Array, Floats, Json

LOOKUPS = ("auto", "random", "static", "started", "both", "one_hot")
LEARNED, FIXED = "words.learned", "words.fixed"
"""The tables of a network by name."""
SPREAD = 0.25
"""Random vectors have numbers from -SPREAD to SPREAD."""
MAX_WORDS = 10_000
"""Words that a product of indicators and a matrix may have."""
MAX_WIDTH = 1 << 16


@dataclass(frozen=True, kw_only=True)
class WordEncoder:
    """What encoders share: the vectors of words.

    `lookup` is "random" (learned from random numbers), "static" (given, and fixed), "started" (given, then learned),
    "both" (two side by side, one fixed and one learned: Kim's two channels), or "one_hot": as "random", but by a
    product of indicators and a matrix, for small vocabularies. "auto" is "both" if there are `vectors`, else "random".
    `vectors` is a `WordTable`, or the name of its file. Random vectors have `width` numbers, given ones their own. The
    first `more_words` words of a table are known beside those of the training texts.
    """

    kind: ClassVar[str] = ""

    lookup: str = "auto"
    vectors: str | WordTable = ""
    width: int = 100
    more_words: int = 50_000
    held: WordTable | None = field(default=None, repr=False, compare=False, metadata=NOT_STORED)

    def __post_init__(self) -> None:
        if isinstance(self.vectors, WordTable):
            object.__setattr__(self, "held", self.vectors)
            object.__setattr__(self, "vectors", "")
        elif not isinstance(self.vectors, str | os.PathLike):
            raise InputTypeError(f"vectors takes a WordTable or the name of a file, not {self.vectors!r}.")
        else:
            object.__setattr__(self, "vectors", os.fspath(self.vectors))
        if self.lookup not in LOOKUPS:
            raise UsageError(f"lookup is one of {', '.join(LOOKUPS)}, not {self.lookup!r}.")
        expect("width", self.width, int, 1, MAX_WIDTH)
        expect("more_words", self.more_words, int, 0)

    @property
    def given(self) -> bool:
        """Whether there are vectors to begin with."""
        return bool(self.vectors) or self.held is not None

    @property
    def entries(self) -> int:
        """The numbers of a word: those of both tables."""
        return self.width * (2 if self.lookup == "both" else 1)

    def tables(self, columns: int) -> dict[str, tuple[int, ...]]:
        """The shapes of the tables for so many columns."""
        names = {"static": (FIXED,), "both": (FIXED, LEARNED)}.get(self.lookup, (LEARNED,))
        return dict.fromkeys(names, (columns, self.width))

    def look(self, ops: Operations, params: Mapping[str, Any], batch: Batch) -> Any:
        """The vectors of the words (n, places, entries); zeros at places that do not count."""
        found = []
        for name in self.tables(0):
            table, ids = params[name], batch["ids"]
            hot = self.lookup == "one_hot"
            found.append(ops.dot(ops.one_hot(ids, table), table) if hot else ops.take(table, ids))
        x = found[0] if len(found) == 1 else ops.concat(found, 2)
        return ops.where(ops.below(x.shape[1], batch["sizes"])[:, :, None], x, 0.0)

    def resolved(self, read: Callable[[str], WordTable]) -> tuple[WordEncoder, WordTable | None]:
        """The encoder as it is trained, and the vectors that it begins with."""
        lookup = self.lookup if self.lookup != "auto" else "both" if self.given else "random"
        if lookup in ("random", "one_hot"):
            if self.given:
                raise UsageError(f"lookup={lookup!r} takes no vectors; use 'static', 'started' or 'both'.")
            return replace(self, lookup=lookup), None
        if not self.given:
            raise UsageError(f"lookup={lookup!r} needs vectors: a WordTable, or the name of its file.")
        table = self.held if self.held is not None else read(str(self.vectors))
        return replace(self, lookup=lookup, width=table.width, vectors="", held=None), table

    def manifest(self) -> dict[str, Json]:
        """Kind and fields as plain data."""
        told = {part.name: getattr(self, part.name) for part in fields(self) if part.name not in ("vectors", "held")}
        return {"kind": self.kind, **{name: list(v) if isinstance(v, tuple) else v for name, v in told.items()}}


def drawn(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """A random table; the vector of unknown words, which stands first, is zero."""
    table = rng.uniform(-SPREAD, SPREAD, shape).astype(np.float32)
    table[:1] = 0.0
    return table


def begun(names: Sequence[str], table: WordTable, rng: np.random.Generator) -> Array:
    """The given vectors of words; others have random ones with numbers as large, and unknown words have zeros."""
    known, found = table.vectors_of(list(names))
    squares = np.square(found[known].astype(np.float64))
    size = float(np.sqrt(3.0 * squares.mean())) if len(squares) else SPREAD
    found[~known] = rng.uniform(-size, size, (int((~known).sum()), table.width))
    found[:1] = 0.0
    return found
