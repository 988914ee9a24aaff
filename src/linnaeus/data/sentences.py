"""Sentences: tokens with tags and other columns, as flat Arrow arrays with offsets.

`Sentences.from_lists` takes lists of tokens, `read_sentences` of `data/sentence_reading.py` reads files and tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.data.arrow import holds_nul, offsets_of
from linnaeus.errors import DataError, InputTypeError
from linnaeus.frozen import dataclass
from linnaeus.types import groups

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from linnaeus.types import Label, Longs

Lists = Sequence[Sequence[str]]
Made = tuple[pa.Array, "Longs"]
Change = Callable[[pa.Array], pa.Array]


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """n sentences of m tokens in all: sentence i has the tokens `offsets[i]` to `offsets[i+1]`.

    `tags` and each of `columns` have one string per token (null: unknown there), `docs` one per sentence. A sentence
    may be empty; a token is never null.

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
        values, offsets = _flat("tokens", tokens)
        if values.null_count:
            refuse_null(values, offsets)
        found = {name: _beside(name, lists, offsets) for name, lists in (columns or {}).items()}
        told = None if tags is None else _beside("tags", tags, offsets)
        if told is not None:
            refuse_nul(told, offsets)
        return cls(offsets, values, told, found)

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
        start = 0
        while start < len(self):
            most = int(np.searchsorted(self.offsets, self.offsets[start] + tokens, side="right")) - 1
            stop = min(max(most, start + 1), len(self))
            yield self.slice(start, stop)
            start = stop

    def column(self, name: str) -> pa.Array:
        """A column by name; `word` gives the tokens."""
        if name == "word":
            return self.tokens
        if name not in self.columns:
            known = ", ".join(map(repr, self.columns)) or "none"
            raise DataError(f"the sentences have no column {name!r}, they have {known}; add the column.")
        return self.columns[name]

    def with_column(self, name: str, values: pa.Array) -> Sentences:
        """The same sentences with this column added or replaced: one string for each token."""
        if len(values) != self.count:
            raise DataError(f"column {name!r} has {len(values)} values for {self.count} tokens; give each token one.")
        return Sentences(self.offsets, self.tokens, self.tags, {**self.columns, name: values}, self.docs)

    def with_tags(self, tags: pa.Array | None) -> Sentences:
        """The same sentences with these tags, or with no tags."""
        if tags is not None and len(tags) != self.count:
            raise DataError(f"there are {len(tags)} tags for {self.count} tokens; give each token one.")
        return Sentences(self.offsets, self.tokens, tags, self.columns, self.docs)

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
    """Strings by their bytes, where none is null: `pyarrow.array` takes longer, and loads pandas first."""
    try:
        data, bounds = kernels.pack_texts(flat, lambda size: np.empty(size, np.uint8), kernels.thread_count())
    except TypeError:
        return pa.array(flat, pa.large_string())
    return pa.Array.from_buffers(pa.large_string(), len(flat), [None, pa.py_buffer(bounds), pa.py_buffer(data)])


def _wrong_cell(name: str, flat: list[Label], offsets: Longs) -> InputTypeError | DataError:
    """The error for the first cell that is no text."""
    for i, cell in enumerate(flat):
        where = f"sentence {int(np.searchsorted(offsets, i, side='right'))}"
        if cell is not None and not isinstance(cell, str):
            return InputTypeError(f"{where}: {cell!r} among its {name} is {type(cell).__name__}, not a string.")
        if isinstance(cell, str) and any("\ud800" <= char <= "\udfff" for char in cell):
            return DataError(f"{where}: {cell!r} among its {name} holds half a surrogate pair; correct the text.")
    return DataError(f"the {name} do not fit into one column of text; give strings.")


def _beside(name: str, lists: Lists, offsets: Longs) -> pa.Array:
    """Strings that stand beside the tokens: as many per sentence."""
    values, bounds = _flat(name, lists)
    if len(bounds) != len(offsets):
        raise DataError(f"there are {len(bounds) - 1} sentences of {name} for {len(offsets) - 1} of tokens.")
    check_lengths("", name, np.diff(offsets), np.diff(bounds))
    return values


def check_lengths(where: str, name: str, wanted: Longs, found: Longs, rows: Sequence[int] | None = None) -> None:
    """Refuse a sentence whose number of values differs from its number of tokens; `rows` are rows of the file."""
    odd = np.flatnonzero(wanted != found)
    if len(odd):
        i = int(odd[0])
        raise DataError(f"{_place(where, i, rows)}: has {wanted[i]} tokens but {found[i]} {name}; give each token one.")


def refuse_null(values: pa.Array, offsets: Longs, where: str = "", rows: Sequence[int] | None = None) -> None:
    """The error for a null token."""
    at = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
    i = int(np.searchsorted(offsets, at, side="right")) - 1
    token = at - int(offsets[i]) + 1
    raise DataError(f"{_place(where, i, rows)}: token {token} is null; leave it out, or fill it in.")


def refuse_nul(tags: pa.Array, offsets: Longs, where: str = "", rows: Sequence[int] | None = None) -> None:
    """Refuse tags with a NUL character: NumPy would confuse them with others."""
    found = np.flatnonzero(holds_nul(tags))
    if len(found):
        i = int(np.searchsorted(offsets, found[0], side="right")) - 1
        raise DataError(
            f"{_place(where, i, rows)}: the tag {tags[found[0]].as_py()!r} holds a NUL character; correct it."
        )


def _place(where: str, sentence: int, rows: Sequence[int] | None) -> str:
    return f"{where}, row {rows[sentence]}" if rows is not None else f"sentence {sentence + 1}"
