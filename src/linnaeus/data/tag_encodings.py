"""Entities as tags of tokens: BIO, BIOES and IOB1, read leniently and written exactly.

    iob1    I-X inside; B-X only where an entity follows another of its type
    bio     B-X begins, I-X goes on (IOB2)
    bioes   as bio; E-X ends an entity, S-X is one alone (also read as L-X and U-X: BILOU)

Reading never fails. What is inconsistent is read as the CoNLL evaluation and seqeval read it: an entity begins at B or
S, at any tag of another type than the one before, and at I or E after O, E or S; it ends where the next begins, after E
or S, and before O. So an I-X after O begins an entity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.types import Bools, Ints, Longs

ENCODINGS = ("bio", "bioes", "iob1")
OUTSIDE = "O"
O, B, I, E, S = range(5)  # noqa: E741 - their names
_LETTERS = {"O": O, "B": B, "I": I, "E": E, "S": S, "L": E, "U": S}
_LETTER = "OBIES"


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Entities among m tokens, in order: first token, token behind the last, and the number of the type in `types`."""

    starts: Longs
    ends: Longs
    kinds: Ints
    types: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.starts)

    def listed(self) -> list[tuple[int, int, str]]:
        """Start, end and type of each."""
        kinds = [self.types[kind] for kind in self.kinds.tolist()]
        return list(zip(self.starts.tolist(), self.ends.tolist(), kinds, strict=True))


def is_encoded(names: Sequence[str]) -> bool:
    """Whether tags of these names mark entities: all are O or a letter with a type, and one has a type.

    >>> is_encoded(["B-PER", "I-PER", "O"]), is_encoded(["NN", "O"]), is_encoded(["O"])
    (True, False, False)
    """
    parts = [name.partition("-") for name in names if name != OUTSIDE]
    return bool(parts) and all(letter in _LETTERS and letter != OUTSIDE and kind for letter, _, kind in parts)


def spans(tags: pa.Array | Sequence[str | None], offsets: Longs) -> Spans:
    """The entities of tagged sentences; `tags` is an Arrow array or a list of strings, null is O.

    >>> spans(["B-PER", "I-PER", "O", "I-LOC"], np.array([0, 4])).listed()
    [(0, 2, 'PER'), (3, 4, 'LOC')]
    """
    codes, names = _codes(tags)
    letters, kinds, types = _parts(names)
    return read_spans(letters[codes], kinds[codes], offsets, types)


def read_spans(letters: Ints, kinds: Ints, offsets: Longs, types: tuple[str, ...]) -> Spans:
    """The same from the number of each token's letter and type; O has the type -1."""
    m = int(offsets[-1] - offsets[0])
    inner = np.ones(m + 1, bool)  # whether a token follows another in its sentence
    inner[offsets - offsets[0]] = False
    before = np.where(inner[:m], np.concatenate([[O], letters[:-1]])[:m], O)
    kind_before = np.where(inner[:m], np.concatenate([[-1], kinds[:-1]])[:m], -1)
    fresh = np.isin(before, (O, E, S)) & np.isin(letters, (I, E))
    begins = (letters != O) & (np.isin(letters, (B, S)) | fresh | (kinds != kind_before))
    starts = np.flatnonzero(begins)
    # What goes on is not O and begins nothing; so an entity reaches to the first token that does not go on.
    stops = np.flatnonzero(np.append(begins | (letters == O), True) | ~inner)
    ends = stops[np.searchsorted(stops, starts, side="right")] if len(starts) else starts
    return Spans(starts, ends, kinds[starts].astype(np.int32), types)


def write(found: Spans, count: int, encoding: str = "bio") -> list[str]:
    """The tags of `count` tokens with these entities.

    >>> write(Spans(np.array([0, 2]), np.array([2, 3]), np.array([0, 0], np.int32), ("X",)), 4, "bioes")
    ['B-X', 'E-X', 'S-X', 'O']
    """
    _known(encoding)
    letters = np.zeros(count, np.int64)
    kinds = np.zeros(count, np.int64)
    for start, end, kind in zip(found.starts.tolist(), found.ends.tolist(), found.kinds.tolist(), strict=True):
        kinds[start:end] = kind
        adjacent = start > 0 and letters[start - 1] != O and kinds[start - 1] == kind
        letters[start:end] = I
        if encoding != "iob1" or adjacent:
            letters[start] = B
        if encoding == "bioes":
            letters[end - 1] = S if end - start == 1 else E
    pairs = zip(letters.tolist(), kinds.tolist(), strict=True)
    return [OUTSIDE if letter == O else f"{_LETTER[letter]}-{found.types[kind]}" for letter, kind in pairs]


def convert(tags: pa.Array | Sequence[str | None], offsets: Longs, encoding: str) -> pa.Array:
    """The same entities in another encoding; sentences are apart, so that IOB1 needs no B at their beginning.

    >>> convert(["I-PER", "I-PER", "O", "I-PER"], np.array([0, 2, 4]), "bioes").to_pylist()
    ['B-PER', 'E-PER', 'O', 'S-PER']
    """
    found = spans(tags, offsets)
    made = write(found, int(offsets[-1] - offsets[0]), encoding)
    if encoding == "iob1":
        for at in (offsets[:-1] - offsets[0])[np.diff(offsets) > 0].tolist():
            made[at] = "I" + made[at][1:] if made[at].startswith("B-") else made[at]
    return pa.array(made, pa.string())


Allowed = tuple[Bools, Bools, Bools]


def allowed(names: Sequence[str], encoding: str) -> Allowed:
    """What may follow what: transitions (k, k) [from, to], what may begin (k,) and what may end (k,) a sentence.

    Tags that are not of the encoding may stand anywhere.

    >>> follows, first, last = allowed(["B-X", "I-X", "O"], "bio")
    >>> follows[2].tolist(), first.tolist()
    ([True, False, True], [True, False, True])
    """
    _known(encoding)
    letters, kinds, _ = _parts(names)
    same = kinds[:, None] == kinds[None, :]
    within = np.isin(letters, (B, I))
    goes_on = np.isin(letters, (I, E))
    if encoding == "iob1":
        marked = letters == B
        follows = ~marked[None, :] | ((letters != O)[:, None] & same)
        return follows, ~marked, np.ones(len(names), bool)
    if encoding == "bio":
        return ~goes_on[None, :] | (within[:, None] & same), ~goes_on, np.ones(len(names), bool)
    follows = np.where(within[:, None], goes_on[None, :] & same, ~goes_on[None, :])
    return follows, ~goes_on, ~within


def _parts(names: Sequence[str]) -> tuple[Ints, Ints, tuple[str, ...]]:
    """Letter and type of each tag; what is no encoded tag is outside."""
    split = [name.partition("-") for name in names]
    letters = np.array([_LETTERS.get(letter, O) for letter, _, _ in split], np.int32)
    of = [kind if letter else None for letter, (_, _, kind) in zip(letters.tolist(), split, strict=True)]
    types = tuple(sorted({kind for kind in of if kind is not None}))
    number = {kind: i for i, kind in enumerate(types)}
    return letters, np.array([-1 if kind is None else number[kind] for kind in of], np.int32), types


def _codes(tags: pa.Array | Sequence[str | None]) -> tuple[Ints, list[str]]:
    array = tags if isinstance(tags, pa.Array) else pa.array(list(tags), pa.string())
    encoded = array.fill_null(OUTSIDE).dictionary_encode()
    codes: Ints = encoded.indices.to_numpy()
    return codes, encoded.dictionary.to_pylist()


def _known(encoding: str) -> None:
    if encoding not in ENCODINGS:
        raise UsageError(f"encoding={encoding!r} is not known; take one of {', '.join(ENCODINGS)}.")
