"""Counts to values: the kernel against its twin, and both against the formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels.reference.score import weigh as twin

EMPTY = np.zeros(0, np.float32)
IMPLEMENTATIONS = [kernels.weigh, twin]


@st.composite
def problems(draw):
    width = draw(st.integers(1, 9))
    rows = draw(st.lists(st.lists(st.integers(-5, 5), min_size=0, max_size=width), max_size=12))
    indptr = np.cumsum([0] + [len(row) for row in rows]).astype(np.int64)
    indices = np.array([j for row in rows for j in range(len(row))], np.int32)
    data = np.array([v for row in rows for v in row], np.float32)
    number = st.floats(-1e6, 1e6, width=32)
    table = np.array(draw(st.one_of(st.just([]), st.lists(number, min_size=6, max_size=6))), np.float32)
    weights = np.array(draw(st.one_of(st.just([]), st.lists(number, min_size=width, max_size=width))), np.float32)
    return indptr, indices, data, table, weights, draw(st.integers(0, 2))


@given(problems(), st.integers(1, 8))
def test_the_kernel_has_the_bits_of_its_twin(problem, threads):
    indptr, indices, data, table, weights, length = problem
    ours, theirs = data.copy(), data.copy()
    kernels.weigh((indptr, indices, ours), table, weights, length, threads)
    twin((indptr, indices, theirs), table, weights, length, 1)
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_many_rows_have_the_same_bits_for_any_number_of_threads(threads):
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 7, 5000)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    indices = rng.integers(0, 50, indptr[-1]).astype(np.int32)
    data = rng.integers(1, 9, indptr[-1]).astype(np.float32)
    table, weights = np.log1p(np.arange(9)).astype(np.float32), rng.random(50).astype(np.float32)
    ours, theirs = data.copy(), data.copy()
    kernels.weigh((indptr, indices, ours), table, weights, 2, threads)
    twin((indptr, indices, theirs), table, weights, 2, 1)
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("weigh", IMPLEMENTATIONS)
def test_the_formula(weigh):
    data = np.array([1, 2, -2, 0], np.float32)
    rows = np.array([0, 2, 2, 4], np.int64), np.array([0, 2, 1, 2], np.int32), data
    weigh(rows, np.array([0, 1, 3], np.float32), np.array([1, 10, 2], np.float32), 0, 1)
    assert data.tolist() == [1, 6, -30, 0]
    weigh(rows, EMPTY, EMPTY, 1, 1)
    assert data.tolist() == [np.float32(1 / 7), np.float32(6 / 7), -1, 0]


@pytest.mark.parametrize("weigh", IMPLEMENTATIONS)
def test_lengths_are_one_or_nothing_was_there(weigh):
    data = np.array([3, 4, 0, 0], np.float32)
    weigh((np.array([0, 2, 2, 4], np.int64), np.arange(4, dtype=np.int32), data), EMPTY, EMPTY, 2, 1)
    assert data.tolist() == [np.float32(0.6), np.float32(0.8), 0, 0]


@pytest.mark.parametrize("weigh", IMPLEMENTATIONS)
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"length": 3}, "length"),
        ({"table": np.zeros(2, np.float32)}, "count"),
        ({"weights": np.zeros(1, np.float32)}, "column"),
        ({"indptr": np.array([0, 9], np.int64)}, "offsets"),
        ({"indptr": np.array([0, 2, 1], np.int64)}, "offsets"),
        ({"indptr": np.array([-1, 2], np.int64)}, "offsets"),
        ({"indices": np.array([0, -1], np.int32), "weights": np.zeros(3, np.float32)}, "column"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(weigh, change, sentence):
    args = {
        "indptr": np.array([0, 2], np.int64),
        "indices": np.array([0, 1], np.int32),
        "data": np.array([1, 2], np.float32),
        "table": EMPTY,
        "weights": EMPTY,
        "length": 0,
        "threads": 1,
    }
    args |= change
    rows = args.pop("indptr"), args.pop("indices"), args.pop("data")
    with pytest.raises(ValueError, match=sentence):
        weigh(rows, *args.values())


@pytest.mark.parametrize("weigh", IMPLEMENTATIONS)
def test_nothing_at_all(weigh):
    values = EMPTY.copy()
    weigh((np.zeros(1, np.int64), np.zeros(0, np.int32), values), EMPTY, EMPTY, 2, 1)
    assert len(values) == 0
