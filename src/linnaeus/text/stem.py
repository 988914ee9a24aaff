"""Stemming by Snowball (the extra `stem`): inflected words become one token; each distinct word is stemmed once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pyarrow as pa

from linnaeus.errors import MachineError, UsageError
from linnaeus.text.buffers import as_arrow, as_texts
from linnaeus.types import Texts


@lru_cache(maxsize=16)
def stemmer(language: str) -> Any:
    """The Snowball stemmer of a language, such as "english".

    >>> stemmer("english").stemWord("flies")
    'fli'
    """
    try:
        import snowballstemmer
    except ImportError as error:
        raise MachineError("Stemming needs the package snowballstemmer: pip install 'linnaeus[stem]'.") from error
    known = snowballstemmer.algorithms()
    if language not in known:
        raise UsageError(f"stem={language!r} is not a language of Snowball; choose one of {', '.join(sorted(known))}.")
    return snowballstemmer.stemmer(language)


def stem_rows(tokens: Texts, rows: Any, language: str) -> Texts:
    """Stem tokens, grouped into rows by offsets; a row becomes its stems, each followed by a space."""
    encoded = as_arrow(tokens).dictionary_encode()
    stem = stemmer(language).stemWord
    stems = pa.array([stem(word) + " " for word in encoded.dictionary.to_pylist()], pa.large_string())
    stemmed = as_texts(stems.take(encoded.indices))
    return Texts(stemmed.data, stemmed.offsets[rows])
