"""Sentences: tokens with tags and other columns, as flat Arrow arrays with offsets.

`Sentences.from_lists` takes lists of tokens, `read_sentences` of `data/sentence_reading.py` reads files and tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain, pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from linnaeus.data.arrow import as_numpy, holds_nul, text_column
from linnaeus.errors import DataError, InputTypeError
from linnaeus.frozen import dataclass
from linnaeus.types import Label, Longs, groups, offsets_of, stretches

Lists = Sequence[Sequence[str]]
Made = tuple[pa.Array, "Longs"]
Change = Callable[[pa.Array], pa.Array]


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """n sentences of m tokens in all: sentence i has the tokens `offsets[i]` to `offsets[i+1]`.

    `tags` and each of `columns` have one string per token (null: unknown there), `docs` one per sentence. A sentence
    may be empty; a token is never null. `tag_name` is what the tags were called where they were read.

    >>> two = Sentences.from_lists([["a", "dog", "barks"], ["no"]], [["DET", "NOUN", "VERB"], ["X"]])
    >>> len(two), two.count, two.offsets.tolist(), two.tags[1].as_py()
    (2, 4, [0, 3, 4], 'NOUN')
    >>> two.take([1, 0]).lists()
    [['no'], ['a', 'dog', 'barks']]
    """

    offsets: Longs
    tokens: pa.Array
    tags: pa.Array | None = None
    columns: Mapping[str, pa.Array] = field(default_factory=dict)
    docs: pa.Array | None = None
    tag_name: str = "tags"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def count(self) -> int:
        """How many tokens there are (m)."""
        return int(self.offsets[-1] - self.offsets[0])

    @classmethod
    def from_lists(
        cls, tokens: Lists, tags: Lists | None = None, columns: Mapping[str, Lists] | None = None
    ) -> Sentences:
        """From a list of tokens per sentence, a list of tags per sentence, and further columns of the same shape.

        >>> Sentences.from_lists([["a", "b"]], [["X"]])
        Traceback (most recent call last):
        linnaeus.errors.DataError: sentence 1: has 2 tokens but 1 tags; give each token one.
        """
        words = _flat("tokens", tokens)
        beside = {name: _beside(name, lists, words) for name, lists in (columns or {}).items()}
        return assembled(words, None if tags is None else ("tags", _beside("tags", tags, words)), beside)

    def take(self, rows: ArrayLike | slice) -> Sentences:
        """The chosen sentences, in this order; choose as in a NumPy array (numbers, a mask, a slice)."""
        offsets, at, chosen = groups(self.offsets, rows if isinstance(rows, slice) else np.asarray(rows))
        tokens, sentences = pa.array(at), pa.array(chosen)
        return self._with(offsets, lambda column: column.take(tokens), lambda column: column.take(sentences))

    def slice(self, start: int, stop: int) -> Sentences:
        """The sentences from start to stop, stop excluded, without copying text."""
        start, stop, _ = slice(start, stop).indices(len(self))
        stop = max(start, stop)
        first, last = int(self.offsets[start]), int(self.offsets[stop])
        return self._with(
            self.offsets[start : stop + 1] - first,
            lambda column: column.slice(first, last - first),
            lambda column: column.slice(start, stop - start),
        )

    def batches(self, tokens: int) -> Iterator[Sentences]:
        """Slices of about this many tokens, each with at least one sentence."""
        for start, stop in stretches(np.diff(self.offsets), tokens):
            yield self.slice(start, stop)

    def column(self, name: str) -> pa.Array:
        """A column by name; `word` gives the tokens."""
        if name == "word":
            return self.tokens
        if name not in self.columns:
            known = ", ".join(map(repr, self.columns)) or "none"
            raise DataError(
                f"the sentences have no column {name!r}, they have {known}; add the column, or "
                "use a pipeline in which an earlier stage makes it."
            )
        return self.columns[name]

    def with_column(self, name: str, values: pa.Array) -> Sentences:
        """The same sentences with this column added or replaced: one string for each token."""
        if len(values) != self.count:
            raise DataError(f"column {name!r} has {len(values)} values for {self.count} tokens; give each token one.")
        return replace(self, columns={**self.columns, name: values})

    def with_tags(self, tags: pa.Array | None) -> Sentences:
        """The same sentences with these tags, or with no tags."""
        if tags is not None and len(tags) != self.count:
            raise DataError(f"there are {len(tags)} tags for {self.count} tokens; give each token one.")
        return replace(self, tags=tags)

    def without_tags(self) -> Sentences:
        """The same sentences with the tags as one of their columns.

        >>> Sentences.from_lists([["a"]], [["DET"]]).without_tags().columns["tags"].to_pylist()
        ['DET']
        """
        return self if self.tags is None else self.with_column(self.tag_name, self.tags).with_tags(None)

    def lists(self, values: pa.Array | Sequence[Label] | None = None) -> list[list[Label]]:
        """The tokens, or the values of another column, as one list for each sentence."""
        flat = self.tokens if values is None else values
        flat = flat.to_pylist() if isinstance(flat, pa.Array) else list(flat)
        bounds = self.offsets.tolist()
        return [flat[a:b] for a, b in pairwise(bounds)]

    def _with(self, offsets: Longs, tokens: Change, sentences: Change) -> Sentences:
        """Other offsets, and a change of each column with a value per token, and of that with one per sentence."""
        return Sentences(
            offsets,
            tokens(self.tokens),
            None if self.tags is None else tokens(self.tags),
            {name: tokens(column) for name, column in self.columns.items()},
            None if self.docs is None else sentences(self.docs),
            self.tag_name,
        )


def join(parts: Sequence[Sentences]) -> Sentences:
    """Concatenate the parts, which must have the same columns."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    return Sentences(
        offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        _joined([part.tokens for part in parts]),
        None if first.tags is None else _joined([part.tags for part in parts if part.tags is not None]),
        {name: _joined([part.columns[name] for part in parts]) for name in first.columns},
        None if first.docs is None else _joined([part.docs for part in parts if part.docs is not None]),
        first.tag_name,
    )


def _joined(arrays: Sequence[pa.Array]) -> pa.Array:
    return pa.concat_arrays([array.cast(pa.large_string()) for array in arrays])


def _flat(name: str, lists: Lists) -> Made:
    """Lists of strings as one array and offsets."""
    if isinstance(lists, (str, bytes)) or not isinstance(lists, Sequence | np.ndarray):
        raise InputTypeError(f"{name} are one {type(lists).__name__}; give a list of lists of strings.")
    odd = next((i for i, row in enumerate(lists) if isinstance(row, str) or not hasattr(row, "__len__")), None)
    if odd is not None:
        kind = type(lists[odd]).__name__
        raise InputTypeError(f"sentence {odd + 1}: its {name} are one {kind} where a list of strings is wanted.")
    offsets = offsets_of([len(row) for row in lists])
    flat = list(chain.from_iterable(lists))
    try:
        return _packed(flat), offsets
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as error:
        raise _wrong_cell(name, flat, offsets) from error


def _packed(flat: list[Label]) -> pa.Array:
    try:
        return text_column(flat)
    except TypeError:
        return pa.array(flat, pa.large_string())


def _wrong_cell(name: str, flat: list[Label], offsets: Longs) -> InputTypeError | DataError:
    """The error for the first cell that is no text."""
    for i, cell in enumerate(flat):
        where = f"sentence {int(np.searchsorted(offsets, i, side='right'))}"
        if cell is not None and not isinstance(cell, str):
            return InputTypeError(f"{where}: {cell!r} among its {name} is {type(cell).__name__}, not a string.")
        if isinstance(cell, str) and any("\ud800" <= char <= "\udfff" for char in cell):
            return DataError(f"{where}: {cell!r} among its {name} holds half a surrogate pair; correct the text.")
    return DataError(f"the {name} do not fit into one column of text; give strings.")


def _beside(name: str, lists: Lists, words: Made) -> Made:
    """Strings that stand beside the tokens, in as many sentences."""
    found = _flat(name, lists)
    if len(found[1]) != len(words[1]):
        raise DataError(f"there are {len(found[1]) - 1} sentences of {name} for {len(words[1]) - 1} of tokens.")
    return found


def assembled(
    tokens: Made,
    tags: tuple[str, Made] | None,
    beside: Mapping[str, Made],
    place: Callable[[int], str] = lambda i: f"sentence {i + 1}",
) -> Sentences:
    """Sentences of tokens, of tags with their name, and of columns beside them, if each token has one value.

    A null token is refused, and a tag with a NUL character, which NumPy would confuse with others. `place` says in
    errors where a sentence stands.
    """
    words, offsets = tokens
    if words.null_count:
        at = int(np.flatnonzero(as_numpy(words.is_null()))[0])
        i = int(np.searchsorted(offsets, at, side="right")) - 1
        raise DataError(f"{place(i)}: token {at - int(offsets[i]) + 1} is null; leave it out, or fill it in.")
    wanted = np.diff(offsets)
    for name, (_, bounds) in [*([tags] if tags else []), *beside.items()]:
        found = np.diff(bounds)
        if (wanted != found).any():
            i = int(np.flatnonzero(wanted != found)[0])
            raise DataError(f"{place(i)}: has {wanted[i]} tokens but {found[i]} {name}; give each token one.")
    told = tags[1][0] if tags else None
    if told is not None and (odd := holds_nul(told)).any():
        at = int(np.flatnonzero(odd)[0])
        i = int(np.searchsorted(offsets, at, side="right")) - 1
        raise DataError(f"{place(i)}: the tag {told[at].as_py()!r} holds a NUL character; correct it.")
    columns = {name: values for name, (values, _) in beside.items()}
    return Sentences(offsets, words, told, columns, tag_name=tags[0] if tags else "tags")
