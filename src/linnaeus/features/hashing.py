"""Terms without a vocabulary: hashed to one of 2^bits columns. Weinberger et al. 2009."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import kernels
from linnaeus.arrays.csr import CSR
from linnaeus.errors import ModelFileError, UsageError
from linnaeus.features.base import Fitted
from linnaeus.features.grams import Grams, Term
from linnaeus.features.states import field, pack_strings, tensor, unpack_strings
from linnaeus.kernels.reference.hashing import GAP, hash_join
from linnaeus.types import Place, State

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream
    from linnaeus.types import Ints


@dataclass(frozen=True)
class Hashed:
    """A column by hash: nothing to learn, nothing to store, and terms that collide share a column.

    There are 2^bits columns. With `signed`, half of the terms count negative, so that collisions cancel on average.
    With `keep_names`, one walk over the training texts notes which terms fell into which column: features can be
    explained by name, and `collisions()` counted.
    """

    bits: int = 20
    signed: bool = True
    keep_names: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= 30:
            raise UsageError(f"bits={self.bits} is out of range: from 1 to 30, for 2 to 1,073,741,824 columns.")

    def learn(self, grams: Grams, stream: Stream) -> FittedHashed:
        """Nothing, or the names."""
        if not self.keep_names:
            return FittedHashed(grams, self.bits, self.signed)
        # A vocabulary is the quickest list of distinct terms; only their names are kept.
        from linnaeus.features.terms import Exact

        terms = Exact().learn(grams, stream).vocabulary.terms()
        columns = np.array([hash_term(grams, term) & ((1 << self.bits) - 1) for term in terms], np.int32)
        order = np.argsort(columns, kind="stable")
        names = tuple(grams.name(terms[i]) for i in order.tolist())
        return FittedHashed(grams, self.bits, self.signed, names, columns[order])


def hash_term(grams: Grams, term: Term) -> int:
    """The 64 bits of a term: its column is in the lowest, its sign in the topmost."""
    value = kernels.hash_bytes(term[0])
    if grams.unit == "skips":
        value = hash_join(value, GAP)
    for token in term[1:]:
        value = hash_join(value, kernels.hash_bytes(token))
    return value


class _Names(Sequence[str]):
    """Names of columns, made when they are asked for: most columns of a hash have none."""

    def __init__(self, width: int, known: dict[int, str]) -> None:
        self._width, self._known = width, known

    def __len__(self) -> int:
        return self._width

    def __getitem__(self, column: Any) -> Any:
        if isinstance(column, slice):
            return [self[i] for i in range(*column.indices(self._width))]
        column = int(column)
        if not -self._width <= column < self._width:
            raise IndexError(column)
        column %= self._width
        return self._known.get(column, f"#{column}")


@dataclass(frozen=True, eq=False)
class FittedHashed(Fitted):
    """Counts of hashed terms; the terms met in training with their columns, where names are kept."""

    grams: Grams
    bits: int
    signed: bool
    terms: tuple[str, ...] = ()
    columns: Ints | None = None

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
        for i, text in enumerate(batch.text.to_pylist() if batch.text is not None else []):
            there = set(X.indices[X.indptr[i] : X.indptr[i + 1]].tolist())
            placed = ((hash_term(self.grams, term) & (self.width - 1), a, b) for term, a, b in self.grams.placed(text))
            rows.append([Place(column, a, b) for column, a, b in placed if column in there])
        return rows

    def names(self) -> Sequence[str]:
        """The terms of each column with a bar between them; `#7` for column 7 where no name is known."""
        known: dict[int, str] = {}
        if self.columns is not None:
            for column, term in zip(self.columns.tolist(), self.terms, strict=True):
                known[column] = f"{known[column]} | {term}" if column in known else term
        return _Names(self.width, known)

    def collisions(self) -> int:
        """How many training terms share their column with another."""
        if self.columns is None:
            raise UsageError("Collisions are known only to Hashed(keep_names=True).")
        counts = np.unique(self.columns, return_counts=True)[1]
        return int(counts[counts > 1].sum())

    def state(self) -> State:
        """Settings, and the names where they are kept."""
        manifest = {"kind": "hashed", "grams": self.grams.manifest(), "bits": self.bits, "signed": self.signed}
        if self.columns is None:
            return State({**manifest, "named": False}, {})
        return State({**manifest, "named": True}, {"columns": self.columns, **pack_strings("terms", self.terms)})

    @classmethod
    def from_state(cls, state: State) -> FittedHashed:
        """Built again."""
        grams = Grams.from_manifest(field(state.manifest, "grams", dict))
        bits, signed = field(state.manifest, "bits", int), field(state.manifest, "signed", bool)
        if not 1 <= bits <= 30:
            raise ModelFileError(f"The model is damaged: it claims 2^{bits} columns.")
        if not field(state.manifest, "named", bool):
            return cls(grams, bits, signed)
        columns, terms = tensor(state.tensors, "columns", np.int32), unpack_strings("terms", state.tensors)
        if len(columns) != len(terms) or ((columns < 0) | (columns >= 1 << bits)).any():
            raise ModelFileError("The model is damaged: the names of its hashed features do not fit.")
        return cls(grams, bits, signed, tuple(terms), columns)
