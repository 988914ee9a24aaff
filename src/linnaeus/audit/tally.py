"""What one pass over the rows counts: lengths, labels, scripts of the letters, and signs of wrong decoding.

Labels are classes, label sets or numbers; numbers are summed up by quantiles and a histogram.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linnaeus import kernels
from linnaeus.audit.near import Near, Sketches
from linnaeus.audit.records import Share, Spread, Summary
from linnaeus.data.batch import Batch
from linnaeus.errors import DataError
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.text import as_texts
from linnaeus.types import AnyInts, Array, Bools, Doubles, Longs, Words64

# The first word of a character's name is its script, but for these.
_SCRIPTS = {"CJK": "Han", "KANGXI": "Han", "IDEOGRAPHIC": "Han", "FEMININE": "Latin", "MASCULINE": "Latin"}
_SCRIPTS |= {"MICRO": "Greek", "OHM": "Greek", "KELVIN": "Latin", "ANGSTROM": "Latin"}
_WIDTHS = ("FULLWIDTH", "HALFWIDTH")
_NO_SCRIPT = ("MATHEMATICAL", "MODIFIER", "DOUBLE-STRUCK", "SCRIPT", "BLACK-LETTER", "INFORMATION", "ALEF", "BET")
_TWO_WORDS = ("OLD", "NEW", "TAI", "OL", "LINEAR", "CANADIAN", "MEETEI", "SYLOTI", "SORA", "PAHAWH", "NYIAKENG")

# U+FFFD, NUL, C1 controls (Windows-1252 read as Latin-1), and the usual faces of UTF-8 read as Latin-1 or
# Windows-1252: a lead byte shown as a letter, its continuation as a symbol.
_SIGNS = "|".join(
    (
        "\ufffd",
        "\\x00",
        "[\\x{80}-\\x{9f}]",
        "[ÂÃ][\\x{a0}-\\x{bf}]",
        "Ã[‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]",
        "â€|â\\x{80}|ï»¿",
        "(?:[ÐÑ][\\x{a0}-\\x{bf}]){2}",
    )
)
_PATTERN = re.compile(re.sub(r"\\x\{(..)\}", r"\\x\1", _SIGNS))
_TRIGGERS = np.array([0xFFFD, 0x00, *range(0x80, 0xA0), *map(ord, "ÂÃÐÑâï")])

AROUND = 20
"""The number of characters before a sign in its excerpt."""


def script_of(char: str) -> str | None:
    """The script of a letter, None for anything else.

    >>> [script_of(char) for char in "aя中ｱ7"]
    ['Latin', 'Cyrillic', 'Han', 'Katakana', None]
    """
    if unicodedata.category(char)[0] != "L":
        return None
    words = unicodedata.name(char, "").split()
    if words and words[0] in _WIDTHS:
        words = words[1:]
    if not words or words[0] in _NO_SCRIPT:
        return None
    name = " ".join(words[:2]) if words[0] in _TWO_WORDS else words[0].split("-")[0]
    return _SCRIPTS.get(name, name.title())


def scripts(counts: Words64) -> tuple[Share, ...]:
    """The scripts of all letters, the most frequent first, from how often each code point occurs."""
    totals: dict[str, int] = {}
    for code in np.flatnonzero(counts[:0x110000]).tolist():
        script = script_of(chr(code))
        if script:
            totals[script] = totals.get(script, 0) + int(counts[code])
    letters = sum(totals.values())
    ranked = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Share(name, count, count / letters) for name, count in ranked)


def excerpt(text: str) -> str:
    """The first sign of wrong decoding with some characters around it."""
    at = _PATTERN.search(text)
    start = max(0, at.start() - AROUND) if at else 0
    return text[start : start + 3 * AROUND]


def damaged(text: pa.Array, counts: Words64) -> Bools:
    """Which texts show signs of wrong decoding; the counts of their characters spare most batches the search."""
    if not counts[_TRIGGERS].any():
        return np.zeros(len(text), bool)
    found = pc.match_substring_regex(text, pattern=_SIGNS)
    return np.asarray(found.to_numpy(zero_copy_only=False), bool)


BINS = 12


def lengths(values: AnyInts) -> Spread | None:
    """The spread of lengths, with a histogram over 0, 1, 2, 5, 10, 20, 50 ...; None if there are none.

    >>> lengths(np.array([0, 3, 4, 7])).counts
    (1, 0, 2, 1)
    """
    if len(values) == 0:
        return None
    edges = [0, 1]
    while edges[-1] <= values.max():
        edges.append(edges[-1] * 5 // 2 if str(edges[-1])[0] == "2" else edges[-1] * 2)
    return _spread(values, np.array(edges, np.float64))


def numbers(values: Doubles) -> Spread | None:
    """The spread of real numbers, with bins of equal width; what is not finite is left out."""
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return None
    low, high = float(values.min()), float(values.max())
    # The upper edge lies beyond the largest number, so that every bin can exclude its own.
    edges = np.linspace(low, np.nextafter(high, np.inf), BINS + 1) if high > low else np.array([low, low + 1])
    return _spread(values, edges)


def _spread(values: Array, edges: Doubles) -> Spread:
    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(bins, minlength=len(edges) - 1)
    middle, high = np.quantile(values, [0.5, 0.95])
    return Spread(
        smallest=float(values.min()),
        median=float(middle),
        mean=float(values.mean(dtype=np.float64)),
        high=float(high),
        largest=float(values.max()),
        edges=tuple(edges.tolist()),
        counts=tuple(counts.tolist()),
    )


MISSING = -1
_SEPARATOR = "\x1f"  # the unit separator of ASCII: no label has it


class LabelBook:
    """Codes for labels, shared by the data sets that are compared.

    >>> book = LabelBook()
    >>> book.encode(pa.array(["spam", "ham", "spam"])).tolist(), book.names(0)
    ([0, 1, 0], ('spam',))
    """

    def __init__(self) -> None:
        self._codes: dict[tuple[str, ...], int] = {}
        self._names: list[tuple[str, ...]] = []

    def encode(self, labels: pa.Array) -> Longs:
        """The code of each row; MISSING where there is no label."""
        key: Callable[[str], tuple[str, ...]] = _one
        if _is_many(labels.type):
            labels, key = pc.binary_join(labels.cast(pa.list_(pa.string())), _SEPARATOR), _many
        encoded = labels.dictionary_encode()
        known = [self._code(key(value)) for value in encoded.dictionary.to_pylist()]
        at = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
        return np.array([*known, MISSING], np.int64)[at]

    def names(self, code: int) -> tuple[str, ...]:
        """The labels behind a code, sorted; none for a row without."""
        return () if code == MISSING else self._names[code]

    def show(self, code: int) -> str | None:
        """The labels behind a code for people, None for a row without."""
        return None if code == MISSING else ", ".join(self._names[code]) or "(none)"

    def _code(self, key: tuple[str, ...]) -> int:
        if key not in self._codes:
            self._codes[key] = len(self._names)
            self._names.append(key)
        return self._codes[key]


def kind_of(labels: pa.Array | None) -> str:
    """How rows are labeled: one, many, numeric or none."""
    if labels is None:
        return "none"
    if _is_many(labels.type):
        return "many"
    return "numeric" if pa.types.is_floating(labels.type) or pa.types.is_integer(labels.type) else "one"


def label_table(book: LabelBook, codes: Longs) -> tuple[Share, ...]:
    """How many rows have each label, the most frequent first."""
    counts: Counter[str] = Counter()
    found, times = np.unique(codes[codes != MISSING], return_counts=True)
    for code, count in zip(found.tolist(), times.tolist(), strict=True):
        counts.update(dict.fromkeys(book.names(code), count))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Share(name, count, count / len(codes)) for name, count in ranked)


def label_numbers(book: LabelBook, codes: Longs) -> Spread | None:
    """The spread of numeric labels."""
    found, times = np.unique(codes[codes != MISSING], return_counts=True)
    values = np.array([float(book.names(code)[0]) for code in found.tolist()], np.float64)
    return numbers(np.repeat(values, times))


def _is_many(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _one(value: str | float) -> tuple[str, ...]:
    return (value if isinstance(value, str) else repr(value),)


def _many(joined: str) -> tuple[str, ...]:
    # A set of labels has no order and no repetition, and it may be empty.
    return tuple(sorted(set(joined.split(_SEPARATOR)))) if joined else ()


HEAD = 60
"""The number of characters of each text that are kept for examples."""

EXCERPTS = 100
"""The number of wrongly decoded places that are kept for examples."""

CODES = 0x110000


@dataclass(frozen=True, slots=True)
class Ledger:
    """What is kept of each row, about 250 bytes for any length: columns of one length, and the summary."""

    summary: Summary
    exact: Words64
    folded: Words64
    labels: Longs
    empty: Bools
    damaged: Bools
    sketches: Sketches
    heads: pa.ChunkedArray
    excerpts: dict[int, str]

    def __len__(self) -> int:
        return len(self.labels)

    def head(self, row: int) -> str:
        """The beginning of a text."""
        return str(self.heads[row].as_py()) if len(self.heads) else ""


@dataclass(slots=True)
class Tally:
    """The ledger while it is written, batch by batch."""

    near: Near
    book: LabelBook
    kind: str = "none"
    rows: int = 0
    bytes: int = 0
    columns: dict[str, list[Array]] = field(default_factory=dict)
    characters: Words64 = field(default_factory=lambda: np.zeros(CODES + 1, np.uint64))
    excerpts: dict[int, str] = field(default_factory=dict)
    vocabulary: list[Words64] = field(default_factory=lambda: [np.zeros(0, np.uint64)])

    def add(self, batch: Batch) -> None:
        """Take in the next rows."""
        rows = len(batch)
        if batch.labels is not None:
            self.kind = kind_of(batch.labels)
            self._put(labels=self.book.encode(batch.labels))
        else:
            self._put(labels=np.full(rows, MISSING, np.int64))
        if batch.text is not None:
            self._add_text(batch.text)
        self.rows += rows

    def _add_text(self, text: pa.Array) -> None:
        texts, threads = as_texts(text), kernels.thread_count()
        characters, words, vocabulary = kernels.census(texts.data, texts.offsets, threads)
        if characters[CODES]:
            raise DataError(f"The texts after row {self.rows} contain bytes that are not UTF-8; decode them again.")
        sketches = self.near.sketch(texts)
        length = pc.utf8_length(text).to_numpy(zero_copy_only=False)
        blank = pc.utf8_is_space(text).to_numpy(zero_copy_only=False).astype(bool) | (length == 0)
        broken = damaged(text, characters)
        for row in np.flatnonzero(broken)[: max(0, EXCERPTS - len(self.excerpts))].tolist():
            self.excerpts[self.rows + row] = excerpt(text[row].as_py())
        self._put(
            exact=kernels.fingerprint(texts.data, texts.offsets, threads),
            folded=kernels.fingerprint_folded(texts.data, texts.offsets, threads),
            characters=length.astype(np.int64),
            words=words,
            empty=blank,
            damaged=broken,
            bits=sketches.bits,
            keys=sketches.keys,
            heads=pc.utf8_slice_codeunits(text, 0, HEAD).cast(pa.large_string()),
        )
        self.characters += characters
        self._learn(vocabulary)
        self.bytes += int(texts.offsets[-1] - texts.offsets[0])

    def _learn(self, words: Words64) -> None:
        """Join the known words only when as many new ones wait, so that each is sorted a few times at most."""
        self.vocabulary.append(words)
        if sum(map(len, self.vocabulary[1:])) > len(self.vocabulary[0]):
            self.vocabulary = [np.unique(np.concatenate(self.vocabulary))]

    def _put(self, **columns: Array) -> None:
        for name, values in columns.items():
            self.columns.setdefault(name, []).append(values)

    def _take(self, name: str, like: Array) -> Array:
        """A column whole; its pieces are let go, so that memory holds no column twice."""
        return np.concatenate([like, *self.columns.pop(name, [])])

    def close(self) -> Ledger:
        """The whole ledger."""
        labels = self._take("labels", np.zeros(0, np.int64))
        hashes = self.near.bands * self.near.band_rows
        return Ledger(
            summary=self._summary(labels),
            exact=self._take("exact", np.zeros(0, np.uint64)),
            folded=self._take("folded", np.zeros(0, np.uint64)),
            labels=labels,
            empty=self._take("empty", np.zeros(0, bool)),
            damaged=self._take("damaged", np.zeros(0, bool)),
            sketches=Sketches(
                self._take("bits", np.zeros((0, hashes), np.uint8)),
                self._take("keys", np.zeros((0, self.near.bands), np.uint32)),
            ),
            heads=pa.chunked_array(self.columns.pop("heads", []), pa.large_string()),
            excerpts=self.excerpts,
        )

    def _summary(self, labels: Longs) -> Summary:
        numeric = self.kind == "numeric"
        return Summary(
            rows=self.rows,
            bytes=self.bytes,
            label_kind=self.kind,
            labels=() if numeric else label_table(self.book, labels),
            numbers=label_numbers(self.book, labels) if numeric else None,
            characters=lengths(self._take("characters", np.zeros(0, np.int64))),
            words=lengths(self._take("words", np.zeros(0, np.int64))),
            vocabulary=len(np.unique(np.concatenate(self.vocabulary))),
            scripts=scripts(self.characters),
        )


def tally(stream: Stream, near: Near, book: LabelBook) -> Ledger:
    """Read a data set once."""
    tally = Tally(near, book)
    for batch in stream.batches():
        tally.add(batch)
    return tally.close()
