"""Templates with the columns they read: codes of sentences, scores and rows of arcs, names of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.errors import UsageError
from linnaeus.features.arcs.templates import LINKS, OF_TREES, SIDES, Atom, Attribute, read_template
from linnaeus.features.tokens.fitted import form_rows
from linnaeus.features.tokens.templates import parse
from linnaeus.frozen import dataclass
from linnaeus.kernels.hashes import K1, mix
from linnaeus.text.buffers import as_texts
from linnaeus.types import offsets_of

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.kernels.reference.arcs import Feature
    from linnaeus.types import AnyFloats, Doubles, Ints, Longs, Words64

LEAST_BITS, MOST_BITS = 4, 30
MOST_CHILDREN = 3
NO_VALUE = 0
"""The code where a token has no value, and where a link leads to no token."""


@dataclass(frozen=True, eq=False)
class Tree:
    """The trees of sentences: heads (m,), 0 for the root, j for the j-th token; relations (m,) as numbers, or none."""

    heads: Ints
    relations: Ints | None = None


@dataclass(frozen=True, eq=False)
class ArcCodes:
    """Sentences for the kernels: offsets (n+1), and a code of 64 bits for each token and attribute (m, a)."""

    offsets: Longs
    codes: Words64

    @property
    def arrays(self) -> tuple[Longs, Words64]:
        """As kernels take them."""
        return self.offsets, self.codes

    @property
    def arc_offsets(self) -> Longs:
        """Where the arcs of each sentence begin (n+1)."""
        sizes = np.diff(self.offsets)
        return offsets_of(sizes * (sizes + 1))


@dataclass(frozen=True, eq=False)
class ArcTable:
    """Templates of arcs with the columns that they read. Features are hashed to 2^bits columns: nothing is looked up.

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
        """The templates as atoms."""
        return [read_template(text) for text in self.templates]

    @cached_property
    def attributes(self) -> list[Attribute]:
        """What the templates look at, each once."""
        return list(dict.fromkeys(atom.attribute for template in self.parsed for atom in template))

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

    def coded(self, sentences: Sentences, tree: Tree | None = None) -> ArcCodes:
        """The codes of all tokens; templates with links or relations need a tree."""
        offsets = np.ascontiguousarray(sentences.offsets - sentences.offsets[0])
        codes = np.empty((sentences.count, len(self.attributes)), np.uint64)
        links = None if tree is None else links_of(offsets, tree.heads)
        plain: dict[Attribute, Words64] = {}
        for i, attribute in enumerate(self.attributes):
            own = attribute._replace(link="")
            if own not in plain:
                plain[own] = self._codes(sentences, own, tree)
            if not attribute.link:
                codes[:, i] = plain[own]
            elif links is None:
                raise UsageError(f"the attribute {str(attribute)!r} is one of trees; give a tree.")
            else:
                codes[:, i] = np.append(plain[own], np.array([NO_VALUE, K1], np.uint64))[links[attribute.link]]
        return ArcCodes(offsets, codes)

    def _codes(self, sentences: Sentences, attribute: Attribute, tree: Tree | None) -> Words64:
        """A key for each token."""
        if attribute.column in OF_TREES:
            return _tree_codes(sentences, attribute.column, tree)
        column = sentences.column(self.columns[attribute.column])
        encoded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
        texts = as_texts(encoded.dictionary)
        keys = kernels.form_keys((texts.data, texts.offsets), form_rows([attribute.form]), kernels.thread_count())
        padded = np.append(keys.ravel(), np.uint64(NO_VALUE))
        found: Words64 = padded[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        return found

    def scores(self, coded: ArcCodes, W: AnyFloats) -> Doubles:
        """The score of each arc: of a sentence of n tokens n (n+1), of its token m (from 0) with head h at m (n+1) + h.

        The bits depend neither on the number of threads nor on what stands in the other sentences.
        """
        if W.shape != (self.width,) or W.dtype not in (np.float32, np.float64):
            raise UsageError(f"W is {W.dtype} {W.shape}; scores take float32 of shape ({self.width},).")
        return kernels.arc_scores(coded.arrays, self.atoms, W, kernels.thread_count())

    def columns_of(self, coded: ArcCodes, heads: Ints | None = None) -> tuple[Longs, Ints]:
        """Offsets and columns of the features of the arcs of these heads, or of all arcs; a column may come twice."""
        asked = np.zeros(0, np.int32) if heads is None else np.ascontiguousarray(heads, np.int32)
        return kernels.arc_columns(coded.arrays, self.atoms, self.bits, asked, kernels.thread_count())

    def rows(self, coded: ArcCodes, heads: Ints | None = None) -> CSR:
        """The same as sparse rows; the value is how often a column comes."""
        indptr, indices = self.columns_of(coded, heads)
        row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        keys, counts = np.unique(row << MOST_BITS | indices, return_counts=True)
        sizes = np.bincount(keys >> MOST_BITS, minlength=len(indptr) - 1)
        columns = (keys & ((1 << MOST_BITS) - 1)).astype(np.int32)
        return CSR(offsets_of(sizes), columns, counts.astype(np.float32), self.width)

    def named(
        self,
        sentences: Sentences,
        head: int,
        dependent: int,
        tree: Tree | None = None,
        relations: Sequence[str] | None = None,
    ) -> list[tuple[int, str]]:
        """Column and name of each feature of an arc of one sentence, head 0 being the root; for explanations.

        `relations` are the names of the relations of the tree.

        >>> from linnaeus.data.sentences import Sentences
        >>> one = Sentences.from_lists([["a", "dog"]], columns={"upos": [["DET", "NOUN"]]})
        >>> [name for _, name in ArcTable(("h.upos m.upos",), 10, {"upos": "upos"}).named(one, 2, 1)]
        ['head upos=NOUN, dependent upos=DET, left', 'head upos=NOUN, dependent upos=DET, left, distance 1']
        """
        if len(sentences) != 1 or not (0 <= head <= sentences.count and 1 <= dependent <= sentences.count):
            raise UsageError("An arc is named in one sentence, between its tokens, counted from 1; the head may be 0.")
        templates = [
            (t, [tuple(row[1:]) for row in self.atoms.tolist() if row[0] == t]) for t in range(len(self.parsed))
        ]
        coded = self.coded(sentences, tree)
        from linnaeus.kernels.reference.arcs import ArcSentence

        found = ArcSentence(coded.codes, templates, self.bits).features(head, dependent)
        names = _FeatureNames(self, sentences, tree, relations)
        return [(one.column, names.name(one, head, dependent)) for one in found]


class _FeatureNames:
    """Readable names of the features of a sentence."""

    def __init__(
        self, table: ArcTable, sentences: Sentences, tree: Tree | None, relations: Sequence[str] | None
    ) -> None:
        self.table, self.count, self.tree, self.relations = table, sentences.count, tree, relations
        self.texts = {name: sentences.column(own).to_pylist() for name, own in table.columns.items()}
        self.links = {} if tree is None else links_of(sentences.offsets - sentences.offsets[0], tree.heads)

    def name(self, one: Feature, head: int, dependent: int) -> str:
        """The values of the atoms, the direction and the distance."""
        parts = [
            self._atom(atom, {"h": head, "m": dependent, "between": one.between}[atom.side])
            for atom in self.table.parsed[one.template]
        ]
        parts.append("right" if dependent > head else "left")
        if one.distance:
            parts.append(f"{one.distance} between" if one.between else f"distance {DISTANCES[one.distance]}")
        return ", ".join(parts)

    def _atom(self, atom: Atom, at: int) -> str:
        side = {"h": "head", "m": "dependent", "between": "between"}[atom.side]
        place = f"{side}{atom.offset:+d}" if atom.offset else side
        return f"{place} {atom.attribute}={self._value(atom.attribute, at + atom.offset)}"

    def _value(self, attribute: Attribute, at: int) -> str:
        if not 1 <= at <= self.count:
            return "<root>" if at == 0 else "<s>" if at < 0 else "</s>"
        if attribute.link:
            there = int(self.links[attribute.link][at - 1])
            return {ROOT_AT: "<root>", NONE_AT: "none"}.get(there) or self._value(
                attribute._replace(link=""), there + 1
            )
        if attribute.column in OF_TREES:
            number = int(_tree_numbers(np.array([0, self.count]), attribute.column, self.tree)[at - 1])
            named = attribute.column == "relation" and self.relations is not None
            return self.relations[number] if named and self.relations is not None else str(number)
        text = self.texts[attribute.column][at - 1]
        from linnaeus.kernels.reference.token_features import form_of

        form = None if text is None else form_of(text, parse(attribute.form))
        return "none" if form is None else form


DISTANCES = ("", "1", "2", "3", "4", "5-7", "8-12", "13+")
ROOT_AT, NONE_AT = -1, -2
"""Where a link leads that leads to no token."""


def links_of(offsets: Longs, heads: Ints) -> dict[str, Longs]:
    """For each link the token (m,) that it leads to, counted over all sentences.

    >>> links = links_of(np.array([0, 3]), np.array([2, 0, 2]))
    >>> links["head"].tolist(), links["leftmost"].tolist(), links["after"].tolist()
    ([1, -1, 1], [-2, 0, -2], [2, -2, -2])
    """
    m, first = int(offsets[-1]), np.repeat(offsets[:-1], np.diff(offsets))
    at, head = np.arange(m), np.where(heads > 0, first + heads - 1, ROOT_AT)
    found = {"head": head, **{name: np.full(m, NONE_AT) for name in LINKS[1:]}}
    child = at[head >= 0]
    found["leftmost"][head[child][::-1]] = child[::-1]  # the last write stays: that of the first child
    found["rightmost"][head[child]] = child
    order = child[np.argsort(head[child], kind="stable")]  # siblings side by side
    same = head[order[1:]] == head[order[:-1]]
    found["before"][order[1:][same]] = order[:-1][same]
    found["after"][order[:-1][same]] = order[1:][same]
    return found


def _tree_codes(sentences: Sentences, column: str, tree: Tree | None) -> Words64:
    return mix(_tree_numbers(sentences.offsets - sentences.offsets[0], column, tree).astype(np.uint64) + np.uint64(1))


def _tree_numbers(offsets: Longs, column: str, tree: Tree | None) -> Longs:
    """An attribute of trees for each token."""
    if tree is None or (column == "relation" and tree.relations is None):
        raise UsageError(f"the attribute {column!r} is one of trees; give a tree with relations.")
    if column == "relation":
        assert tree.relations is not None
        return tree.relations.astype(np.int64)
    at, head = np.arange(len(tree.heads)), np.repeat(offsets[:-1], np.diff(offsets)) + tree.heads - 1
    there = (tree.heads > 0) & ((at < head) == (column == "lefts"))
    return np.minimum(np.bincount(head[there], minlength=len(at)), MOST_CHILDREN)
