"""Templates of arcs: how they are written, and those that `Arcs` has if it is not told others.

A template is written as its atoms, with spaces between them. An atom is `h` or `m`, the head or the dependent (the
modifier), with an offset in tokens, and an attribute: `h.upos`, `m-1.word.lower`. `between.upos` is each tag between
the two. An attribute is a column of the sentences, `word` being the tokens, with a form of `features.tokens` behind it.

Some templates look at a tree that is known already: `m:leftmost.lemma` is the lemma of the first child of the
dependent, `h:head.upos` the tag of the head of the head, `h.relation` the relation of the head. Relations are found in
this way, and a second pass over the arcs, which sees the tree of the first pass.

The lists are in the manner of McDonald, Crammer and Pereira 2005 and of Martins, Almeida and Smith 2013; the second
pass is that of Nivre and McDonald 2008 and of Martins, Das, Smith and Xing 2008 (stacked parsers).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from linnaeus.errors import UsageError
from linnaeus.features.tokens.templates import parse

FARTHEST = 100
MOST_ATOMS = 16
"""Atoms of one template."""
MOST_ATTRIBUTES = 256
"""Distinct attributes of all templates together: each is a code of 64 bits for every token."""
NAMES = {
    "word": ("word",),
    "lemma": ("lemma", "lemmas", "word"),
    "upos": ("upos", "pos", "pos_tags", "xpos", "tag", "tags"),
    "xpos": ("xpos", "tag", "tags", "upos", "pos", "pos_tags"),
    "feats": ("feats", "morph", "morphology"),
}
"""The columns that an attribute of this name is read from: the first that is there. Others are columns themselves."""
SIDES = {"h": 0, "m": 1, "between": 2}
LINKS = ("head", "leftmost", "rightmost", "before", "after")
"""In a tree: the head of a token, its first and its last child, and the siblings beside it."""
OF_TREES = ("relation", "lefts", "rights")
"""Attributes that a tree gives: the relation of a token, and how many children it has on each side, 3 at most."""
_ATOM = re.compile(r"(h|m|between)([+-][0-9]{1,3})?(?::([a-z]+))?\.([^\s.:]+)(?:\.(\S+))?\Z")


class Attribute(NamedTuple):
    """What an atom looks at: a form of a column's string, at the token or at one that a tree links it to."""

    column: str
    form: str = "word"
    link: str = ""

    @property
    def of_trees(self) -> bool:
        """Whether it needs a tree."""
        return bool(self.link) or self.column in OF_TREES

    def __str__(self) -> str:
        plain = self.column if self.form == "word" else f"{self.column}.{self.form}"
        return f"{self.link} {plain}" if self.link else plain


class Atom(NamedTuple):
    """A part of a template: an attribute at so many tokens from the head, from the dependent, or between them."""

    side: str
    offset: int
    attribute: Attribute


def read_atom(text: str) -> Atom:
    """An atom as it is written.

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
    if abs(int(offset or 0)) > (0 if side == "between" else FARTHEST):
        raise UsageError(f"the offset of {text!r} is too large: at most {FARTHEST}, and 0 for a token between.")
    return Atom(side, int(offset or 0), Attribute(column, form or "word", link or ""))


def read_template(text: str) -> tuple[Atom, ...]:
    """The atoms of a template."""
    parts = text.split(maxsplit=MOST_ATOMS)
    if len(parts) > MOST_ATOMS:
        raise UsageError(f"the template {text[:80]!r} has more than {MOST_ATOMS} atoms; give fewer.")
    atoms = tuple(map(read_atom, parts))
    if not atoms or sum(atom.side == "between" for atom in atoms) > 1:
        raise UsageError(f"the template {text!r} has no atom, or two between; write one such as h.upos m.upos.")
    return atoms


OF_ARCS = """
h.word.lower
h.upos
h.xpos
h.word.lower h.xpos
h.lemma.lower h.upos
h.upos h.feats
h-1.xpos h.xpos
h.xpos h+1.xpos
h-1.xpos h.xpos h+1.xpos
m.word.lower
m.upos
m.xpos
m.word.lower m.xpos
m.lemma.lower m.upos
m.upos m.feats
m-1.xpos m.xpos
m.xpos m+1.xpos
m-1.xpos m.xpos m+1.xpos
h.xpos m.xpos
h.upos m.upos
h.lemma.lower m.lemma.lower
h.xpos m.word.lower
h.word.lower m.xpos
h.word.lower h.xpos m.xpos
h.xpos m.word.lower m.xpos
h.word.lower h.xpos m.word.lower m.xpos
h.lemma.lower m.upos
h.upos m.lemma.lower
h.upos h.feats m.upos m.feats
h.lemma.lower m.upos m.feats
h.xpos h+1.xpos m-1.xpos m.xpos
h-1.xpos h.xpos m-1.xpos m.xpos
h.xpos h+1.xpos m.xpos m+1.xpos
h-1.xpos h.xpos m.xpos m+1.xpos
h.upos h+1.upos m-1.upos m.upos
h-1.upos h.upos m-1.upos m.upos
h.upos h+1.upos m.upos m+1.upos
h-1.upos h.upos m.upos m+1.upos
h.xpos h+1.xpos m.xpos
h-1.xpos h.xpos m.xpos
h.xpos m-1.xpos m.xpos
h.xpos m.xpos m+1.xpos
h-1.upos h.upos h+1.upos m-1.upos m.upos m+1.upos
h.upos m-1.lemma.lower m.upos
h.lemma.lower m-1.lemma.lower m.upos
h.lemma.lower h.upos m.upos m-1.upos
h.lemma.lower h.upos m.upos m+1.upos
m.upos between.lemma.lower
h.upos between.lemma.lower
h.upos m.upos between.upos
h.xpos m.xpos between.xpos
h.lemma.lower h.upos m.lemma.lower m.upos
h-1.upos h.lemma.lower m.upos
h+1.upos h.lemma.lower m.upos
h.upos m.lemma.lower m+1.upos
h.upos m.lemma.lower m-1.upos
h.upos m.upos m+1.lemma.lower
h.upos h-1.lemma.lower m.upos
h.upos h+1.lemma.lower m.upos
h.upos m-2.upos m-1.upos m.upos
h.upos m.upos m+1.upos m+2.upos
h.upos h+1.upos h+2.upos m.upos
h-2.upos h-1.upos h.upos m.upos
h.word.lower.suffix3 m.upos
h.upos m.word.lower.suffix3
h.feats m.feats
"""
"""Templates of an arc, without a tree."""

OF_GUIDED_ARCS = """
h.relation m.relation
h.relation h.upos m.upos
h.upos m.upos m.relation
h:head.upos h.upos m.upos
h:head.upos h.relation m.upos m.relation
h:leftmost.upos h.upos m.upos
h:rightmost.upos h.upos m.upos
h:leftmost.relation h.upos m.upos
h:rightmost.relation h.upos m.upos
h.upos m:leftmost.upos m.upos
h.upos m:rightmost.upos m.upos
h.upos m:leftmost.lemma.lower m.upos
h.upos m:before.upos m.upos
h.upos m:after.upos m.upos
h.upos h.lefts h.rights m.upos
h.upos m.upos m.lefts m.rights
h.upos m:head.upos m.upos
h.lemma.lower m:head.lemma.lower m.upos
h.upos h:head.lemma.lower m.lemma.lower
h.upos m.lemma.lower m:leftmost.lemma.lower
h.lemma.lower m:leftmost.lemma.lower m.upos
h.upos m.upos between.relation
h.upos h:head.upos m.upos m.relation
h.lemma.lower h:head.lemma.lower m.upos
h.upos m.upos m:leftmost.upos m:rightmost.upos
h.upos h:leftmost.upos h:rightmost.upos m.upos
h:before.upos h.upos m.upos
h:after.upos h.upos m.upos
h.upos m.upos m:leftmost.relation
h.upos m.upos m:rightmost.relation
h.relation m.upos m:leftmost.lemma.lower
h.upos h:rightmost.lemma.lower m.upos
h.upos h:leftmost.lemma.lower m.upos
h.upos m.lemma.lower m.relation
h.lemma.lower m.relation
h.lemma.lower h:rightmost.lemma.lower m.lemma.lower
h.upos m:before.lemma.lower m.upos
h.upos m:before.relation m.upos m.relation
h.upos m.upos m:after.relation m.relation
h.upos h.relation m.upos m.relation h:head.upos
h.upos m.upos m-1.relation m+1.relation
h.upos h-1.relation h+1.relation m.upos
h.relation m.relation between.relation
"""
"""Further templates of an arc, for which the tree of the first pass is known."""

OF_RELATIONS = """
m.word.lower
m.lemma.lower m.upos
m.xpos
m.upos m.feats
m-1.xpos m.xpos
m.xpos m+1.xpos
h.upos m.upos
h.xpos m.xpos
h.lemma.lower m.upos
h.upos m.lemma.lower
h.lemma.lower m.lemma.lower
h.upos h.feats m.upos m.feats
h.xpos m.lemma.lower
h.lemma.lower m.xpos
h.upos m-1.lemma.lower m.upos
h.lemma.lower m-1.lemma.lower m.upos
h.upos m-1.upos m.upos
h.upos m.upos m+1.upos
h-1.upos h.upos m.upos
h.upos h+1.upos m.upos
h.upos m:leftmost.lemma.lower m.upos
h.upos m:leftmost.upos m.upos
h.lemma.lower m:leftmost.lemma.lower m.upos
h.upos m:rightmost.upos m.upos
h.upos m:rightmost.lemma.lower m.upos
h.upos m:before.upos m.upos
h.upos m:after.upos m.upos
h:head.upos h.upos m.upos
h:head.lemma.lower h.upos m.upos
h:leftmost.lemma.lower h.upos m.upos
h:leftmost.upos h.upos m.upos
h:rightmost.upos h.upos m.upos
h.upos m.upos m.lefts m.rights
h.upos m.upos h.lefts h.rights
h.upos m.upos m:before.lemma.lower
h.upos m.upos m:after.lemma.lower
m.lemma.lower m:leftmost.lemma.lower
h.upos m.upos m.word.lower.suffix3
h.lemma.lower m.word.lower.suffix3
h.upos m.upos between.upos
"""
"""Templates for the relation of an arc of a tree that is known."""


def lines(text: str) -> tuple[str, ...]:
    """The templates of such a text."""
    return tuple(line for line in text.split("\n") if line)
