"""Tags that mark spans: learned as BIO or BIOES, predicted as BIO, and which tag may follow which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.data import tag_encodings
from linnaeus.errors import DataError
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.data.sentences import Sentences
    from linnaeus.types import Ints

ENCODINGS = ("plain", "bio", "bioes")
"""Every way to understand tags: each a class of its own, or entities."""

_BIO = {"S": "B", "E": "I"}


@dataclass(frozen=True, eq=False)
class Allowed:
    """Which tags may begin a sentence and follow each other (1 + k, k), and which may end it (k,)."""

    links: NDArray[np.bool_]
    end: NDArray[np.bool_]


def encoded(sentences: Sentences, encoding: str) -> pa.Array:
    """The tags of sentences in the encoding for training. The input may be BIO, IOB1 or BIOES."""
    assert sentences.tags is not None
    if encoding == "plain":
        return sentences.tags
    names = sentences.tags.unique().to_pylist()
    if not tag_encodings.is_encoded(names):
        wrong = [name for name in names if name != tag_encodings.OUTSIDE and not tag_encodings.is_encoded([name])]
        what = f"the tag {wrong[0]!r} is not an entity tag" if wrong else "no tag is an entity tag"
        raise DataError(f"{what}, such as B-PER; use encoding plain.")
    return tag_encodings.convert(sentences.tags, sentences.offsets, encoding)


def spoken(z: Ints, names: Sequence[str], encoding: str) -> pa.Array:
    """Tag indices as strings; tags of entities as BIO."""
    said = names if encoding == "plain" else [_BIO.get(name[:1], name[:1]) + name[1:] for name in names]
    return pa.array(said, pa.string()).take(pa.array(z))


def every_spelling(names: Sequence[str], encoding: str) -> set[str]:
    """Tags as they may stand in data: those of entities in every encoding.

    >>> sorted(every_spelling(["B-A", "O"], "bio"))
    ['B-A', 'E-A', 'I-A', 'L-A', 'O', 'S-A', 'U-A']
    """
    if encoding == "plain":
        return set(names)
    kinds = {name[2:] for name in names if name[1:2] == "-"}
    return {*names, *(f"{sign}-{kind}" for kind in kinds for sign in "BIESLU")}


def allowed(names: Sequence[str], encoding: str) -> Allowed | None:
    """Which tags may follow each other; None if every tag may follow every other.

    >>> allowed(["B-A", "I-A", "O"], "bio").links.astype(int).tolist()
    [[1, 0, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1]]
    """
    if encoding == "plain":
        return None
    follows, first, last = tag_encodings.allowed(names, encoding)
    return Allowed(np.vstack([first[None], follows]), last)
