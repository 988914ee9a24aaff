"""The text kernels against their twins, on every kind of text."""

from __future__ import annotations

from copy import copy
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import Plan, reference
from linnaeus.kernels.plan import UNITS

pytestmark = pytest.mark.skipif(not kernels.NATIVE, reason="the twins are all there is")

TRICKY = (
    "aAbZ09_ '.,&;<>\t\n\r\x0b\x1c\x00\x85\xa0İıΣσςßẞſKéÉe\u0301\u0308’—…★♡❤\ufe0f\u200d"
    "東京都アイウไทยမြနหन्द가각ﬁ①٣٤Ǆ𐐀😀\ufffd\u2003\u3000"
)
texts = st.lists(
    st.one_of(
        st.text(alphabet=TRICKY, max_size=90),
        st.text(max_size=40),
        st.text(alphabet="abcdefgh 'AB1.,", max_size=300),
    ).map(str.encode)
    | st.binary(max_size=60)
    | st.binary(max_size=20).map(lambda raw: b"caf\xc3\xa9 " + raw),
    max_size=6,
)
plans = st.builds(
    lambda unit, case, tokenizer, low, more, gap: Plan(unit, case, tokenizer, low, low + more, gap),
    st.integers(0, 4), st.integers(0, 2), st.integers(0, 3), st.integers(1, 3), st.integers(0, 2), st.integers(1, 3),
).map(lambda p: p._replace(low=2, high=2) if p.unit == 4 else p)  # fmt: skip


def pack(rows: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    return reference.tokens.__globals__["join"](rows)


def same(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, int):
        return a == b
    return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))


@given(texts, st.integers(0, 2), st.integers(0, 4))
def test_tokens(rows: list[bytes], case: int, tokenizer: int) -> None:
    data, offsets = pack(rows)
    assert same(kernels.tokens(data, offsets, case, tokenizer), reference.tokens(data, offsets, case, tokenizer))


@given(texts)
def test_flags(rows: list[bytes]) -> None:
    data, offsets = pack(rows)
    assert same(kernels.flag_texts(data, offsets, 2), reference.flag_texts(data, offsets, 1))


@given(st.binary(max_size=100))
def test_hash_of_bytes(raw: bytes) -> None:
    assert kernels.hash_bytes(raw) == reference.hash_bytes(raw)


@given(texts, plans, st.integers(1, 24), st.booleans())
def test_hashed_terms(rows: list[bytes], plan: Plan, bits: int, signed: bool) -> None:
    data, offsets = pack(rows)
    expected = reference.hash_terms(data, offsets, plan, bits, signed, 1)
    assert same(kernels.hash_terms(data, offsets, plan, bits, signed, 1), expected)
    assert same(kernels.hash_terms(data, offsets, plan, bits, signed, 3), expected)


def count(module: object, batches: list[list[bytes]], plan: Plan, threads: int, least: int = 1) -> tuple:
    counter = module.TermCounter(plan, False)
    for rows in batches:
        counter.add(*pack(rows), threads)
    return counter.finish(least, threads)


def replay(module: object, batches: list[list[bytes]], plan: Plan, threads: int, unknown: bool, least: int) -> tuple:
    counter = module.TermCounter(plan, True)
    for rows in batches:
        counter.add(*pack(rows), threads)
    return rows_of(counter, counter.finish(least, threads), threads, unknown)


def rows_of(counter: object, counted: tuple, threads: int, unknown: bool) -> tuple:
    """The rows of a finished counter, with columns for three of four terms."""
    _, _, documents, _, grams, _ = counted
    n = len(documents) + sum(len(parents) for parents, *_ in grams)
    columns = np.array([-1 if i % 4 == 3 else i for i in range(n)], np.int32)
    return counter.replay(columns, (n + 1, n if unknown else -1), threads)


@given(texts, texts, plans, st.booleans(), st.integers(0, 3))
def test_replayed_rows(first: list[bytes], second: list[bytes], plan: Plan, unknown: bool, least: int) -> None:
    expected = replay(reference, [first, second], plan, 1, unknown, least)
    assert same(replay(kernels, [first, second], plan, 1, unknown, least), expected)
    assert same(replay(kernels, [first + second], plan, 3, unknown, least), expected)


def tally(module: object, batches: list[list[bytes]], plan: Plan, threads: int, unknown: bool, least: int) -> tuple:
    counter, at = module.TermCounter(plan, False), 0
    for rows in batches:
        labels = np.arange(at, at + len(rows), dtype=np.int32) % 3
        counter.add_labeled(*pack(rows), labels, 3, threads)
        at += len(rows)
    found = counter.finish(least, threads)
    n = len(found[2]) + sum(len(parents) for parents, *_ in found[4])
    columns = np.array([-1 if i % 4 == 3 else i for i in range(n)], np.int32)
    return found, counter.tally(columns, (n + 1, n if unknown else -1))


@given(texts, texts, plans, st.booleans(), st.integers(0, 3))
def test_terms_by_class(first: list[bytes], second: list[bytes], plan: Plan, unknown: bool, least: int) -> None:
    plan = plan._replace(unit=UNITS["words"])
    expected = tally(reference, [first, second], plan, 1, unknown, least)
    assert same(tally(kernels, [first, second], plan, 1, unknown, least), expected)
    assert same(tally(kernels, [first + second], plan, 3, unknown, least), expected)
    assert same(expected[0], count(reference, [first, second], plan, 1, least))
    rows = replay(reference, [first, second], plan, 1, unknown, least)
    dense = np.zeros((len(first + second), len(expected[1]) // 3))
    dense[np.repeat(np.arange(len(dense)), np.diff(rows[0])), rows[1]] = rows[2]
    sums = np.stack([dense[c::3].sum(axis=0) for c in range(3)], axis=1)
    assert np.array_equal(expected[1].reshape(-1, 3), sums)


@given(texts, texts, plans, st.integers(0, 3))
def test_counted_terms(first: list[bytes], second: list[bytes], plan: Plan, least: int) -> None:
    expected = count(reference, [first, second], plan, 1, least)
    assert same(count(kernels, [first, second], plan, 1, least), expected)
    assert same(count(kernels, [first + second], plan, 3, least), expected)


@given(texts, texts, plans, st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=200)
def test_indexed_terms(known: list[bytes], rows: list[bytes], plan: Plan, random: object, unknown: bool) -> None:
    token_bytes, token_offsets, documents, _, grams, _ = count(reference, [known], plan, 1)
    slots = kernels.probe_tokens(token_bytes, token_offsets)
    assert same(slots, reference.probe_tokens(token_bytes, token_offsets))
    tokens, keys, first, parents = len(documents), [], len(documents), 0
    for parent, last, _, _ in grams:
        keys += [(int(p) + parents) << 32 | int(t) for p, t in zip(parent, last, strict=True)]
        parents, first = first, first + len(parent)
    order = list(range(len(documents) + len(keys)))
    random.shuffle(order)
    columns = np.array([c if c % 3 else -1 for c in order], np.int32)
    pairs = np.array(keys, np.uint64)
    pair_slots = kernels.probe_pairs(pairs, columns[tokens:], tokens)
    assert same(pair_slots, reference.probe_pairs(pairs, columns[tokens:], tokens))
    data, offsets = pack(rows + known)
    vocabulary = (token_bytes, token_offsets, slots, columns[:tokens], pair_slots)
    layout = (len(order) + 1, len(order) if unknown else -1)
    expected = reference.index_terms(data, offsets, plan, vocabulary, layout, 1)
    for threads in (1, 3):
        assert same(kernels.index_terms(data, offsets, plan, vocabulary, layout, threads), expected)


def fresh(size: int) -> np.ndarray:
    return np.zeros(size, np.uint8)


@given(st.lists(st.text(max_size=40) | st.text(alphabet=TRICKY, max_size=20), max_size=9), st.integers(1, 3))
def test_packed_texts(rows: list[str], threads: int) -> None:
    data, offsets = kernels.pack_texts(rows, fresh, threads)
    assert same((data, offsets), reference.pack_texts(rows, fresh, 1))
    assert [data[a:b].tobytes().decode() for a, b in pairwise(offsets.tolist())] == rows


@pytest.mark.parametrize("module", [kernels, reference])
def test_what_cannot_be_packed(module: object) -> None:
    with pytest.raises(TypeError, match="every text must be a string"):
        module.pack_texts(["a", b"b"], fresh, 1)
    with pytest.raises(UnicodeEncodeError):
        module.pack_texts(["a", "\ud800"], fresh, 1)
    with pytest.raises(ValueError, match=r"size|shape|broadcast"):
        module.pack_texts(["abc"], lambda size: fresh(size + 1), 1)


def test_strings_of_a_class_of_ones_own_are_packed() -> None:
    class Name(str):
        __slots__ = ()

    assert kernels.pack_texts([Name("ab"), Name("é")], fresh, 1)[0].tobytes() == "abé".encode()


def test_pairs_that_come_once_among_many() -> None:
    """Enough texts for several threads and pieces: what is left out, and every row, are the same."""
    rng = np.random.default_rng(0)
    words = [f"a_word_with_{i}_as_its_number_and_many_letters" for i in range(2000)]
    rows = [" ".join(words[i] for i in rng.zipf(1.3, 40) % 2000).encode() for _ in range(900)]
    plan = Plan(UNITS["words"], 2, 2, 1, 2)
    for least in (1, 2, 3):
        counted = count(reference, [rows], plan, 1, least)
        assert (counted[5] > 0) == (least > 1)
        expected = replay(reference, [rows], plan, 1, False, least)
        for threads in (1, 2, 3):
            counter = kernels.TermCounter(plan, True)
            for part in (rows[:300], rows[300:]):
                counter.add(*pack(part), threads)
            assert same(counter.finish(least, threads), counted)
            assert same(replay(kernels, [rows[:300], rows[300:]], plan, threads, False, least), expected)


def long_texts() -> list[bytes]:
    """Longer than what is read at once: signs of every kind, a stretch without a space, broken UTF-8, sigmas."""
    rng = np.random.default_rng(0)
    signs = list(TRICKY) + [" "] * 12
    mixed = "".join(signs[i] for i in rng.integers(0, len(signs), 30_000)).encode()
    greek = "ΟΔΟΣ ΑΣ. Σ 'Σ\u0301 1,5 don't ".encode() * 1500
    broken = b"caf\xc3 \xe6\x9d \xf0\x9f\x98 ok\xff " * 2500
    return [mixed, greek + b"a" * 40_000 + greek, broken, b" " * 70_000, b"", b" x" + b" " * 70_000 + b"y" * 9]


@pytest.mark.parametrize("tokenizer", [0, 1, 2, 5])
@pytest.mark.parametrize("unit", UNITS.values())
def test_long_texts_are_read_in_stretches_like_short_ones(unit: int, tokenizer: int) -> None:
    if tokenizer == 5 and unit not in (UNITS["words"], UNITS["skips"]):
        pytest.skip("only words have edges")
    rows, case = long_texts(), 1 + tokenizer % 2
    high = 2 if unit == UNITS["skips"] else 3
    plan = Plan(unit, case, tokenizer, 2 if high == 2 else 1, high, 1)
    read = reference.TermCounter(plan, True)
    read.add(*pack(rows), 1)
    for least in (1, 2):
        twin = copy(read)  # reading is most of the time; finishing leaves what was read as it was
        expected = twin.finish(least, 1)
        assert same(count(kernels, [rows], plan, 2, least), expected)
        assert same(replay(kernels, [rows], plan, 2, True, least), rows_of(twin, expected, 1, True))


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)])
def test_long_rows_are_counted_without_sorting(ngrams: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(12)] + ["a_word_of_more_than_eight_bytes"]
    rows = [" ".join(words[i] for i in rng.integers(0, 13, n)).encode() for n in (34_000, 40, 0)] + [b"one " * 34_000]
    plan = Plan(UNITS["words"], 2, 0, *ngrams)
    for least, unknown in ((1, False), (2, True)):
        expected = replay(reference, [rows], plan, 1, unknown, least)
        assert same(replay(kernels, [rows[:2], rows[2:]], plan, 2, unknown, least), expected)
