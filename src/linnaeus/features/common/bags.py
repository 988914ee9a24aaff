"""Texts as bags of words: each distinct word once, so that whatever is asked of a word is asked once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.text import as_texts
from linnaeus.text.buffers import as_arrow

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy.sparse import csr_matrix

    from linnaeus.text import Analysis


def bag(text: pa.Array, analysis: Analysis) -> tuple[list[str], csr_matrix]:
    """The distinct words of these texts, and how often each stands in each text (n, words), for a product.

    Repeated words are not summed up yet: a row of the matrix has an entry for each of its tokens.

    >>> import pyarrow as pa; from linnaeus.text import Analysis
    >>> words, counts = bag(pa.array(["to be or not to be", "be"]), Analysis())
    >>> words, counts.toarray().tolist()
    (['to', 'be', 'or', 'not'], [[2.0, 2.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0]])
    """
    from scipy.sparse import csr_matrix

    tokens, rows = analysis.tokenize(as_texts(text))
    encoded = as_arrow(tokens).dictionary_encode()
    words: list[str] = encoded.dictionary.to_pylist()
    numbers = encoded.indices.to_numpy(zero_copy_only=False)
    return words, csr_matrix((np.ones(len(numbers)), numbers, rows), shape=(len(text), len(words)))
