"""Sentences as numbers of distinct words: what is done with a word is done once for each distinct one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.frozen import dataclass
from linnaeus.text.buffers import as_texts

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.types import Ints, Longs, Texts


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Sentences for the kernels: offsets (n+1), the word of each source and token (s, m), each source's words.

    Words are numbered over all sources; `firsts` (s+1) says where those of a source begin. -1 is no word.
    """

    offsets: Longs
    codes: Ints
    words: tuple[pa.Array, ...]
    firsts: Longs

    @property
    def arrays(self) -> tuple[Longs, Ints]:
        """As kernels take them."""
        return self.offsets, self.codes

    def texts(self, source: int) -> Texts:
        """The words of a source as the kernels read them."""
        return as_texts(self.words[source])


def code(sentences: Sentences, names: Sequence[str], pieces: Sequence[Any] = ()) -> Coded:
    """The columns of these names; `pieces` make those that sentences lack."""
    makers = {piece.name: piece for piece in pieces}
    codes: list[Ints] = []
    firsts, words = np.zeros(len(names) + 1, np.int64), []
    for i, name in enumerate(names):
        column = makers[name].column(sentences) if name in makers else sentences.column(name)
        encoded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
        words.append(encoded.dictionary)
        codes.append(_numbers(encoded.indices, int(firsts[i])))
        firsts[i + 1] = firsts[i] + len(encoded.dictionary)
    offsets = sentences.offsets if sentences.offsets[0] == 0 else sentences.offsets - sentences.offsets[0]
    table = codes[0].reshape(1, -1) if len(codes) == 1 else np.stack(codes)
    return Coded(np.ascontiguousarray(offsets), table, tuple(words), firsts)


def _numbers(indices: pa.Array, first: int) -> Ints:
    """The words' numbers, counted from `first`; null is -1."""
    if not indices.null_count:
        numbers: Ints = indices.to_numpy()
        return numbers if not first else numbers + np.int32(first)
    numbers = indices.fill_null(-1).to_numpy()
    return np.where(numbers < 0, np.int32(-1), numbers + np.int32(first))
