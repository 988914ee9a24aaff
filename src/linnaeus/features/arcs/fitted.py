"""Arcs, the piece of a recipe, and FittedArcs: the features of the passes of a parser, and their state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from linnaeus.errors import DataError, InputTypeError, LinnaeusError, UsageError, damaged, expect
from linnaeus.features.arcs.table import LEAST_BITS, MOST_BITS, ArcTable
from linnaeus.features.arcs.templates import (
    MOST_ATTRIBUTES,
    NAMES,
    OF_ARCS,
    OF_GUIDED_ARCS,
    OF_RELATIONS,
    OF_TREES,
    Attribute,
    lines,
    read_template,
)
from linnaeus.features.base import FittedPiece
from linnaeus.features.names import Names, numbered
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, listed
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.types import Json

KIND = "arcs"
MOST_TEMPLATES = 1000
PASSES = ("first", "second", "relations")


@dataclass(frozen=True)
class Arcs:
    """Features of arcs and of their relations, from templates; those whose columns the sentences lack are left out.

    Where there are no lemmas, words are taken for them; where there are tags of one kind, they are taken for both.

    `templates` are for arcs alone. `second` are added to them in a second pass, which sees the tree that the first one
    found; empty for a parser of one pass. `relations` are for the relations of the arcs of a tree. Features are hashed
    to 2^bits columns, twice as many in the second pass, and those of relations to 2^relation_bits. `columns` names the
    columns of the sentences that may be read beside the words; if it names none, all may.

    >>> from linnaeus.data.sentences import Sentences
    >>> one = Sentences.from_lists([["a", "dog"]], columns={"upos": [["DET", "NOUN"]]})
    >>> fitted = Arcs(("h.upos m.upos", "h.xpos m.xpos", "h.word m.word"), (), ("m.upos",), bits=10).fit(one)
    >>> fitted.first.templates, fitted.first.width
    (('h.upos m.upos', 'h.word m.word'), 1024)
    """

    templates: tuple[str, ...] = lines(OF_ARCS)
    second: tuple[str, ...] = lines(OF_GUIDED_ARCS)
    relations: tuple[str, ...] = lines(OF_RELATIONS)
    bits: int = 21
    relation_bits: int = 17
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        for name in ("templates", "second", "relations"):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Sequence):
                raise InputTypeError(f"{name} are a list of templates, not {given!r}.")
            object.__setattr__(self, name, tuple(given))
            for text in given:
                expect(f"a template of {name}", text, str)
                read_template(text)
        if not self.templates or any(attribute.of_trees for attribute in _looked_at(self.templates)):
            raise UsageError("templates needs at least one, and those of trees belong to second and relations.")
        if any(attribute.column == "relation" for attribute in _looked_at(self.relations)):
            raise UsageError("relations are not known while they are found; leave that attribute out.")
        for name in ("bits", "relation_bits"):
            expect(name, getattr(self, name), int)
            if not LEAST_BITS <= getattr(self, name) < MOST_BITS:
                raise UsageError(f"{name} is a number from {LEAST_BITS} to {MOST_BITS - 1}, not {getattr(self, name)}.")
        if len(self.templates) + len(self.second) > MOST_TEMPLATES or len(self.relations) > MOST_TEMPLATES:
            raise UsageError(f"there are more than {MOST_TEMPLATES} templates; give fewer.")
        if len(_looked_at((*self.templates, *self.second, *self.relations))) > MOST_ATTRIBUTES:
            raise UsageError(f"the templates look at more than {MOST_ATTRIBUTES} attributes; give fewer.")

    def among(self, columns: Iterable[str]) -> Arcs:
        """The same, which reads no other columns than these beside the words.

        >>> Arcs().among(["upos"]).columns
        ('upos',)
        """
        return replace(self, columns=tuple(columns))

    def looks_at(self, columns: Iterable[str]) -> bool:
        """Whether a template reads one of these columns."""
        read = _columns_of(columns, _looked_at((*self.templates, *self.second, *self.relations)))
        return bool(set(read.values()) & set(columns))

    def fit(self, sentences: Sentences) -> FittedArcs:
        """The templates whose columns are there."""
        there = [name for name in sentences.columns if not self.columns or name in self.columns]
        columns = _columns_of(there, _looked_at((*self.templates, *self.second, *self.relations)))
        first, second, relations = (_kept(own, columns) for own in (self.templates, self.second, self.relations))
        if not first or not relations:
            raise DataError("the sentences lack the columns of all templates; add tags, or give templates of words.")
        both = (*first, *second) if second else ()
        return FittedArcs(
            _table(first, self.bits, columns),
            _table(both, self.bits + bool(both), columns),
            _table(relations, self.relation_bits, columns),
        )


@dataclass(frozen=True, eq=False)
class FittedArcs(FittedPiece):
    """The features of arcs in a first pass, in a second one (no template: there is none), and those of relations."""

    first: ArcTable
    second: ArcTable
    relations: ArcTable

    @property
    def width(self) -> int:
        """Columns of the first pass (d)."""
        return self.first.width

    def names(self) -> Names:
        """The numbers of the columns: features are hashed, and named with an arc by `ArcTable.named`."""
        return numbered(self.width)

    @property
    def tables(self) -> tuple[ArcTable, ...]:
        """All three."""
        return self.first, self.second, self.relations

    @property
    def columns(self) -> dict[str, str]:
        """Which column of the sentences each attribute is read from."""
        return {name: own for table in self.tables for name, own in table.columns.items()}

    def state(self) -> State:
        """Manifest and tensors."""
        tables = zip(PASSES, self.tables, strict=True)
        parts = {name: {"templates": list(table.templates), "bits": table.bits} for name, table in tables}
        return State({"kind": KIND, "columns": self.columns, **parts}, {})

    @classmethod
    def from_state(cls, state: State) -> FittedArcs:
        """The fitted features again; what does not fit is refused."""
        if state.manifest.get("kind") != KIND:
            raise damaged(f"{state.manifest.get('kind')!r} is not the kind of its features of arcs")
        columns = field(state.manifest, "columns", dict)
        if not all(isinstance(text, str) for pair in columns.items() for text in pair):
            raise damaged("its columns are not names")
        first, second, relations = (
            _restored(state.manifest, name, columns) for name in ("first", "second", "relations")
        )
        if not first.templates or any(attribute.of_trees for attribute in first.attributes):
            raise damaged("its first pass has no templates, or those of trees")
        if not relations.templates or any(attribute.column == "relation" for attribute in relations.attributes):
            raise damaged("it has no templates of relations, or those that know relations")
        if len({*first.attributes, *second.attributes, *relations.attributes}) > MOST_ATTRIBUTES:
            raise damaged(f"its templates look at more than {MOST_ATTRIBUTES} attributes")
        return cls(first, second, relations)


def _looked_at(templates: Sequence[str]) -> list[Attribute]:
    return list(dict.fromkeys(atom.attribute for text in templates for atom in read_template(text)))


def _columns_of(columns: Iterable[str], attributes: list[Attribute]) -> dict[str, str]:
    """The column that each attribute is read from, for those that are there."""
    there = {"word", *columns}
    wanted = {attribute.column: NAMES.get(attribute.column, (attribute.column,)) for attribute in attributes}
    found = {name: next((own for own in known if own in there), None) for name, known in wanted.items()}
    return {name: own for name, own in found.items() if own is not None}


def _kept(templates: tuple[str, ...], columns: Mapping[str, str]) -> tuple[str, ...]:
    """The templates whose columns are there; of those that look at the same, the first."""
    known = {**columns, **{name: name for name in OF_TREES}}
    found: dict[frozenset[tuple[str, int, Attribute]], str] = {}
    for text in templates:
        atoms = read_template(text)
        if all(atom.attribute.column in known for atom in atoms):
            same = frozenset((side, at, one._replace(column=known[one.column])) for side, at, one in atoms)
            found.setdefault(same, text)
    return tuple(found.values())


def _table(templates: tuple[str, ...], bits: int, columns: Mapping[str, str]) -> ArcTable:
    used = {attribute.column for attribute in _looked_at(templates)}
    return ArcTable(templates, bits, {name: own for name, own in columns.items() if name in used})


def _restored(manifest: Mapping[str, Json], name: str, columns: dict[str, str]) -> ArcTable:
    inner = field(manifest, name, dict)
    templates, bits = listed(inner, "templates", str), inner.get("bits")
    if type(bits) is not int or not LEAST_BITS <= bits <= MOST_BITS or len(templates) > MOST_TEMPLATES:
        raise damaged(f"the features of its part {name!r} are not known")
    try:
        used = _looked_at(templates)
    except LinnaeusError as error:
        raise damaged(f"its templates cannot be read ({error})") from error
    if any(one.column not in columns and one.column not in OF_TREES for one in used):
        raise damaged("a template looks at a column that is not there")
    return _table(templates, bits, columns)
