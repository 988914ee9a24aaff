"""Fitted templates: sentences to sparse rows, or straight to scores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.errors import UsageError
from linnaeus.features.tokens.coding import Coded, code
from linnaeus.features.tokens.forms import codes
from linnaeus.frozen import dataclass
from linnaeus.text.buffers import as_texts
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.features.tokens.sources import Source
    from linnaeus.features.tokens.templates import Part, Template, Templates
    from linnaeus.types import Floats, Ints, Longs, Words64

BOUNDARIES = 2
"""The first values of every form: what stands before a sentence and behind it."""

EDGES = ("<s>", "</s>")
HELD = 1 << 22
"""Numbers that are held at most while tokens are scored: a vector for each distinct word and place of a piece."""


def form_rows(forms: list[str]) -> Ints:
    """Forms as kernels take them (q, 4): the last number, the salt, tells equal strings of two forms apart."""
    return np.column_stack([codes(forms), np.arange(1, len(forms) + 1, dtype=np.int32)]).astype(np.int32)


@dataclass(frozen=True, eq=False)
class FittedTemplates:
    """Templates with the values they know and a column for each feature.

    `values` are the strings of each form (in the order of `Templates.fields`), value i of a form has the number i + 2;
    `members` (d, 2) are the values of each column, `bounds` (T+1) says where the columns of a template begin. `sources`
    make the columns that sentences lack.
    """

    templates: Templates
    values: tuple[pa.Array, ...]
    members: Ints
    bounds: Longs
    sources: tuple[Source, ...] = ()

    @property
    def width(self) -> int:
        """Columns (d)."""
        return len(self.members)

    def rows(self, sentences: Sentences) -> CSR:
        """The features (m, d) of all tokens, one row each, all of value 1."""
        coded, atoms = self._read(sentences)
        indptr, indices = kernels.token_rows(coded.arrays, atoms, self._plan, self._pairs, kernels.thread_count())
        return CSR(indptr, indices, np.ones(len(indices), np.float32), self.width)

    def scores(self, sentences: Sentences, W: Floats) -> Floats:
        """`rows(sentences) @ W` (m, k) in float32, without rows: a vector for each distinct word and place, then sums.

        The bits depend neither on the number of threads nor on what stands in the other sentences.
        """
        if W.dtype != np.float32 or W.ndim != 2 or len(W) != self.width:
            raise UsageError(f"W is {W.dtype} {W.shape}; scores take float32 of shape ({self.width}, k).")
        W, made = np.ascontiguousarray(W), []
        most = max(1024, HELD // (max(1, W.shape[1]) * self._places))
        for part in [sentences] if sentences.count <= most else sentences.batches(most):
            coded, atoms = self._read(part)
            made.append(kernels.token_scores(coded.arrays, atoms, self._plan, self._pairs, W, kernels.thread_count()))
        return made[0] if len(made) == 1 else np.concatenate(made)

    def values_of(self, source: str, form: str) -> pa.Array | None:
        """The strings it knows of this form of a source; None where no template looks at it."""
        at = self._fields.get((source, form))
        return None if at is None else self.values[at]

    def names(self) -> list[str]:
        """A readable name for each column, such as `suffix3[-1]=ing`."""
        return list(self._names())

    def named(self, sentences: Sentences, token: int) -> list[tuple[int, str]]:
        """Column and name of each feature of one token, counted over all sentences; for explanations."""
        if not 0 <= token < sentences.count:
            raise UsageError(f"token {token} is not there; the sentences have {sentences.count}, counted from 0.")
        row = int(np.searchsorted(sentences.offsets - sentences.offsets[0], token, side="right")) - 1
        alone = sentences.slice(row, row + 1)
        at = token - int(sentences.offsets[row] - sentences.offsets[0])
        X = self.rows(alone)
        columns = X.indices[X.indptr[at] : X.indptr[at + 1]].tolist()
        return [(column, self.name(column)) for column in columns]

    def name(self, column: int) -> str:
        """The readable name of one column."""
        number = int(np.searchsorted(self.bounds, column, side="right")) - 1
        return self._name(self._all[number], self.members[column].tolist())

    def state(self) -> State:
        """Manifest and tensors."""
        from linnaeus.features.tokens.stored import pack

        return pack(self)

    @classmethod
    def from_state(cls, state: State) -> FittedTemplates:
        """The fitted templates again; what does not fit is refused."""
        from linnaeus.features.tokens.stored import unpack

        return unpack(state)

    @cached_property
    def _all(self) -> list[Template]:
        return self.templates.templates()

    @cached_property
    def _places(self) -> int:
        """How many places (source, at) templates look at."""
        return len({(part.source, part.at) for template in self._all for part in template})

    @cached_property
    def _sources(self) -> list[str]:
        return list(self.templates.fields())

    @cached_property
    def _fields(self) -> dict[tuple[str, str], int]:
        """The number of each form of each source."""
        flat = [(source, form) for source, forms in self.templates.fields().items() for form in forms]
        return {key: i for i, key in enumerate(flat)}

    @cached_property
    def _lookups(self) -> list[tuple[Ints, Words64]]:
        """For each source its forms and a probe table from keys to values."""
        found = []
        for source, forms in self.templates.fields().items():
            made = form_rows(forms)
            keys, numbers = [], []
            for j, form in enumerate(forms):
                texts = as_texts(self.values[self._fields[source, form]])
                own = np.array([[0, 0, 0, made[j, 3]]], np.int32)  # the strings are forms already: words as they are
                keys.append(kernels.form_keys((texts.data, texts.offsets), own, kernels.thread_count()).ravel())
                numbers.append(np.arange(len(texts), dtype=np.int32) + BOUNDARIES)
            found.append((made, kernels.probe_pairs(np.concatenate(keys), np.concatenate(numbers), 0)))
        return found

    @cached_property
    def _plan(self) -> tuple[Ints, Ints, Longs]:
        """Templates, the columns of single values, and where those of each template begin."""
        rows, tables, starts = [], [], [0]
        for t, template in enumerate(self._all):
            rows.append([n for part in template for n in self._place(part)] + [-1, 0, 0] * (2 - len(template)))
            first, last = self.bounds[t], self.bounds[t + 1]
            size = len(self.values[self._fields[template[0].source, template[0].form]]) + BOUNDARIES
            table = np.full(size if len(template) == 1 else 0, -1, np.int32)
            if len(template) == 1:
                table[self.members[first:last, 0]] = np.arange(first, last)
            tables.append(table)
            starts.append(starts[-1] + len(table))
        return np.array(rows, np.int32), np.concatenate(tables), np.array(starts, np.int64)

    @cached_property
    def _pairs(self) -> Words64:
        """A probe table from pairs of values to columns."""
        number = np.repeat(np.arange(len(self._all)), np.diff(self.bounds))
        double = np.flatnonzero(self.members[:, 1] >= 0)
        first, second = self.members[double].astype(np.int64).T
        keys = (number[double] << 56 | first << 28 | second).view(np.uint64)
        return kernels.probe_pairs(np.ascontiguousarray(keys), double.astype(np.int32), 0)

    def _place(self, part: Part) -> list[int]:
        return [self._sources.index(part.source), self.templates.fields()[part.source].index(part.form), part.at]

    def _read(self, sentences: Sentences) -> tuple[Coded, Ints]:
        """Sentences as numbers of words, and the values (u, q) of each word's forms."""
        coded, found = code(sentences, self._sources, self.sources), []
        for i, (forms, slots) in enumerate(self._lookups):
            texts = coded.texts(i)
            found.append(kernels.form_ids((texts.data, texts.offsets), forms, slots, kernels.thread_count()))
        if len(found) == 1:
            return coded, found[0]
        atoms = np.full((int(coded.firsts[-1]), max(own.shape[1] for own in found)), -1, np.int32)
        for i, own in enumerate(found):
            atoms[coded.firsts[i] : coded.firsts[i + 1], : own.shape[1]] = own
        return coded, atoms

    def _names(self) -> Iterator[str]:
        strings = [values.to_pylist() for values in self.values]
        for t, template in enumerate(self._all):
            own = [[*EDGES, *strings[self._fields[part.source, part.form]]] for part in template]
            for members in self.members[self.bounds[t] : self.bounds[t + 1]].tolist():
                yield " & ".join(f"{part}={own[i][members[i]]}" for i, part in enumerate(template))

    def _name(self, template: Template, members: list[int]) -> str:
        return " & ".join(f"{part}={self._value(part, members[i])}" for i, part in enumerate(template))

    def _value(self, part: Part, number: int) -> str:
        if number < BOUNDARIES:
            return EDGES[number]
        found: str = self.values[self._fields[part.source, part.form]][number - BOUNDARIES].as_py()
        return found
