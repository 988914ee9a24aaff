"""Features of the arcs of dependency trees: templates over a head, a dependent and what stands between them."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.errors import DataError, LinnaeusError, UsageError, damaged, expect
from linnaeus.features.tokens.fitted import form_rows
from linnaeus.features.tokens.templates import parse
from linnaeus.frozen import dataclass
from linnaeus.kernels.hashes import K1, mix
from linnaeus.store.states import field, listed
from linnaeus.text.buffers import as_texts
from linnaeus.types import State, offsets_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from linnaeus.data.sentences import Sentences
    from linnaeus.types import AnyFloats, Array, Doubles, Ints, Json, Longs, Words64

KIND = "arcs"
LEAST_BITS, MOST_BITS = 5, 30
FARTHEST = 100
MOST_TEMPLATES = 1000
NAMES = {
    "lemma": ("lemma", "lemmas"),
    "upos": ("upos", "pos", "pos_tags"),
    "xpos": ("xpos", "tag", "tags"),
    "feats": ("feats", "morph", "morphology"),
}
"""The columns that an attribute of this name is read from, the first that is there."""
SIDES = {"h": 0, "m": 1, "between": 2}
LINKS = ("head", "leftmost", "rightmost", "before", "after")
"""In a tree: the head of a token, its first and its last child, and the siblings beside it."""
OF_TREES = ("relation", "lefts", "rights")
"""Attributes that a tree gives: the relation of a token, and how many children it has on each side, up to 3."""
NO_VALUE = 0
MOST_CHILDREN = 3
_ATOM = re.compile(r"(h|m|between)([+-]\d+)?(?::([a-z]+))?\.([^\s.:]+)(?:\.(\S+))?\Z")


class Attribute(NamedTuple):
    """What an atom looks at: a form of a column's string, at the token or at one that a tree links it to.

    >>> str(Attribute("word", "lower")), str(Attribute("upos", link="head"))
    ('word.lower', ':head.upos')
    """

    column: str
    form: str = "word"
    link: str = ""

    @property
    def of_trees(self) -> bool:
        """Whether it needs a tree."""
        return bool(self.link) or self.column in OF_TREES

    def __str__(self) -> str:
        plain = self.column if self.form == "word" else f"{self.column}.{self.form}"
        return f":{self.link}.{plain}" if self.link else plain


class Atom(NamedTuple):
    """A part of a template: an attribute at so many tokens from the head, from the dependent, or between them."""

    side: str
    offset: int
    attribute: Attribute


def read_atom(text: str) -> Atom:
    """An atom as it is written: `h.upos`, `m-1.word.lower`, `between.upos`, or with a tree `m:leftmost.lemma`.

    >>> read_atom("m-1.word.lower")
    Atom(side='m', offset=-1, attribute=Attribute(column='word', form='lower', link=''))
    """
    found = _ATOM.match(text)
    if not found:
        raise UsageError(f"the atom {text!r} is not known; write one such as h.upos, m-1.word.lower or between.upos.")
    side, offset, link, column, form = found.groups()
    parse(form or "word")
    if link and link not in LINKS:
        raise UsageError(f"the link {link!r} of {text!r} is not known; take one of {', '.join(LINKS)}.")
    if abs(int(offset or 0)) > FARTHEST or (side == "between" and offset):
        raise UsageError(f"the offset of {text!r} is too large; a token between has none.")
    return Atom(side, int(offset or 0), Attribute(column, form or "word", link or ""))


def read_template(text: str) -> tuple[Atom, ...]:
    """The atoms of a template, separated by spaces."""
    atoms = tuple(read_atom(part) for part in text.split())
    if not atoms or sum(atom.side == "between" for atom in atoms) > 1:
        raise UsageError(f"the template {text!r} has no atom, or more than one between; write one such as h.upos m.upos.")
    return atoms


@dataclass(frozen=True, eq=False)
class Tree:
    """Heads (m,) of all tokens, 0 for the root and j for the j-th token of the sentence; relations (m,) as numbers."""

    heads: Ints
    relations: Ints | None = None


@dataclass(frozen=True, eq=False)
class ArcCodes:
    """Sentences for the kernels: offsets (n+1), a code for each token and attribute (m, a), a guide (m,) or none."""

    offsets: Longs
    codes: Words64
    guide: Ints

    @property
    def arrays(self) -> tuple[Longs, Words64, Ints]:
        """As kernels take them."""
        return self.offsets, self.codes, self.guide

    @property
    def arc_offsets(self) -> Longs:
        """Where the arcs of each sentence begin (n+1)."""
        sizes = np.diff(self.offsets)
        return offsets_of(sizes * (sizes + 1))


@dataclass(frozen=True, eq=False)
class FittedArcs:
    """Templates of arcs with the columns they read: features are hashed to 2^bits columns, so nothing is looked up.

    `columns` says which column of the sentences each attribute is read from.
    """

    templates: tuple[str, ...]
    bits: int
    columns: Mapping[str, str]

    @property
    def width(self) -> int:
        """Columns (d)."""
        return 1 << self.bits

    @cached_property
    def parsed(self) -> list[tuple[Atom, ...]]:
        """The templates."""
        return [read_template(text) for text in self.templates]

    @cached_property
    def attributes(self) -> list[Attribute]:
        """What the templates look at, each once."""
        return list(dict.fromkeys(atom.attribute for template in self.parsed for atom in template))

    @cached_property
    def guided(self) -> bool:
        """Whether a template needs a tree."""
        return any(attribute.of_trees for attribute in self.attributes)

    @cached_property
    def atoms(self) -> Ints:
        """The templates as kernels take them: rows of template, side, offset and attribute."""
        number = {attribute: i for i, attribute in enumerate(self.attributes)}
        rows = [
            (t, SIDES[atom.side], atom.offset, number[atom.attribute])
            for t, template in enumerate(self.parsed)
            for atom in template
        ]
        return np.array(rows, np.int32).reshape(-1, 4)

    def coded(self, sentences: Sentences, tree: Tree | None = None, guide: bool = False) -> ArcCodes:
        """The codes of all tokens; `tree` is needed by templates with links. A `guide` gives kinship features, too."""
        if self.guided and tree is None:
            raise UsageError("These templates look at a tree; give one.")
        offsets = np.ascontiguousarray(sentences.offsets - sentences.offsets[0])
        plain: dict[Attribute, Words64] = {}
        links = {} if tree is None else _links(offsets, tree.heads)
        codes = np.empty((sentences.count, len(self.attributes)), np.uint64)
        for i, attribute in enumerate(self.attributes):
            own = attribute._replace(link="")
            if own not in plain:
                plain[own] = self._codes(sentences, own) if own.column not in OF_TREES else _tree_codes(own, tree, offsets)
            codes[:, i] = _linked(plain[own], links[attribute.link]) if attribute.link else plain[own]
        empty = np.zeros(0, np.int32)
        return ArcCodes(offsets, codes, tree.heads if guide and tree is not None else empty)

    def _codes(self, sentences: Sentences, attribute: Attribute) -> Words64:
        """A key for each token."""
        column = sentences.column(self.columns[attribute.column])
        encoded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
        texts = as_texts(encoded.dictionary)
        keys = kernels.form_keys((texts.data, texts.offsets), form_rows([attribute.form]), kernels.thread_count())
        padded: Words64 = np.append(keys.ravel(), np.uint64(NO_VALUE))
        return padded[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]

    def scores(self, coded: ArcCodes, W: AnyFloats) -> Doubles:
        """The score of each arc: for a sentence of n tokens n (n+1), of token m under head h at m (n+1) + h."""
        return kernels.arc_scores(coded.arrays, self.atoms, W, kernels.thread_count())

    def columns_of(self, coded: ArcCodes, heads: Ints | None = None) -> tuple[Longs, Ints]:
        """Offsets and columns of the features of the arcs of these heads, or of all arcs; a column may come twice."""
        asked = np.zeros(0, np.int32) if heads is None else np.ascontiguousarray(heads, np.int32)
        return kernels.arc_columns(coded.arrays, self.atoms, self.bits, asked)


ROOT_AT, NONE_AT = -1, -2
"""Where a link leads that leads to no token: codes are followed by those of nothing and of the root."""


def _links(offsets: Longs, heads: Ints) -> dict[str, Longs]:
    """For each link the token (m,) that it leads to, counted over all sentences."""
    sizes, m = np.diff(offsets), int(offsets[-1])
    first = np.repeat(offsets[:-1], sizes)
    at, head = np.arange(m), np.where(heads > 0, first + heads - 1, ROOT_AT)
    found = {"head": head, **{name: np.full(m, NONE_AT) for name in LINKS[1:]}}
    child = at[head >= 0]
    found["leftmost"][head[child][::-1]] = child[::-1]  # the last write stays: the first child
    found["rightmost"][head[child]] = child
    order = np.lexsort((at, np.where(head >= 0, head, m + first)))  # siblings side by side, in their order
    beside = np.where(head >= 0, head, m + first)[order]
    same = beside[1:] == beside[:-1]
    found["before"][order[1:][same]] = order[:-1][same]
    found["after"][order[:-1][same]] = order[1:][same]
    return found


def _linked(codes: Words64, link: Longs) -> Words64:
    """The codes of the tokens that a link leads to."""
    return np.concatenate([codes, np.array([NO_VALUE, K1], np.uint64)])[link]


def _tree_codes(attribute: Attribute, tree: Tree | None, offsets: Longs) -> Words64:
    assert tree is not None
    if attribute.column == "relation":
        if tree.relations is None:
            raise UsageError("These templates look at relations; give a tree that has them.")
        return mix(tree.relations.astype(np.uint64) + np.uint64(1))
    sizes = np.diff(offsets)
    first = np.repeat(offsets[:-1], sizes)
    at, head = np.arange(len(tree.heads)), first + tree.heads - 1
    there = (tree.heads > 0) & ((at < head) == (attribute.column == "lefts"))
    counts = np.bincount(head[there], minlength=len(at))
    return mix(np.minimum(counts, MOST_CHILDREN).astype(np.uint64) + np.uint64(1))
