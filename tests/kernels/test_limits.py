"""Texts of 50 megabytes, of a million words, of a gigabyte: against NumPy and plain Python."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.kernels import Plan

WORDS, INSIDE, ACROSS, SUBWORDS, SKIPS = range(5)
KEEP, LOWER, FOLD = range(3)
SIZE = 50_000_000
PLANS = [
    Plan(WORDS, FOLD, 0, 1, 2), Plan(WORDS, LOWER, 1, 2, 3), Plan(WORDS, KEEP, 4, 1, 1), Plan(INSIDE, LOWER, 2, 3, 5),
    Plan(ACROSS, FOLD, 2, 1, 4), Plan(SUBWORDS, FOLD, 0, 3, 6), Plan(SKIPS, FOLD, 0, 2, 2, 3),
]  # fmt: skip


def same(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))


def one(text: bytes | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    raw = np.frombuffer(text, np.uint8)
    return raw, np.array([0, len(raw)], np.int64)


def count(data: np.ndarray, offsets: np.ndarray, plan: Plan) -> tuple:
    counter = kernels.TermCounter(plan, False)
    counter.add(data, offsets, 2)
    return counter.finish(1, 2)


def index(data: np.ndarray, offsets: np.ndarray, plan: Plan, counted: tuple) -> tuple:
    """The rows of a vocabulary of all single tokens."""
    token_bytes, token_offsets, documents = counted[:3]
    pairs = kernels.probe_pairs(np.zeros(0, np.uint64), np.zeros(0, np.int32), 0)
    columns = np.arange(len(documents), dtype=np.int32)
    vocabulary = token_bytes, token_offsets, kernels.probe_tokens(token_bytes, token_offsets), columns, pairs
    return kernels.index_terms(data, offsets, plan, vocabulary, (len(documents), -1), 2)


def by_column(hashes: list[int], counts: np.ndarray, bits: int, signed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Distinct columns and their sums, from distinct terms and their counts."""
    columns, place = np.unique([value & ((1 << bits) - 1) for value in hashes], return_inverse=True)
    signs = np.array([-1 if signed and value >> 63 else 1 for value in hashes])
    sums = np.bincount(place, counts * signs, len(columns))
    return columns[sums != 0].astype(np.int32), sums[sums != 0].astype(np.float32)


@cache
def letters() -> np.ndarray:
    """50 MB of ASCII letters, small and capital, without a space."""
    rng = np.random.default_rng(1)
    found = rng.integers(ord("a"), ord("z") + 1, SIZE, np.uint8)
    found[rng.integers(0, SIZE, 1000)] -= 32
    return found


@pytest.mark.native
def test_50_megabytes_without_a_space_are_one_token() -> None:
    data, offsets = one(letters())
    lowered = data | 32
    for tokenizer in (0, 1, 2):
        token, bounds, rows = kernels.tokens(data, offsets, LOWER, tokenizer)
        assert (bounds.tolist(), rows.tolist()) == ([0, SIZE], [0, 1])
        assert np.array_equal(token, lowered)
    value = kernels.hash_bytes(lowered.tobytes())
    rows = kernels.hash_terms(data, offsets, Plan(WORDS, LOWER, 0, 1, 2), 30, True, 2)
    assert [a.tolist() for a in rows] == [[0, 1], [value & ((1 << 30) - 1)], [-1.0 if value >> 63 else 1.0]]
    counted = count(data, offsets, Plan(WORDS, LOWER, 0, 1, 2))
    assert np.array_equal(counted[0], lowered)
    assert [a.tolist() for a in counted[1:4]] == [[0, SIZE], [1], [1]]
    rows = index(data, offsets, Plan(WORDS, LOWER, 0, 1, 1), counted)
    assert [a.tolist() for a in rows] == [[0, 1], [0], [1]]


@pytest.mark.slow
@pytest.mark.native
def test_characters_of_50_megabytes_without_a_space() -> None:
    data, offsets = one(letters())
    codes = (data | 32).astype(np.int32) - ord("a")
    counts = np.bincount(codes[:-2] * 676 + codes[1:-1] * 26 + codes[2:], minlength=26**3)
    assert counts.min() > 0
    grams = [bytes(97 + n // k % 26 for k in (676, 26, 1)) for n in range(26**3)]
    plan = Plan(ACROSS, LOWER, 2, 3, 3)
    counted = count(data, offsets, plan)
    assert counted[0].tobytes() == b"".join(grams)
    assert np.array_equal(counted[3], counts)
    rows = index(data, offsets, plan, counted)
    assert np.array_equal(rows[2], counts.astype(np.float32))
    for bits, signed in ((1, True), (1, False), (12, True), (30, False)):
        expected = by_column([kernels.hash_bytes(gram) for gram in grams], counts, bits, signed)
        assert same(kernels.hash_terms(data, offsets, plan, bits, signed, 2)[1:], expected)


@pytest.mark.native
@pytest.mark.parametrize("case", [LOWER, FOLD])
def test_50_megabytes_outside_ascii(case: int) -> None:
    some = "ПриветМирЁжик ΌΔΥΣΣΕΎΣ straßeẞ İstanbul ﬁn ǅungla Ωmega\u2003é e\u0301 "
    text = some * (SIZE // len(some.encode()))
    changed = text.lower() if case == LOWER else text.casefold()
    token, bounds, rows = kernels.tokens(*one(text.encode()), case, 2)
    assert token.tobytes() == "".join(changed.split()).encode()
    assert len(bounds) - 1 == rows[1] == len(changed.split())


@pytest.mark.slow
@pytest.mark.native
def test_50_megabytes_of_a_script_without_spaces() -> None:
    rng = np.random.default_rng(2)
    characters = np.array(list("的一是不了在人有我他這個們中來上大為和國"))
    codes = rng.integers(0, 20, SIZE // 3)
    data, offsets = one("".join(characters[codes]).encode())
    counts = np.bincount(codes[:-1] * 20 + codes[1:], minlength=400)
    pairs = [(a + b).encode() for a in characters for b in characters]
    order = np.argsort(pairs)
    plan = Plan(WORDS, FOLD, 0, 1, 1)
    counted = count(data, offsets, plan)
    assert counted[0].tobytes() == b"".join(sorted(pairs))
    assert np.array_equal(counted[3], counts[order])
    expected = by_column([kernels.hash_bytes(pair) for pair in pairs], counts, 20, True)
    assert same(kernels.hash_terms(data, offsets, plan, 20, True, 2)[1:], expected)


@pytest.mark.native
def test_50_megabytes_of_invalid_bytes() -> None:
    data, offsets = one(np.full(SIZE, 0xFF, np.uint8))
    token, bounds, _ = kernels.tokens(data, offsets, FOLD, 2)
    assert bounds.tolist() == [0, 3 * SIZE]
    assert token[:3].tobytes() == "\ufffd".encode()
    assert np.array_equal(token[3:], token[:-3])
    assert kernels.flag_texts(data, offsets, 2).tolist() == [1 | 8]


@pytest.mark.native
def test_a_million_words_in_one_text() -> None:
    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 300_000, 1_000_000)
    data, offsets = one(" ".join(map(str, numbers.tolist())).encode())
    found, counts = np.unique(numbers.astype("S6"), return_counts=True)
    counted = count(data, offsets, Plan(WORDS, FOLD, 0, 1, 2))
    assert counted[0].tobytes() == b"".join(found.tolist())
    assert np.array_equal(counted[3], counts)
    pairs = Counter(zip(numbers[:-1].tolist(), numbers[1:].tolist(), strict=True))
    assert len(counted[4][0][0]) == len(pairs)
    assert np.bincount(counted[4][0][3]).tolist() == np.bincount(list(pairs.values())).tolist()
    expected = by_column([kernels.hash_bytes(word) for word in found.tolist()], counts, 20, True)
    assert same(kernels.hash_terms(data, offsets, Plan(WORDS, FOLD, 0, 1, 1), 20, True, 2)[1:], expected)
    rows = index(data, offsets, Plan(WORDS, FOLD, 0, 1, 1), counted)
    assert np.array_equal(rows[2], counts.astype(np.float32))


@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 3])
def test_a_text_of_a_gigabyte_is_refused(threads: int) -> None:
    gigabyte = np.zeros(1 << 30, np.uint8)  # pages that nobody writes cost nothing
    bounds = np.concatenate([np.zeros(20_001, np.int64), np.full(20_001, 1 << 30, np.int64)])
    for plan in PLANS:
        with pytest.raises(ValueError, match="1 GiB or more cannot be read"):
            kernels.hash_terms(gigabyte, bounds, plan, 20, True, threads)
        with pytest.raises(ValueError, match="1 GiB or more cannot be read"):
            kernels.TermCounter(plan, True).add(gigabyte, bounds, threads)
        with pytest.raises(ValueError, match="1 GiB or more cannot be read"):
            index(gigabyte, bounds, plan, count(*one(b"a b"), plan))
    with pytest.raises(ValueError, match="1 GiB or more cannot be read"):
        kernels.tokens(gigabyte, bounds, FOLD, 0)
