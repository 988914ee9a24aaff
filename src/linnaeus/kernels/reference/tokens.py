"""Texts to tokens: what each tokenizer means, character by character.

`words`       letters, numbers, underscores and marks; an apostrophe between two of them and a point or comma between
              two digits belong to the word; a symbol outside ASCII is a word of its own; scripts written without spaces
              give every two neighbors, a lone character itself.
`scikit`      two or more word characters of regular expressions: the default pattern of scikit-learn.
`whitespace`  what stands between white space.
`edges`       those of `words`, where there are any, between two marks: zero bytes, which no word holds.
`characters`  each character; `bytes`: each byte of the UTF-8 form.

`census` counts the characters, the words and the different words of many texts: the twin of census.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np

from linnaeus.kernels.hashes import MASK, mix
from linnaeus.kernels.plan import AMPERSAND, EDGE, INVALID, NOT_ASCII, SUSPECT, TOKENIZERS, UNITS, checked
from linnaeus.kernels.reference.characters import DIGIT, MARK, SYMBOL, UNSPACED, WORD, classify, suspect
from linnaeus.kernels.reference.rows import misfit, refuse
from linnaeus.types import Bytes, Longs, Words64, offsets_of

Spans: TypeAlias = list[tuple[int, int]]
T = TypeVar("T")

PATTERNS = {TOKENIZERS["scikit"]: re.compile(r"\b\w\w+\b"), TOKENIZERS["whitespace"]: re.compile(r"\S+")}


def change_case(text: str, case: int) -> str:
    """The text as it is, in lower case, or case folded."""
    return (text, text.lower(), text.casefold())[case] if case else text


def split(text: str, tokenizer: int) -> Spans:
    """The character spans of the tokens of a text whose case is changed already; `bytes` gives those of characters."""
    if tokenizer in PATTERNS:
        return [match.span() for match in PATTERNS[tokenizer].finditer(text)]
    if tokenizer in (TOKENIZERS["words"], TOKENIZERS["edges"]):
        return _words(text)
    return [(i, i + 1) for i in range(len(text))]


def edged(tokens: list[T], before: T, after: T) -> list[T]:
    """The tokens between two marks, where there are any."""
    return [before, *tokens, after] if tokens else tokens


def _words(text: str) -> Spans:
    kinds = [classify(char) for char in text]
    found: Spans = []
    i = 0
    while i < len(text):
        if kinds[i] & UNSPACED:
            i = _unspaced(kinds, i, found)
        elif kinds[i] & WORD:
            end = _word_end(text, kinds, i)
            found.append((i, end))
            i = end
        else:
            if kinds[i] & SYMBOL:
                found.append((i, i + 1))
            i += 1
    return found


def _word_end(text: str, kinds: list[int], i: int) -> int:
    while i < len(text):
        if kinds[i] & (WORD | MARK) and not kinds[i] & UNSPACED:
            i += 1
            continue
        after = kinds[i + 1] if i + 1 < len(text) and not kinds[i + 1] & UNSPACED else 0
        quoted = text[i] in "'\u2019" and after & WORD
        numeric = text[i] in ".," and kinds[i - 1] & DIGIT and after & DIGIT
        if not (quoted or numeric):
            break
        i += 1
    return i


def _unspaced(kinds: list[int], start: int, found: Spans) -> int:
    end = start
    while end < len(kinds) and kinds[end] & UNSPACED:
        end += 1
    if end == start + 1:
        found.append((start, end))
    found.extend((i, i + 2) for i in range(start, end - 1))
    return end


def texts_of(data: Bytes, offsets: Longs) -> list[str]:
    """The texts as strings; invalid bytes become U+FFFD."""
    return [piece.decode("utf-8", "replace") for piece in pieces_of(data, offsets)]


def pieces_of(data: Bytes, offsets: Longs) -> list[bytes]:
    """The texts as bytes, where no offset leads out of them."""
    refuse(misfit(offsets, len(data)), "the offsets do not fit the text")
    raw = data.tobytes()
    return [raw[a:b] for a, b in pairwise(offsets.tolist())]


def tokens_of(text: str, case: int, tokenizer: int) -> list[bytes]:
    """The tokens of one text in UTF-8."""
    text = change_case(text, case)
    if tokenizer == 4:
        raw = text.encode()
        return [raw[i : i + 1] for i in range(len(raw))]
    found = [text[start:end].encode() for start, end in split(text, tokenizer)]
    return edged(found, EDGE.encode(), EDGE.encode()) if tokenizer == TOKENIZERS["edges"] else found


def join(pieces: list[bytes]) -> tuple[Bytes, Longs]:
    """Byte strings as one array and the offsets into it."""
    return np.frombuffer(b"".join(pieces), np.uint8), offsets_of([len(piece) for piece in pieces])


def pack_texts(texts: list[str], make: Callable[[int], Bytes], _threads: int) -> tuple[Bytes, Longs]:
    """Strings as one buffer of UTF-8, which `make` makes for so many bytes, and the offsets into it."""
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("pack_texts: every text must be a string")
    joined, offsets = join([text.encode() for text in texts])
    data = make(len(joined))
    data[:] = joined
    return data, offsets


def tokens(data: Bytes, offsets: Longs, case: int, tokenizer: int) -> tuple[Bytes, Longs, Longs]:
    """The bytes of all tokens, offsets of the tokens in them, offsets of the rows among the tokens."""
    checked((UNITS["words"], case, tokenizer, 1, 1, 0))
    rows = [tokens_of(text, case, tokenizer) for text in texts_of(data, offsets)]
    return *join([token for row in rows for token in row]), offsets_of([len(row) for row in rows])


def flag_texts(data: Bytes, offsets: Longs, _threads: int) -> Bytes:
    """For each text, bits: 1 something outside ASCII, 2 NFC may change it, 4 an ampersand, 8 invalid UTF-8."""
    return np.array([_flags(piece) for piece in pieces_of(data, offsets)], np.uint8)


def _flags(raw: bytes) -> int:
    flags = AMPERSAND if b"&" in raw else 0
    if raw.isascii():
        return flags
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text, flags = raw.decode("utf-8", "replace"), flags | INVALID
    return flags | NOT_ASCII | (SUSPECT if any(suspect(char) for char in set(text)) else 0)


CODES = 0x110000


class _Marks(dict[int, str]):
    """What becomes of each code point: words end up in lower case with spaces around them."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        bits = classify(char)
        image = char.lower() if bits & (WORD | MARK) else " "
        self[code] = f" {image} " if bits & UNSPACED else image
        return self[code]


def census(data: Bytes, offsets: Longs, _threads: int) -> tuple[Words64, Longs, Words64]:
    """How often each code point occurs, the words of each text, and the hashes of the different words, ascending.

    A word is a run of letters, numbers, underscores and marks in lower case; in scripts written without spaces each
    character is one. Bytes that are no UTF-8 are counted behind the last code point.
    """
    characters = np.zeros(CODES + 1, np.uint64)
    words = np.zeros(len(offsets) - 1, np.int64)
    vocabulary: set[str] = set()
    marks = _Marks()
    for i, piece in enumerate(pieces_of(data, offsets)):
        text = piece.decode("utf-8", "surrogateescape")
        _count(text, characters)
        found = [word for word in text.translate(marks).split(" ") if word]
        words[i] = len(found)
        vocabulary.update(found)
    return characters, words, np.unique(mix(np.array([_hash(word) for word in vocabulary], np.uint64)))


def _count(text: str, characters: Words64) -> None:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    found, counts = np.unique(codes, return_counts=True)
    # UTF-8 has no surrogates: each one here stands for a byte that could not be decoded.
    bad = (found >= 0xD800) & (found < 0xE000)
    characters[found[~bad]] += counts[~bad].astype(np.uint64)
    characters[CODES] += np.uint64(counts[bad].sum())


@lru_cache(maxsize=65536)
def _hash(word: str) -> int:
    value = 0xCBF29CE484222325
    for byte in word.encode():
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value
