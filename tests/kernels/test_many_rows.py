"""Rows in every number and shape: none, empty, a million of one character, crowded, slices of Arrow arrays."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest

from linnaeus import kernels
from linnaeus.kernels import Plan, reference
from linnaeus.text import as_texts
from linnaeus.text.buffers import pack

WORDS, INSIDE, ACROSS, SUBWORDS, SKIPS = range(5)
KEEP, LOWER, FOLD = range(3)
PLANS = [
    Plan(WORDS, FOLD, 0, 1, 2), Plan(WORDS, LOWER, 1, 2, 3), Plan(WORDS, KEEP, 4, 1, 1), Plan(INSIDE, LOWER, 2, 3, 5),
    Plan(ACROSS, FOLD, 2, 1, 4), Plan(SUBWORDS, FOLD, 0, 3, 6), Plan(SKIPS, FOLD, 0, 2, 2, 3),
]  # fmt: skip
each_plan = pytest.mark.parametrize("plan", PLANS, ids=[f"unit{p.unit}-tokenizer{p.tokenizer}" for p in PLANS])
each_hash = pytest.mark.parametrize(("bits", "signed"), [(1, False), (1, True), (20, True), (30, False), (30, True)])


def same(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, int):
        return a == b
    return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))


def texts(rows: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    packed = pack(rows)
    return packed.data, packed.offsets


def count(side: ModuleType, data: np.ndarray, offsets: np.ndarray, plan: Plan) -> tuple:
    counter = side.TermCounter(plan, False)
    counter.add(data, offsets, 2)
    return counter.finish(1, 2)


def index(side: ModuleType, data: np.ndarray, offsets: np.ndarray, plan: Plan, known: tuple, columns=None) -> tuple:
    """The rows of a vocabulary of single tokens."""
    token_bytes, token_offsets, documents = known[:3]
    width = len(documents) if columns is None else int(columns.max()) + 1
    columns = np.arange(len(documents), dtype=np.int32) if columns is None else columns
    pairs = side.probe_pairs(np.zeros(0, np.uint64), np.zeros(0, np.int32), 0)
    vocabulary = token_bytes, token_offsets, side.probe_tokens(token_bytes, token_offsets), columns, pairs
    return side.index_terms(data, offsets, plan, vocabulary, (width, -1), 2)


def everything(side: ModuleType, data: np.ndarray, offsets: np.ndarray, plan: Plan) -> list:
    known = count(reference, *texts([b"the a b c\0d \xc3\xa9", "東京都 é".encode()]), plan)
    return [
        side.hash_terms(data, offsets, plan, 20, True, 2),
        side.hash_terms(data, offsets, plan, 3, False, 2),
        count(side, data, offsets, plan),
        index(side, data, offsets, plan, known),
        side.tokens(data, offsets, plan.case, plan.tokenizer),
        side.flag_texts(data, offsets, 2),
    ]


FEW = {
    "no text": [],
    "one empty text": [b""],
    "empty texts": [b""] * 5,
    "a NUL": [b"\0"],
    "NUL bytes among words": [b"a\0b c\0", b"\0\0\0", b"d \0 e", b"\0a" * 50],
    "white space only": [b" ", b"\t\n\r\x0b\x0c ", "\u2003\u3000\x85\xa0".encode()],
    "half characters": [b"\xc3", b"\xe6\x9d", b"\xf0\x9f\x98", b"\xa9", b"a\xc3"],
    "surrogates and overlong forms": [b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80"],
    "blocks of 64 bytes and their neighbors": [b"ab'" * 21 + b"x" * n for n in range(5)],
    "an apostrophe at each place of a block": [b"a" * n + b"'s" for n in range(58, 68)],
    "a number across a block": [b"1" * n + b".5,5." for n in range(58, 68)],
    "a high byte at each place of a block": [b"a" * n + "é'é".encode() for n in range(58, 68)],
}


@each_plan
@pytest.mark.parametrize("rows", FEW.values(), ids=FEW)
def test_small_things(plan: Plan, rows: list[bytes]) -> None:
    data, offsets = texts(rows)
    assert same(everything(kernels, data, offsets, plan), everything(reference, data, offsets, plan))


@each_plan
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.large_binary()], ids=str)
def test_slices_of_arrow_arrays(plan: Plan, kind: pa.DataType) -> None:
    rows = ["The cat", "", "sat on", "a mat's 3.5 東京都", "É é", "x"]
    whole = pa.array(rows, pa.string()).cast(kind)
    for start, length in ((1, 4), (3, 1), (5, 1), (2, 0), (6, 0), (0, 6)):
        part = as_texts(whole.slice(start, length))
        copied = texts([row.encode() for row in rows[start : start + length]])
        expected = everything(reference, *copied, plan)
        assert same(everything(kernels, part.data, part.offsets, plan), expected)
        assert same(everything(reference, part.data, part.offsets, plan), expected)


@pytest.mark.native
def test_a_million_texts_of_one_character() -> None:
    n = 1_000_000
    characters = np.array(sorted("abcxyz059_é東ก★ .'\0", key=str.encode))
    codes = np.random.default_rng(4).integers(0, len(characters), n)
    lengths = np.array([len(c.encode()) for c in characters])
    offsets = np.concatenate([[0], np.cumsum(lengths[codes])])
    data = np.frombuffer("".join(characters[codes]).encode(), np.uint8)
    is_word = np.array([c not in " .'\0" for c in characters])
    words, filled = np.flatnonzero(is_word), is_word[codes]
    plan = Plan(WORDS, FOLD, 0, 1, 2)

    hashes = np.array([kernels.hash_bytes(c.encode()) for c in characters], np.uint64)
    indptr, columns, values = kernels.hash_terms(data, offsets, plan, 30, True, 3)
    assert np.array_equal(indptr, np.concatenate([[0], np.cumsum(filled)]))
    assert np.array_equal(columns, (hashes & np.uint64((1 << 30) - 1))[codes[filled]])
    assert np.array_equal(values, np.where(hashes >> np.uint64(63), -1.0, 1.0)[codes[filled]])

    counted = count(kernels, data, offsets, plan)
    assert counted[0].tobytes() == "".join(characters[words]).encode()
    assert counted[2].tolist() == counted[3].tolist() == np.bincount(codes)[words].tolist()
    assert len(counted[4][0][0]) == 0
    assert np.array_equal(index(kernels, data, offsets, plan, counted)[1], np.searchsorted(words, codes[filled]))
    assert len(kernels.hash_terms(data, offsets, Plan(WORDS, FOLD, 1, 1, 2), 20, True, 2)[1]) == 0
    assert np.array_equal(kernels.flag_texts(data, offsets, 2) & 1, lengths[codes] > 1)


LONG = {
    "40,000 distinct terms": [b"w%d" % n for n in range(40_000)],
    "32,767 terms": [b"w%d" % n for n in range(32_767)],
    "32,768 terms": [b"w%d" % n for n in range(32_768)],
    "40,000 equal terms": [b"word"] * 40_000,
    "20,000 equal terms": [b"word"] * 20_000,
    "a frequent word among others": [b"the" if n % 2 else b"w%d" % n for n in range(20_000)],
    "17 terms": [b"w%d" % n for n in range(17)],
    "16 terms": [b"w%d" % n for n in range(16)],
}


@each_hash
@pytest.mark.parametrize("words", LONG.values(), ids=LONG)
def test_long_rows_hashed(words: list[bytes], bits: int, signed: bool) -> None:
    data, offsets = texts([b" ".join(words), b"after", b" ".join(words[:100])])
    plan = Plan(WORDS, KEEP, 2, 1, 1)
    expected = reference.hash_terms(data, offsets, plan, bits, signed, 1)
    assert same(kernels.hash_terms(data, offsets, plan, bits, signed, 1), expected)


@pytest.mark.parametrize("words", LONG.values(), ids=LONG)
def test_long_rows_looked_up(words: list[bytes]) -> None:
    data, offsets = texts([b" ".join(words), b"after", b" ".join(words[:100])])
    plan = Plan(WORDS, KEEP, 2, 1, 1)
    known = count(reference, data, offsets, plan)
    assert same(count(kernels, data, offsets, plan), known)
    assert same(index(kernels, data, offsets, plan, known), index(reference, data, offsets, plan, known))


@pytest.mark.parametrize("size", [20, 150, 700, 1000, 5000, 40_000])
@pytest.mark.parametrize("width", [1 << 15, 1 << 20, 1 << 21, (1 << 31) - 2])
@pytest.mark.parametrize("place", ["first", "last", "both"])
def test_columns_that_crowd_into_one_bucket(size: int, width: int, place: str) -> None:
    words = [b"w%05d" % n for n in range(min(size, width))]
    data, offsets = texts([b" ".join(words + words[::2]), b" ".join(words[::-1])])
    known = texts(words)
    columns = np.random.default_rng(5).permutation(len(words)).astype(np.int32)
    if place != "first":
        columns += np.int32(width - len(words))
    if place == "both":
        columns[::2] -= np.int32(width - len(words))
    plan = Plan(WORDS, KEEP, 2, 1, 1)
    known = *known, np.ones(len(words), np.int64)
    assert same(
        index(kernels, data, offsets, plan, known, columns), index(reference, data, offsets, plan, known, columns)
    )


@pytest.mark.native
@pytest.mark.parametrize("signed", [True, False])
def test_hashes_that_crowd_into_one_bucket(signed: bool) -> None:
    words = [b"%d" % n for n in range(600_000)]
    crowded = [word for word in words if kernels.hash_bytes(word) >> 20 & 0x3FF == 7]
    assert len(crowded) > 500
    data, offsets = texts([b" ".join(crowded), b" ".join(crowded * 3)])
    plan = Plan(WORDS, KEEP, 2, 1, 1)
    expected = reference.hash_terms(data, offsets, plan, 30, signed, 1)
    assert same(kernels.hash_terms(data, offsets, plan, 30, signed, 2), expected)
