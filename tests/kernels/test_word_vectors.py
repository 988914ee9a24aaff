"""Kernels of word vectors against their twins, and the same bits for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels.reference import word_vectors as twins
from linnaeus.kernels.reference.tolerances import TOLERANCES

ROUNDS = ["skipgram_rounds", "cbow_rounds"]
EMPTY = (np.zeros(0, np.int64), np.zeros(0, np.int32))


def problem(seed, words=12, size=16, subwords=False, length=300):
    """Tables, chances, subwords and a text, drawn at random; the last words are rare."""
    rng = np.random.default_rng(seed)
    parts, rows = EMPTY, words
    if subwords:
        sizes, rows = rng.integers(1, 4, words), words + 3
        sizes[0], lists = 6, rng.integers(0, rows, sizes.sum() + 6, np.int32)
        lists[1:4] = lists[0]  # a row several times
        parts = (np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), lists[: sizes.sum()])
    tables = tuple((0.3 * rng.standard_normal((n, size))).astype(np.float32) for n in (rows, words))
    chances = rng.integers(0, 2**32, (2, words)).astype(np.uint32)
    text = np.minimum(rng.geometric(0.2, length) - 2, words - 1).astype(np.int32)
    return tables, (*chances, rng.integers(0, words, words, np.int32)), parts, text


def run(kernel, given_problem, shape=(3, 4, 3, 20, 9), threads=1, first=0):
    tables, words, parts, text = given_problem
    tables = tuple(table.copy() for table in tables)
    rounds = -(-len(text) // (shape[2] * shape[3]))
    rates = np.linspace(0.1, 0.05, rounds)
    outcome = kernel(tables, words, parts, text, ((7, first, rates), shape), threads)
    return tables, outcome


@pytest.mark.parametrize("name", ROUNDS)
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 1000),
    subwords=st.booleans(),
    shape=st.tuples(st.integers(1, 6), st.integers(0, 12), st.integers(1, 4), st.integers(1, 60), st.integers(1, 20)),
)
def test_rounds_are_those_of_the_twin(name, seed, subwords, shape):
    given_problem = problem(seed, subwords=subwords, length=120)
    ours, said = run(getattr(kernels, name), given_problem, shape)
    theirs, wanted = run(getattr(twins, name), given_problem, shape)
    near = TOLERANCES[name].floats
    assert all(np.allclose(a, b, near, near) for a, b in zip(ours, theirs, strict=True))
    assert said[1] == wanted[1]
    assert said[0] == pytest.approx(wanted[0], rel=near, abs=near)


@pytest.mark.parametrize("name", ROUNDS)
@pytest.mark.parametrize("subwords", [False, True])
def test_any_number_of_threads_gives_the_same_bits(name, subwords):
    given_problem = problem(3, words=40, size=48, subwords=subwords, length=4000)
    wanted, said = run(getattr(kernels, name), given_problem, (5, 5, 8, 50, 16))
    for threads in (2, 3, 8, 20):
        found, outcome = run(getattr(kernels, name), given_problem, (5, 5, 8, 50, 16), threads)
        assert [table.tobytes() for table in found] == [table.tobytes() for table in wanted]
        assert outcome == said


def test_rounds_may_be_cut_into_calls():
    tables, words, parts, text = problem(5, length=400)
    whole, cut = [tuple(table.copy() for table in tables) for _ in range(2)]
    shape, rates = (3, 4, 2, 50, 7), np.linspace(0.1, 0.05, 4)
    kernels.skipgram_rounds(whole, words, parts, text, ((7, 0, rates), shape), 2)
    for first in (0, 2):
        clock = (7, first, rates[first : first + 2])
        kernels.skipgram_rounds(cut, words, parts, text[first * 100 : (first + 2) * 100], (clock, shape), 1)
    assert [table.tobytes() for table in whole] == [table.tobytes() for table in cut]


def test_one_word_alone_and_no_text_leave_the_tables_alone():
    for text in (np.zeros(0, np.int32), np.array([0, -1, 0, -1], np.int32)):
        tables, words, parts, _ = problem(1, words=1)
        found, outcome = run(kernels.skipgram_rounds, (tables, words, parts, text))
        assert all(np.array_equal(a, b) for a, b in zip(found, tables, strict=True))
        assert outcome == (0.0, 0)


def wrong(which, value):
    given_problem = list(problem(2))
    given_problem[which] = value
    return tuple(given_problem)


@pytest.mark.parametrize("kernel", [kernels.skipgram_rounds, twins.skipgram_rounds])
def test_arrays_that_do_not_fit_are_refused(kernel):
    tables, words, _, _ = problem(2)
    cases = [
        wrong(0, (tables[0][:, :10].copy(), tables[1][:, :10].copy())),
        wrong(0, (tables[0][:-1], tables[1])),
        wrong(1, (words[0][:-1], words[1], words[2])),
        wrong(1, (words[0], words[1], np.full(12, 99, np.int32))),
        wrong(2, (np.array([0, 1], np.int64), np.zeros(1, np.int32))),
        wrong(2, (np.arange(13), np.full(12, 99, np.int32))),
        wrong(2, (np.repeat([0, 12], [12, 1]), np.zeros(12, np.int32))),
        wrong(3, np.array([12], np.int32)),
        wrong(3, np.array([-2], np.int32)),
    ]
    for case in cases:
        with pytest.raises(ValueError):
            run(kernel, case)
    with pytest.raises(ValueError, match="rounds"):
        kernel(*problem(2)[:3], np.zeros(100, np.int32), ((0, 0, np.ones(1)), (1, 1, 1, 10, 1)), 1)
    with pytest.raises(ValueError, match="range"):
        run(kernel, problem(2), (0, 1, 1, 10, 1))


@given(st.lists(st.text(max_size=12), max_size=6), st.integers(1, 4), st.integers(0, 3), st.integers(1, 5000))
def test_subwords_are_those_of_the_twin(words, low, more, buckets):
    raw = [word.encode("utf-8", "replace") for word in words]
    data = np.frombuffer(b"".join(raw), np.uint8)
    offsets = np.cumsum([0, *map(len, raw)]).astype(np.int64)
    ours = kernels.subword_buckets(data, offsets, (low, low + more, buckets))
    theirs = twins.subword_buckets(data, offsets, (low, low + more, buckets))
    assert [part.tolist() for part in ours] == [part.tolist() for part in theirs]


def test_subwords_have_the_buckets_of_fasttext():
    """As its `get_subwords` gives them, for 3 to 4 characters and 1,000 buckets."""
    wanted = {"as": [31, 163, 177], "naïve": [890, 692, 546, 404, 832, 7, 570, 548, 654]}
    for word, buckets in wanted.items():
        raw = np.frombuffer(word.encode(), np.uint8)
        assert kernels.subword_buckets(raw, np.array([0, len(raw)]), (3, 4, 1000))[1].tolist() == buckets


def test_subwords_of_bytes_that_are_no_text_and_of_ranges_that_are_none():
    data, offsets = np.array([255, 128, 97, 192], np.uint8), np.array([0, 4], np.int64)
    ours, theirs = kernels.subword_buckets(data, offsets, (1, 3, 97)), twins.subword_buckets(data, offsets, (1, 3, 97))
    assert [part.tolist() for part in ours] == [part.tolist() for part in theirs]
    for cut in [(0, 3, 9), (3, 2, 9), (3, 65, 9), (3, 6, 0), (3, 6, 1 << 31)]:
        for kernel in (kernels.subword_buckets, twins.subword_buckets):
            with pytest.raises(ValueError):
                kernel(data, offsets, cut)


@given(st.lists(st.integers(-1, 6), max_size=80), st.integers(1, 5), st.integers(1, 3))
def test_counts_of_neighbors_are_those_of_the_twin(text, window, threads):
    ids, weights = np.array(text, np.int32), 1.0 / np.arange(1, window + 1)
    ours, theirs = kernels.count_near(ids, weights, 7, threads), twins.count_near(ids, weights, 7, 1)
    assert [part.tolist() for part in ours[:2]] == [part.tolist() for part in theirs[:2]]
    assert np.allclose(ours[2], theirs[2], 1e-12)
    counts = np.zeros((7, 7))
    counts[np.repeat(np.arange(7), np.diff(ours[0])), ours[1]] = ours[2]
    assert np.allclose(counts, counts.T)


def glove_problem(seed, n=60, words=8, size=16):
    rng = np.random.default_rng(seed)
    tables = tuple((0.3 * rng.standard_normal((words, 2 * size))).astype(np.float32) for _ in range(2))
    for table in tables:
        table[:, size:] = 1.0
    word = np.sort(rng.integers(0, words, n)).astype(np.int32)
    pairs = (word, word[::-1].copy(), rng.standard_normal(n).astype(np.float32), rng.random(n).astype(np.float32))
    return tables, pairs


@settings(deadline=None)
@given(st.integers(0, 100))
def test_glove_is_that_of_the_twin(seed):
    tables, pairs = glove_problem(seed)
    ours, theirs = [tuple(table.copy() for table in tables) for _ in range(2)]
    bounds = np.array([0, 20, 20, 60], np.int64)
    said = kernels.glove_blocks(ours, pairs, bounds, (10, 0.05), 1)
    wanted = twins.glove_blocks(theirs, pairs, bounds, (10, 0.05), 1)
    near = TOLERANCES["glove_blocks"].floats
    assert said == pytest.approx(wanted, rel=near)
    assert all(np.allclose(a, b, near, near) for a, b in zip(ours, theirs, strict=True))
    assert (ours[0][np.unique(pairs[0]), 11] == 1).all()


@pytest.mark.parametrize("kernel", [kernels.glove_blocks, twins.glove_blocks])
def test_pairs_that_do_not_fit_are_refused(kernel):
    tables, pairs = glove_problem(0)
    for bounds, shape in [([0], (10, 0.1)), ([0, 61], (10, 0.1)), ([-1, 3], (10, 0.1)), ([0, 3], (15, 0.1))]:
        with pytest.raises(ValueError):
            kernel(tables, pairs, np.array(bounds, np.int64), shape, 1)
    with pytest.raises(ValueError, match="exist"):
        kernel(tables, (np.full(60, 9, np.int32), *pairs[1:]), np.array([0, 1], np.int64), (10, 0.1), 1)
    with pytest.raises(ValueError, match="lack"):
        kernel(tables, (*pairs[:3], pairs[3][:-1]), np.array([0, 1], np.int64), (10, 0.1), 1)


@given(st.lists(st.binary(max_size=30), max_size=12))
def test_hashes_of_words_are_those_of_the_twin(words):
    data = np.frombuffer(b"".join(words), np.uint8)
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
    ours, theirs = kernels.word_hashes(data, offsets), twins.word_hashes(data, offsets)
    assert ours.dtype == theirs.dtype == np.uint32
    assert ours.tolist() == theirs.tolist()


def test_hashes_of_words_are_those_of_fasttext():
    data = np.frombuffer("aé".encode(), np.uint8)
    assert kernels.word_hashes(data, np.array([0, 0, 1, 3])).tolist() == [2166136261, 3826002220, 1023043777]
