"""How the strings that a tagger answers become classes, and classes answers: plain names, spans, or edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
import pyarrow as pa

from linnaeus.data import tag_encodings
from linnaeus.errors import DataError
from linnaeus.frozen import dataclass
from linnaeus.lazy import Table
from linnaeus.types import Bools, Ints

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences

ENCODINGS = Table(
    "linnaeus.tasks.tag",
    {"plain": "encoding.Plain", "bio": "encoding.Bio", "bioes": "encoding.Bioes", "edits": "edits.Edits"},
)
"""Every way to understand the strings of tokens: each a class of its own, entities, or changes of the token."""


@dataclass(frozen=True, eq=False)
class Allowed:
    """Which tags may begin a sentence and follow each other (1 + k, k), and which may end it (k,)."""

    links: Bools
    end: Bools


class Encoding(Protocol):
    """The classes of a tagger: how they are made of true strings, and what they say about tokens.

    `entities` says whether answers mark entities; None: if they look so.
    """

    entities: ClassVar[bool | None] = None

    def classes(self, sentences: Sentences) -> pa.Array:
        """The name of the class of each token, from its true string."""

    def answers(self, z: Ints, names: Sequence[str], tokens: pa.Array) -> pa.Array:
        """What classes (m,) with these names say about m tokens."""

    def allowed(self, names: Sequence[str]) -> Allowed | None:
        """Which classes may follow each other; None if each may follow each. Names that are no classes are refused."""
        del names
        return None

    def fitting(self, names: Sequence[str], tokens: pa.Array) -> Bools | None:
        """Which classes each token may have (m, k); None if it may have each."""
        del names, tokens
        return None

    def spellings(self, names: Sequence[str]) -> set[str] | None:
        """The strings that data may have for these classes; None if there is no list of them."""


@dataclass(frozen=True)
class Plain(Encoding):
    """Each string is a class."""

    def classes(self, sentences: Sentences) -> pa.Array:
        """The tags as they are."""
        return sentences.tags

    def answers(self, z: Ints, names: Sequence[str], tokens: pa.Array) -> pa.Array:
        """The names of the classes."""
        del tokens
        return pa.array(names, pa.string()).take(pa.array(z))

    def spellings(self, names: Sequence[str]) -> set[str]:
        """The names."""
        return set(names)


_BIO = {"S": "B", "E": "I"}


@dataclass(frozen=True)
class Bio(Encoding):
    """Tags mark entities. They may be BIO, IOB1 or BIOES in data, are learned in this encoding, and answered as BIO."""

    entities: ClassVar[bool | None] = True
    name: ClassVar[str] = "bio"

    def classes(self, sentences: Sentences) -> pa.Array:
        """The same entities in this encoding."""
        assert sentences.tags is not None
        names = sentences.tags.unique().to_pylist()
        if not tag_encodings.is_encoded(names):
            wrong = [name for name in names if name != tag_encodings.OUTSIDE and not tag_encodings.is_encoded([name])]
            what = f"the tag {wrong[0]!r} is not an entity tag" if wrong else "no tag is an entity tag"
            raise DataError(f"{what}, such as B-PER; use encoding plain.")
        return tag_encodings.convert(sentences.tags, sentences.offsets, self.name)

    def answers(self, z: Ints, names: Sequence[str], tokens: pa.Array) -> pa.Array:
        """The tags as BIO."""
        return Plain().answers(z, [_BIO.get(name[:1], name[:1]) + name[1:] for name in names], tokens)

    def allowed(self, names: Sequence[str]) -> Allowed:
        """Only sequences that mark entities.

        >>> Bio().allowed(["B-A", "I-A", "O"]).links.astype(int).tolist()
        [[1, 0, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1]]
        """
        follows, first, last = tag_encodings.allowed(names, self.name)
        return Allowed(np.vstack([first[None], follows]), last)

    def spellings(self, names: Sequence[str]) -> set[str]:
        """The tags of the same types in every encoding.

        >>> sorted(Bio().spellings(["B-A", "O"]))
        ['B-A', 'E-A', 'I-A', 'L-A', 'O', 'S-A', 'U-A']
        """
        kinds = {name[2:] for name in names if name[1:2] == "-"}
        return {*names, *(f"{sign}-{kind}" for kind in kinds for sign in "BIESLU")}


@dataclass(frozen=True)
class Bioes(Bio):
    """As `Bio`; the ends of entities, and entities of one token, are classes of their own."""

    name: ClassVar[str] = "bioes"
