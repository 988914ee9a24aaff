"""How templates are fitted: values of forms counted at every place, those seen often enough get columns.

All work on strings is done once for each distinct word; the rest is counting numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from linnaeus import kernels
from linnaeus.errors import DataError
from linnaeus.features.tokens.fitted import BOUNDARIES, Coded, FittedTemplates, code, form_rows
from linnaeus.frozen import dataclass
from linnaeus.text.buffers import as_arrow, as_texts
from linnaeus.types import Texts

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.features.tokens.templates import Part, Template, Templates
    from linnaeus.types import Ints, Longs

SHIFT = 28
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
    """The values and columns of these sentences."""
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
    return replace(_made(templates, coded, fields, kept), sources=sources)


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


def _seen(part: Part, field: _Field, coded: Coded) -> Ints:
    """The value that a part of a template sees from each token, -1 for none."""
    sizes, m = np.diff(coded.offsets), int(coded.offsets[-1])
    there = np.arange(m) + part.at
    before = there < np.repeat(coded.offsets[:-1], sizes)
    after = there >= np.repeat(coded.offsets[1:], sizes)
    codes = coded.codes[field.source][np.clip(there, 0, m - 1)]
    codes = np.where(codes < 0, NO_WORD, codes - np.int32(coded.firsts[field.source]))
    codes[before], codes[after] = BEFORE, AFTER
    return field.of_word[codes]


def _made(
    templates: Templates, coded: Coded, fields: dict[tuple[str, str], _Field], kept: list[Longs]
) -> FittedTemplates:
    """The fitted piece: only values that a column stands for, in the order of their bytes."""
    used = {key: np.zeros(len(field.examples) + BOUNDARIES, bool) for key, field in fields.items()}
    parts = [_parted(template, distinct) for template, distinct in zip(templates.templates(), kept, strict=True)]
    for template, values in zip(templates.templates(), parts, strict=True):
        for part, own in zip(template, values, strict=True):
            used[part.source, part.form][own] = True
    strings, numbers = [], {}
    for key, field in fields.items():
        chosen, texts = _strings(field, coded, used[key])
        strings.append(texts)
        numbers[key] = np.zeros(len(used[key]), np.int32)
        numbers[key][[0, 1]] = 0, 1
        numbers[key][chosen + BOUNDARIES] = np.arange(len(chosen)) + BOUNDARIES
    members = [_members(t, own, numbers) for t, own in zip(templates.templates(), parts, strict=True)]
    bounds = np.cumsum([0] + [len(own) for own in members]).astype(np.int64)
    return FittedTemplates(templates, tuple(strings), np.concatenate(members), bounds)


def _parted(template: Template, distinct: Longs) -> list[Longs]:
    return [distinct] if len(template) == 1 else [distinct >> SHIFT, distinct & ((1 << SHIFT) - 1)]


def _strings(field: _Field, coded: Coded, used: NDArray[np.bool_]) -> tuple[Longs, pa.Array]:
    """The values in use, without the boundaries, ordered by their bytes; and their strings."""
    chosen = np.flatnonzero(used[BOUNDARIES:])
    words = as_texts(coded.words[field.source].take(pa.array(field.examples[chosen])))
    made = kernels.form_texts((words.data, words.offsets), form_rows([field.form]), kernels.thread_count())
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
