"""Fitted templates: sentences to sparse rows, or straight to scores; and their state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.errors import LinnaeusError, ModelFileError, UsageError, damaged
from linnaeus.features.base import FittedPiece
from linnaeus.features.tokens.sources import SOURCES, restore
from linnaeus.features.tokens.templates import Pair, Part, Templates, Window, codes
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, nest, nested, pack_arrow, tensor, unpack_arrow
from linnaeus.text.buffers import as_texts
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.features.tokens.sources import Source
    from linnaeus.features.tokens.templates import Template
    from linnaeus.types import Floats, Ints, Json, Longs, Texts, Words64


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Sentences for the kernels: offsets (n+1), the word of each source and token (s, m), each source's words.

    Words are numbered over all sources; `firsts` (s+1) says where those of a source begin. -1 is no word.
    """

    offsets: Longs
    codes: Ints
    words: tuple[pa.Array, ...]
    firsts: Longs

    @property
    def arrays(self) -> tuple[Longs, Ints]:
        """As kernels take them."""
        return self.offsets, self.codes

    def texts(self, source: int) -> Texts:
        """The words of a source as the kernels read them."""
        return as_texts(self.words[source])


def code(sentences: Sentences, names: Sequence[str], pieces: Sequence[Any] = ()) -> Coded:
    """The columns of these names; `pieces` make those that sentences lack."""
    makers = {piece.name: piece for piece in pieces}
    codes: list[Ints] = []
    firsts, words = np.zeros(len(names) + 1, np.int64), []
    for i, name in enumerate(names):
        column = makers[name].column(sentences) if name in makers else sentences.column(name)
        encoded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
        words.append(encoded.dictionary)
        codes.append(_numbers(encoded.indices, int(firsts[i])))
        firsts[i + 1] = firsts[i] + len(encoded.dictionary)
    offsets = sentences.offsets if sentences.offsets[0] == 0 else sentences.offsets - sentences.offsets[0]
    table = codes[0].reshape(1, -1) if len(codes) == 1 else np.stack(codes)
    return Coded(np.ascontiguousarray(offsets), table, tuple(words), firsts)


def _numbers(indices: pa.Array, first: int) -> Ints:
    """The words' numbers, counted from `first`; null is -1."""
    if not indices.null_count:
        numbers: Ints = indices.to_numpy()
        return numbers if not first else numbers + np.int32(first)
    numbers = indices.fill_null(-1).to_numpy()
    return np.where(numbers < 0, np.int32(-1), numbers + np.int32(first))


BOUNDARIES = 2
"""The first values of every form: what stands before a sentence and behind it."""

EDGES = ("<s>", "</s>")
HELD = 1 << 22
"""Numbers that are held at most while tokens are scored: a vector for each distinct word and place of a piece."""


def form_rows(forms: list[str]) -> Ints:
    """Forms as kernels take them (q, 4): the last number, the salt, tells equal strings of two forms apart."""
    return np.column_stack([codes(forms), np.arange(1, len(forms) + 1, dtype=np.int32)]).astype(np.int32)


@dataclass(frozen=True, eq=False)
class FittedTemplates(FittedPiece):
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
        return pack(self)

    @classmethod
    def from_state(cls, state: State) -> FittedTemplates:
        """The fitted templates again; what does not fit is refused."""
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


KIND = "templates"
LARGEST = 1 << 28


def pack(fitted: FittedTemplates) -> State:
    """The state of fitted templates."""
    strings = pa.concat_arrays([values.cast(pa.large_string()) for values in fitted.values])
    manifest = {
        "kind": KIND,
        "items": [_item(item) for item in fitted.templates.items],
        "min_count": fitted.templates.min_count,
    }
    tensors = {
        **pack_arrow("values", strings),
        "value_counts": np.array([len(values) for values in fitted.values], np.int64),
        "first": np.ascontiguousarray(fitted.members[:, 0]),
        "second": np.ascontiguousarray(fitted.members[fitted.members[:, 1] >= 0, 1]),
        "bounds": fitted.bounds,
    }
    manifest["sources"] = [_source(piece) for piece in fitted.templates.sources]
    return nest(manifest, fitted.sources, tensors)


def unpack(state: State) -> FittedTemplates:
    """The fitted templates of a state."""
    if state.manifest.get("kind") != KIND:
        raise damaged(f"{state.manifest.get('kind')!r} is not the kind of its templates")
    templates = _templates(state.manifest)
    values = _values(state, sum(map(len, templates.fields().values())))
    bounds = tensor(state.tensors, "bounds", np.int64)
    first, second = tensor(state.tensors, "first", np.int32), tensor(state.tensors, "second", np.int32)
    doubles = np.array([len(template) == 2 for template in templates.templates()])
    if len(bounds) != len(doubles) + 1 or bounds[0] != 0 or (np.diff(bounds) < 0).any() or bounds[-1] != len(first):
        raise damaged("the columns of its templates do not fit each other")
    pairs = np.repeat(doubles, np.diff(bounds))
    if int(pairs.sum()) != len(second):
        raise damaged("the columns of its pairs do not fit each other")
    members = np.full((len(first), 2), -1, np.int32)
    members[:, 0], members[pairs, 1] = first, second
    _check(templates, values, members, bounds)
    sources = tuple(restore(inner) for inner in nested(state))
    if [source.name for source in sources] != [piece.name for piece in templates.sources]:
        raise damaged("its sources are not those of its templates")
    return FittedTemplates(templates, values, members, bounds, sources)


def _check(templates: Templates, values: tuple[pa.Array, ...], members: Ints, bounds: Longs) -> None:
    """Every value is one of its form, and no two columns of a template stand for the same."""
    flat = [(source, form) for source, forms in templates.fields().items() for form in forms]
    sizes = {key: len(own) + BOUNDARIES for key, own in zip(flat, values, strict=True)}
    for t, template in enumerate(templates.templates()):
        own = members[bounds[t] : bounds[t + 1]].astype(np.int64)
        for i, part in enumerate(template):
            if len(own) and not (own[:, i].min() >= 0 and own[:, i].max() < sizes[part.source, part.form]):
                raise damaged("a column stands for a value that is not there")
        keys = own[:, 0] << 28 | (own[:, 1] if len(template) == 2 else 0)
        if (np.diff(keys) <= 0).any():
            raise damaged("its columns are not in order")


def _values(state: State, fields: int) -> tuple[pa.Array, ...]:
    counts = tensor(state.tensors, "value_counts", np.int64)
    strings = unpack_arrow("values", state.tensors)
    if len(counts) != fields or (counts < 0).any() or (counts > LARGEST - BOUNDARIES).any():
        raise damaged("the values of its forms do not fit its templates")
    if int(counts.sum()) != len(strings):
        raise damaged("the values of its forms do not fit its templates")
    starts = np.cumsum(counts) - counts
    return tuple(strings.slice(a, n) for a, n in zip(starts.tolist(), counts.tolist(), strict=True))


def _item(item: Window | Pair) -> Json:
    if isinstance(item, Window):
        return {"kind": "window", "forms": list(item.forms), "at": list(item.at), "source": item.source}
    return {"kind": "pair", "first": _part(item.first), "second": _part(item.second)}


def _part(part: Part) -> Json:
    return {"form": part.form, "at": part.at, "source": part.source}


def _source(piece: Any) -> Json:
    kind = next(name for name, made in SOURCES.items() if made is type(piece))
    return {"kind": kind, **{one.name: getattr(piece, one.name) for one in fields(piece)}}


def _piece(item: Any) -> Any:
    inside = {name: value for name, value in item.items() if name != "kind"}
    return SOURCES[item["kind"]](**inside)


def _templates(manifest: Mapping[str, Json]) -> Templates:
    try:
        items = tuple(_made(item) for item in field(manifest, "items", list))
        sources = tuple(_piece(item) for item in field(manifest, "sources", list))
        return Templates(items, field(manifest, "min_count", int), sources)
    except ModelFileError:
        raise
    except (LinnaeusError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise damaged(f"its templates cannot be read ({error})") from error


def _made(item: Any) -> Window | Pair:
    inside = {name: value for name, value in item.items() if name != "kind"}
    if item["kind"] == "window":
        return Window(**inside)
    if item["kind"] != "pair":
        raise damaged(f"{item['kind']!r} is no kind of template")
    return Pair(Part(**inside["first"]), Part(**inside["second"]))
