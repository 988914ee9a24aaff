"""A fixed list of words as a probe table: numbers of tokens, looked up once for each distinct one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.frozen import dataclass
from linnaeus.text.buffers import as_texts

if TYPE_CHECKING:
    from linnaeus.types import Ints, Words64

Spell = Callable[[int], str]

AS_IT_IS = np.array([[0, 0, 0, 1]], np.int32)
OR_LOWERED = np.array([[0, 0, 0, 1], [1, 0, 0, 1]], np.int32)
LOWERED = np.array([[1, 0, 0, 1]], np.int32)


@dataclass(frozen=True, eq=False)
class WordList:
    """Words, each once, numbered in order."""

    words: pa.Array

    @cached_property
    def _slots(self) -> Words64:
        texts = as_texts(self.words)
        keys = kernels.form_keys((texts.data, texts.offsets), AS_IT_IS, kernels.thread_count())
        return kernels.probe_pairs(keys.ravel(), np.arange(len(texts), dtype=np.int32), 0)

    def find(self, tokens: pa.Array, forms: Ints) -> Ints:
        """The number of each token in one of these forms, the first that is known; -1 for none.

        >>> WordList(pa.array(["a", "Dog"])).find(pa.array(["A", "Dog", "dog"]), OR_LOWERED).tolist()
        [0, 1, -1]
        """
        encoded = tokens.dictionary_encode()
        texts = as_texts(encoded.dictionary)
        found = kernels.form_ids((texts.data, texts.offsets), forms, self._slots, kernels.thread_count())
        best = found[:, 0] if found.shape[1] == 1 else np.where(found[:, 0] >= 0, found[:, 0], found[:, 1])
        numbers: Ints = best[encoded.indices.to_numpy()] if len(tokens) else np.zeros(0, np.int32)
        return numbers


def encoded(codes: Ints, spell: Spell) -> pa.DictionaryArray:
    """Numbers as strings, each distinct one spelled once; those below 0 are null.

    >>> encoded(np.array([3, -1, 3], np.int32), str).to_pylist()
    ['3', None, '3']
    """
    distinct, numbers = np.unique(codes, return_inverse=True)
    there = np.packbits(codes >= 0, bitorder="little")
    buffers = [pa.py_buffer(there), pa.py_buffer(np.ascontiguousarray(numbers.ravel(), np.int32))]
    words = pa.array([spell(code) if code >= 0 else "" for code in distinct.tolist()], pa.large_string())
    return pa.DictionaryArray.from_arrays(pa.Array.from_buffers(pa.int32(), len(codes), buffers), words)
