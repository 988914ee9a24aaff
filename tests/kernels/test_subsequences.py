"""Gap-weighted subsequences: the kernel against its twin, and both against their definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels.reference.pairs import subsequences as twin

IMPLEMENTATIONS = [kernels.subsequences, twin]


def lay_out(strings: list[str]):
    offsets = np.cumsum([0] + [len(s) for s in strings]).astype(np.int64)
    return offsets, np.array([ord(c) for s in strings for c in s], np.int32)


def every_pair(n: int, m: int):
    return np.repeat(np.arange(n, dtype=np.int32), m), np.tile(np.arange(m, dtype=np.int32), n)


def by_definition(s: str, t: str, length: int, decay: float) -> float:
    """Over all subsequences of one and all of the other."""
    total = 0.0
    for i in combinations(range(len(s)), length):
        for j in combinations(range(len(t)), length):
            if [s[a] for a in i] == [t[b] for b in j]:
                total += decay ** (i[-1] - i[0] + 1 + j[-1] - j[0] + 1)
    return total


@pytest.mark.parametrize("subsequences", IMPLEMENTATIONS)
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_the_definition(subsequences, length):
    strings = ["abcab", "bacba", "a", "", "aaaaa", "abxcxab"]
    found = subsequences(lay_out(strings), lay_out(strings), every_pair(6, 6), (length, 0.7), 1).reshape(6, 6)
    wanted = [[by_definition(s, t, length, 0.7) for t in strings] for s in strings]
    assert np.allclose(found, wanted, rtol=1e-12, atol=0)


@given(
    st.lists(st.text("abc", max_size=12), min_size=1, max_size=6),
    st.lists(st.text("abcd", max_size=12), min_size=1, max_size=6),
    st.integers(1, 9),
    st.floats(0.05, 1.0),
    st.integers(1, 8),
)
def test_the_kernel_has_the_bits_of_its_twin(left, right, length, decay, threads):
    given = lay_out(left), lay_out(right), every_pair(len(left), len(right)), (length, decay)
    assert kernels.subsequences(*given, threads).tobytes() == twin(*given, 1).tobytes()


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_many_pairs_have_the_same_bits_for_any_number_of_threads(threads):
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 30, 60))]).astype(np.int64)
    strings = offsets, rng.integers(1, 5, offsets[-1]).astype(np.int32)
    pairs = every_pair(60, 60)
    one = kernels.subsequences(strings, strings, pairs, (3, 0.5), 1)
    assert kernels.subsequences(strings, strings, pairs, (3, 0.5), threads).tobytes() == one.tobytes()


@pytest.mark.parametrize("subsequences", IMPLEMENTATIONS)
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"how": (0, 0.5)}, "length"),
        ({"how": (10, 0.5)}, "length"),
        ({"left": (np.array([0, 9], np.int64), np.zeros(2, np.int32))}, "offsets"),
        ({"right": (np.array([0, 2, 1], np.int64), np.zeros(2, np.int32))}, "offsets"),
        ({"right": (np.array([-1, 2], np.int64), np.zeros(2, np.int32))}, "offsets"),
        ({"pairs": (np.array([1], np.int32), np.array([0], np.int32))}, "no string"),
        ({"pairs": (np.array([0], np.int32), np.array([-1], np.int32))}, "no string"),
        ({"pairs": (np.array([0], np.int32), np.zeros(2, np.int32))}, "one string"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(subsequences, change, sentence):
    strings = np.array([0, 2], np.int64), np.array([1, 2], np.int32)
    args = {"left": strings, "right": strings, "pairs": every_pair(1, 1), "how": (2, 0.5), "threads": 1}
    with pytest.raises(ValueError, match=sentence):
        subsequences(*(args | change).values())


@pytest.mark.parametrize("subsequences", IMPLEMENTATIONS)
def test_nothing_at_all(subsequences):
    empty = np.zeros(1, np.int64), np.zeros(0, np.int32)
    none = np.zeros(0, np.int32)
    assert len(subsequences(empty, empty, (none, none), (2, 0.5), 1)) == 0
