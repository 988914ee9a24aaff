"""Tokens of texts and candidates compared: the kernels against their twins, and both against what they mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels.reference import pairs as twin

BOTH = [kernels, twin]


def texts(strings):
    raw = [string.encode() for string in strings]
    offsets = np.cumsum([0] + [len(one) for one in raw]).astype(np.int64)
    return np.frombuffer(b"".join(raw), np.uint8), offsets


def rows(lists):
    offsets = np.cumsum([0] + [len(one) for one in lists]).astype(np.int64)
    return offsets, np.array([key for one in lists for key in one], np.uint64)


@st.composite
def problems(draw):
    keys = st.lists(st.integers(0, 5), max_size=7)
    own, others = draw(st.lists(keys, min_size=1, max_size=4)), draw(st.lists(keys, min_size=1, max_size=6))
    sizes = draw(st.lists(st.integers(0, 4), max_size=6))
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    pick = lambda n, among: np.array(draw(st.lists(st.integers(0, among - 1), min_size=n, max_size=n)), np.int64)  # noqa: E731
    groups = offsets, pick(len(sizes), len(own)), pick(int(offsets[-1]), len(others))
    sets = draw(st.lists(keys, min_size=1, max_size=4))
    values = np.array([draw(st.floats(-9, 9)) for one in sets for _ in one])
    return rows(own), rows(others), groups, (rows(sets), values, pick(len(sizes), len(sets)))


@given(st.lists(st.text(max_size=20), max_size=8), st.sampled_from([0, 1, 2]), st.sampled_from([0, 2, 3, 5]))
def test_keys_are_the_hashes_of_the_tokens(strings, case, tokenizer):
    strings = [string.encode("utf-8", "replace").decode() for string in strings]
    ours, theirs = (one.token_keys(*texts(strings), case, tokenizer, 2) for one in BOTH)
    assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


@given(problems(), st.integers(1, 4))
def test_the_kernels_have_the_bits_of_their_twins(problem, threads):
    own, others, groups, sets = problem
    assert np.array_equal(kernels.align_tokens(own, others, groups, threads), twin.align_tokens(own, others, groups, 1))
    ours = kernels.meet_tokens(sets, own, others, groups, threads)
    assert ours.tobytes() == twin.meet_tokens(sets, own, others, groups, 1).tobytes()


@pytest.mark.parametrize("module", BOTH)
def test_what_they_say(module):
    own, others = rows([[1, 2]]), rows([[1, 2, 3], [9, 1, 2], [2, 1], []])
    groups = np.array([0, 4]), np.array([0]), np.arange(4)
    found = module.align_tokens(own, others, groups, 1).reshape(-1, 4)
    assert found.tolist() == [[2, 2, 0, 2], [2, 0, 2, 2], [2, 0, 0, 1], [0, 0, 0, 0]]
    sets = rows([[3, 9, 3]]), np.array([0.5, 2.0, 7.0]), np.array([0])
    met = module.meet_tokens(sets, own, others, groups, 1).reshape(-1, 4)
    assert met.tolist() == [[1, 1, 0.5, 0.5], [1, 1, 2, 2], [0, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("module", BOTH)
@pytest.mark.parametrize(
    "groups",
    [
        (np.array([0, 5]), np.array([0]), np.arange(4)),
        (np.array([0, 4]), np.array([7]), np.arange(4)),
        (np.array([0, 4]), np.array([0]), np.arange(4) + 99),
        (np.array([0, 4, 2]), np.array([0, 0]), np.arange(4)),
        (np.array([0]), np.array([0]), np.arange(4)),
    ],
)
def test_groups_that_lead_out_of_the_arrays_are_refused(module, groups):
    own, others = rows([[1, 2]]), rows([[1, 2, 3], [9, 1, 2], [2, 1], []])
    with pytest.raises(ValueError, match="align_tokens"):
        module.align_tokens(own, others, groups, 1)
    sets = rows([[3]]), np.ones(1), np.zeros(len(groups[1]), np.int64)
    with pytest.raises(ValueError, match="meet_tokens"):
        module.meet_tokens(sets, own, others, groups, 1)


@pytest.mark.parametrize("module", BOTH)
def test_sets_that_do_not_fit_are_refused(module):
    own, groups = rows([[1]]), (np.array([0, 1]), np.array([0]), np.array([0]))
    for sets in [(rows([[3]]), np.ones(2), np.array([0])), (rows([[3]]), np.ones(1), np.array([1]))]:
        with pytest.raises(ValueError, match="meet_tokens"):
            module.meet_tokens(sets, own, own, groups, 1)
