"""Feature hashing: terms are hashed to one of 2^bits columns (Weinberger et al. 2009)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.arrays.csr import CSR
from linnaeus.data.batch import Batch
from linnaeus.errors import UsageError, damaged, expect
from linnaeus.features.base import Fitted
from linnaeus.features.names import Names, numbered
from linnaeus.features.terms.counting import count_terms
from linnaeus.features.terms.grams import Grams
from linnaeus.features.terms.vocabulary import hash_columns, spell
from linnaeus.frozen import dataclass
from linnaeus.protocols import HashedColumns, Stream
from linnaeus.store.states import field, pack_arrow, tensor, unpack_arrow
from linnaeus.types import Crowding, Ints, Place, State


@dataclass(frozen=True)
class Hashed:
    """Feature hashing: no vocabulary is learned or stored, and terms that collide share a column.

    There are 2^bits columns. With `signed`, half of the terms count negative, so that collisions cancel on average.
    With `keep_names`, the terms of each column are recorded in one pass over the training texts: explanations then show
    names, and `collisions()` counts collisions.

    >>> from linnaeus.features import Words
    >>> fitted = Words(terms=Hashed(bits=10, signed=False)).fit([])
    >>> fitted.width, fitted.rows(["so good, so good"]).data.tolist()
    (1024, [2.0, 2.0])
    """

    bits: int = 20
    signed: bool = True
    keep_names: bool = False

    def __post_init__(self) -> None:
        expect("Hashed(bits=...)", self.bits, int)
        if not 1 <= self.bits <= 30:
            raise UsageError(f"bits={self.bits} is out of range: from 1 to 30, for 2 to 1,073,741,824 columns.")

    def learn(self, grams: Grams, stream: Stream) -> FittedHashed:
        """Nothing, or the names."""
        if not self.keep_names:
            return FittedHashed(grams, self.bits, self.signed)
        # A vocabulary is the quickest list of distinct terms; only their names are kept.
        seen = count_terms(grams, stream, lambda _n: 1)
        vocabulary = seen.vocabulary(seen.columns(seen.wanted))
        hashes = hash_columns(vocabulary, grams.unit == "skips")
        columns = (hashes & np.uint64((1 << self.bits) - 1)).astype(np.int32)
        order = np.argsort(columns, kind="stable")
        terms = spell(vocabulary, grams).take(pa.array(order))
        return FittedHashed(grams, self.bits, self.signed, Known(columns[order], terms))


@dataclass(frozen=True, eq=False)
class Known:
    """The terms met in training, by their columns, which are sorted."""

    columns: Ints
    terms: pa.Array

    def names(self, start: int, end: int) -> list[str]:
        """The terms of each column with a bar between them; `#7` for column 7 where no name is known."""
        first, last = np.searchsorted(self.columns, [start, end])
        found: dict[int, list[str]] = {}
        terms = self.terms.slice(first, last - first).to_pylist()
        for column, term in zip(self.columns[first:last].tolist(), terms, strict=True):
            found.setdefault(column, []).append(term)
        return [" | ".join(found.get(column, [f"#{column}"])) for column in range(start, end)]


@dataclass(frozen=True, eq=False)
class FittedHashed(Fitted):
    """Counts of hashed terms; the terms met in training, where names are kept."""

    provides: ClassVar[tuple[type, ...]] = (HashedColumns,)

    grams: Grams
    bits: int
    signed: bool
    known: Known | None = None

    @property
    def width(self) -> int:
        """2^bits."""
        return 1 << self.bits

    def extract(self, batch: Batch) -> CSR:
        """Sums of counts, or of signs, by column."""
        texts = self.grams.texts(batch)
        threads = kernels.thread_count()
        rows = kernels.hash_terms(texts.data, texts.offsets, self.grams.plan, self.bits, self.signed, threads)
        return CSR(*rows, self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """The characters of every term whose column is not empty: signs may cancel."""
        X = self.extract(batch)
        rows = []
        for i, text in enumerate(self.grams.strings(batch)):
            there = set(X.indices[X.indptr[i] : X.indptr[i + 1]].tolist())
            rows.append([place for place in self._places(text) if place.column in there])
        return rows

    def _places(self, text: str) -> Iterator[Place]:
        """Every term with its sign, and spelled out: its column does not tell which term it was."""
        from linnaeus.kernels.reference.terms import hash_term

        plan, mask = self.grams.plan, self.width - 1
        for term, start, end in self.grams.placed(text):
            value = hash_term(term, plan)
            sign = -1.0 if self.signed and value >> 63 else 1.0
            yield Place(value & mask, start, end, sign, self.grams.name(term))

    def names(self) -> Names:
        """The terms of each column with a bar between them; `#7` for column 7 where no name is known."""
        return Names(self.width, self.known.names) if self.known else numbered(self.width)

    def collisions(self) -> int:
        """How many training terms share their column with another."""
        if self.known is None:
            raise UsageError("Collisions are known only to Hashed(keep_names=True).")
        counts = np.unique(self.known.columns, return_counts=True)[1]
        return int(counts[counts > 1].sum())

    def crowding(self) -> Crowding:
        """How many columns, training terms in them, and terms that share theirs; None where names are not kept."""
        return Crowding(self.width, len(self.known.terms), self.collisions()) if self.known else Crowding(self.width)

    def state(self) -> State:
        """Settings, and the names where they are kept."""
        manifest = {"kind": "hashed", "grams": self.grams.manifest(), "bits": self.bits, "signed": self.signed}
        named = {"columns": self.known.columns, **pack_arrow("terms", self.known.terms)} if self.known else {}
        return State({**manifest, "named": self.known is not None}, named)

    @classmethod
    def from_state(cls, state: State) -> FittedHashed:
        """Restore from the stored state."""
        grams = Grams.from_manifest(field(state.manifest, "grams", dict))
        bits, signed = field(state.manifest, "bits", int), field(state.manifest, "signed", bool)
        if not 1 <= bits <= 30:
            raise damaged(f"it claims 2^{bits} columns")
        if not field(state.manifest, "named", bool):
            return cls(grams, bits, signed)
        columns, terms = tensor(state.tensors, "columns", np.int32), unpack_arrow("terms", state.tensors)
        outside = len(columns) > 0 and not 0 <= columns[0] <= columns[-1] < 1 << bits
        if len(columns) != len(terms) or outside or (np.diff(columns) < 0).any():
            raise damaged("the names of its hashed features do not fit")
        return cls(grams, bits, signed, Known(columns, terms))
