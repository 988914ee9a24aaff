"""Fitted templates: sentences to sparse rows, or straight to scores; their state; and how they are learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, LinnaeusError, ModelFileError, UsageError, damaged
from linnaeus.features.base import FittedPiece, ascending
from linnaeus.features.names import Names
from linnaeus.features.tokens.sources import SOURCES, Clusters, Gazetteer, Source, restore
from linnaeus.features.tokens.templates import ITEMS, Pair, Part, Template, Templates, Window, parse
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, nest, nested, pack_arrow, tensor, unpack_arrow
from linnaeus.text.buffers import as_arrow, as_texts
from linnaeus.types import Bools, Floats, Ints, Json, Longs, State, Texts, Words64, offsets_of


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


def code(sentences: Sentences, names: Sequence[str], pieces: Sequence[Source] = ()) -> Coded:
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


SHIFT = 28
"""Pairs of values are first << 28 | second."""

BOUNDARIES = 2
"""The first values of every form: what stands before a sentence and behind it."""

EDGES = ("<s>", "</s>")
HELD = 1 << 22
"""Numbers that are held at most while tokens are scored: a vector for each distinct word and place of a piece."""


def form_rows(forms: list[str]) -> Ints:
    """Forms as kernels take them (q, 4): the last number, the salt, tells equal strings of two forms apart."""
    return np.array([(*parse(form), salt) for salt, form in enumerate(forms, 1)], np.int32).reshape(-1, 4)


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

    def _known(self, part: Part) -> pa.Array:
        return self.values[self._fields[part.source, part.form]]

    def names(self) -> Names:
        """A readable name for each column, such as `suffix3[-1]=ing`."""
        return Names(self.width, self._names)

    def _names(self, start: int, end: int) -> list[str]:
        found: list[str] = []
        first, last = np.searchsorted(self.bounds, start, side="right") - 1, np.searchsorted(self.bounds, end)
        for t in range(int(first), int(last)):
            own = self.members[max(start, self.bounds[t]) : min(end, self.bounds[t + 1])]
            said = [self._said(part, own[:, i]) for i, part in enumerate(self._all[t])]
            found += [" & ".join(parts) for parts in zip(*said, strict=True)]
        return found

    def _said(self, part: Part, numbers: Ints) -> list[str]:
        places = pa.array(numbers - BOUNDARIES, mask=numbers < BOUNDARIES)
        words = self._known(part).take(places).to_pylist()
        edges = [EDGES[min(number, 1)] for number in numbers.tolist()]
        return [f"{part}={edge if word is None else word}" for word, edge in zip(words, edges, strict=True)]

    def named(self, sentences: Sentences, token: int) -> list[tuple[int, str]]:
        """Column and name of each feature of one token, counted over all sentences; for explanations."""
        if not 0 <= token < sentences.count:
            raise UsageError(f"token {token} is not there; the sentences have {sentences.count}, counted from 0.")
        row = int(np.searchsorted(sentences.offsets - sentences.offsets[0], token, side="right")) - 1
        alone = sentences.slice(row, row + 1)
        at = token - int(sentences.offsets[row] - sentences.offsets[0])
        X = self.rows(alone)
        columns = X.indices[X.indptr[at] : X.indptr[at + 1]].tolist()
        return [(column, self.names()[column]) for column in columns]

    def state(self) -> State:
        """Manifest and tensors."""
        manifest = {
            "kind": KIND,
            "items": [_described(item, ITEMS) for item in self.templates.items],
            "min_count": self.templates.min_count,
            "sources": [_described(piece, SOURCES) for piece in self.templates.sources],
        }
        tensors = {
            **pack_arrow("values", pa.concat_arrays([values.cast(pa.large_string()) for values in self.values])),
            "value_counts": np.array([len(values) for values in self.values], np.int64),
            "first": np.ascontiguousarray(self.members[:, 0]),
            "second": np.ascontiguousarray(self.members[self.members[:, 1] >= 0, 1]),
            "bounds": self.bounds,
        }
        return nest(manifest, self.sources, tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedTemplates:
        """The fitted templates again; what does not fit is refused."""
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
        found = cls(templates, values, members, bounds, tuple(restore(inner) for inner in nested(state)))
        found._check()
        return found

    def _check(self) -> None:
        """Every value is one of its form, and no two columns of a template stand for the same."""
        for t, template in enumerate(self._all):
            own = self.members[self.bounds[t] : self.bounds[t + 1]].astype(np.int64)
            for i, part in enumerate(template):
                if len(own) and not (own[:, i].min() >= 0 and own[:, i].max() < len(self._known(part)) + BOUNDARIES):
                    raise damaged("a column stands for a value that is not there")
            if not ascending(own[:, 0] << SHIFT | (own[:, 1] if len(template) == 2 else 0)):
                raise damaged("its columns are not in order")
        if [source.name for source in self.sources] != [piece.name for piece in self.templates.sources]:
            raise damaged("its sources are not those of its templates")

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
            size = len(self._known(template[0])) + BOUNDARIES
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


KIND = "templates"
LARGEST = 1 << SHIFT


def _values(state: State, fields: int) -> tuple[pa.Array, ...]:
    counts = tensor(state.tensors, "value_counts", np.int64)
    strings = unpack_arrow("values", state.tensors)
    sound = len(counts) == fields and (counts >= 0).all() and (counts <= LARGEST - BOUNDARIES).all()
    if not sound or int(counts.sum()) != len(strings):
        raise damaged("the values of its forms do not fit its templates")
    starts = np.cumsum(counts) - counts
    return tuple(strings.slice(a, n) for a, n in zip(starts.tolist(), counts.tolist(), strict=True))


def _described(piece: Window | Pair | Clusters | Gazetteer, table: Mapping[str, type]) -> Json:
    return {"kind": next(name for name, kind in table.items() if kind is type(piece)), **asdict(piece)}


def _built(item: Json, table: Mapping[str, type]) -> Json:
    """The piece of a table; a table in it is a part of a pair."""
    inside = {
        name: Part(**value) if isinstance(value, dict) else value for name, value in item.items() if name != "kind"
    }
    return table[item["kind"]](**inside)


def _templates(manifest: Mapping[str, Json]) -> Templates:
    try:
        items = tuple(_built(item, ITEMS) for item in field(manifest, "items", list))
        sources = tuple(_built(item, SOURCES) for item in field(manifest, "sources", list))
        return Templates(items, field(manifest, "min_count", int), sources)
    except ModelFileError:
        raise
    except (LinnaeusError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise damaged(f"its templates cannot be read ({error})") from error


NO_WORD, BEFORE, AFTER = -3, -2, -1
"""Where `_Field.of_word` keeps the values of these, counted from its end."""


@dataclass(frozen=True, slots=True, eq=False)
class _Field:
    """The values of one form of one source: that of each word, and one word for each value."""

    source: int
    form: str
    of_word: Ints
    examples: Longs


def learn(templates: Templates, sentences: Sentences) -> FittedTemplates:
    """The values and columns of these sentences: values of forms are counted at every place.

    Those seen often enough get columns. All work on strings is done once for each distinct word; the rest is counting
    numbers.
    """
    if not sentences.count:
        raise DataError("the sentences have no token, so there is nothing to learn features from; give some.")
    sources = tuple(piece.read() for piece in templates.sources)
    coded = code(sentences, list(templates.fields()), sources)
    fields = _fields(templates, coded)
    kept, met = [], set()
    for template in templates.templates():
        distinct, counts = _count(template, fields, coded)
        keep = counts >= templates.min_count
        place = (template[0].source, template[0].at)
        if len(template) == 1 and place in met:
            keep &= distinct >= BOUNDARIES  # what stands beyond a sentence is said once for each place
        if len(template) == 1:
            met.add(place)
        kept.append(distinct[keep])
    return replace(_fitted(templates, coded, fields, kept), sources=sources)


def _fields(templates: Templates, coded: Coded) -> dict[tuple[str, str], _Field]:
    found = {}
    for source, (name, forms) in enumerate(templates.fields().items()):
        texts = coded.texts(source)
        keys = kernels.form_keys((texts.data, texts.offsets), form_rows(forms), kernels.thread_count())
        for j, form in enumerate(forms):
            distinct, first, inverse = np.unique(keys[:, j], return_index=True, return_inverse=True)
            none = int(len(distinct) > 0 and distinct[0] == 0)
            numbers = inverse.ravel() - none
            numbers[numbers >= 0] += BOUNDARIES
            found[name, form] = _Field(source, form, np.append(numbers, [-1, 0, 1]).astype(np.int32), first[none:])
    return found


def _count(template: Template, fields: dict[tuple[str, str], _Field], coded: Coded) -> tuple[Longs, Longs]:
    """The distinct values of a template, pairs as first << 28 | second, and how often each stands somewhere."""
    columns = [_seen(part, fields[part.source, part.form], coded) for part in template]
    if len(columns) == 1:
        counts = np.bincount(columns[0][columns[0] >= 0])
        there = np.flatnonzero(counts)
        return there, counts[there]
    first, second = (column.astype(np.int64) for column in columns)
    both = (first >= 0) & (second >= 0)
    return np.unique(first[both] << SHIFT | second[both], return_counts=True)


def _seen(part: Part, one: _Field, coded: Coded) -> Ints:
    """The value that a part of a template sees from each token, -1 for none."""
    sizes, m = np.diff(coded.offsets), int(coded.offsets[-1])
    there = np.arange(m) + part.at
    before = there < np.repeat(coded.offsets[:-1], sizes)
    after = there >= np.repeat(coded.offsets[1:], sizes)
    codes = coded.codes[one.source][np.clip(there, 0, m - 1)]
    codes = np.where(codes < 0, NO_WORD, codes - np.int32(coded.firsts[one.source]))
    codes[before], codes[after] = BEFORE, AFTER
    return one.of_word[codes]


def _fitted(
    templates: Templates, coded: Coded, fields: dict[tuple[str, str], _Field], kept: list[Longs]
) -> FittedTemplates:
    """The fitted piece: only values that a column stands for, in the order of their bytes."""
    used = {key: np.zeros(len(one.examples) + BOUNDARIES, bool) for key, one in fields.items()}
    parts = [_parted(template, distinct) for template, distinct in zip(templates.templates(), kept, strict=True)]
    for template, values in zip(templates.templates(), parts, strict=True):
        for part, own in zip(template, values, strict=True):
            used[part.source, part.form][own] = True
    strings, numbers = [], {}
    for key, one in fields.items():
        chosen, texts = _strings(one, coded, used[key])
        strings.append(texts)
        numbers[key] = np.zeros(len(used[key]), np.int32)
        numbers[key][[0, 1]] = 0, 1
        numbers[key][chosen + BOUNDARIES] = np.arange(len(chosen)) + BOUNDARIES
    members = [_members(t, own, numbers) for t, own in zip(templates.templates(), parts, strict=True)]
    bounds = offsets_of([len(own) for own in members])
    return FittedTemplates(templates, tuple(strings), np.concatenate(members), bounds)


def _parted(template: Template, distinct: Longs) -> list[Longs]:
    return [distinct] if len(template) == 1 else [distinct >> SHIFT, distinct & ((1 << SHIFT) - 1)]


def _strings(one: _Field, coded: Coded, used: Bools) -> tuple[Longs, pa.Array]:
    """The values in use, without the boundaries, ordered by their bytes; and their strings."""
    chosen = np.flatnonzero(used[BOUNDARIES:])
    words = as_texts(coded.words[one.source].take(pa.array(one.examples[chosen])))
    made = kernels.form_texts((words.data, words.offsets), form_rows([one.form]), kernels.thread_count())
    texts = as_arrow(Texts(*made))
    order = pc.sort_indices(texts)
    return chosen[order.to_numpy()], texts.take(order)


def _members(template: Template, parts: list[Longs], numbers: dict[tuple[str, str], Ints]) -> Ints:
    """The values of each column (c, 2) of a template, sorted; the second is -1 where there is one."""
    own = [numbers[part.source, part.form][values] for part, values in zip(template, parts, strict=True)]
    if len(own) == 1:
        return np.column_stack([np.sort(own[0]), np.full(len(own[0]), -1, np.int32)])
    order = np.lexsort((own[1], own[0]))
    return np.column_stack([own[0][order], own[1][order]])
