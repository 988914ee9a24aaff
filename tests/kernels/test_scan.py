"""One pass over stored values: squared lengths, and the first value that is no finite number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import reference

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])
each_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@given(st.lists(st.lists(st.floats(-(2.0**50), 2.0**50, width=32), max_size=9), max_size=30), st.booleans())
def test_squares_have_the_bits_of_their_twin(rows, wide):
    indptr = np.cumsum([0] + [len(row) for row in rows]).astype(np.int64)
    data = np.array([value for row in rows for value in row], np.float64 if wide else np.float32)
    matrix = indptr, np.zeros(len(data), np.int32), data
    ours = kernels.row_squares(matrix, 3)
    assert ours.tobytes() == reference.row_squares(matrix, 1).tobytes()
    np.testing.assert_allclose(ours, [sum(float(v) ** 2 for v in row) for row in rows], rtol=1e-12)


@each_side
@each_type
@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1, 4095, 4096, 299_999, 599_999])
def test_the_first_unfinite_value_is_found(side, dtype, bad, place):
    values = np.full(600_000, np.finfo(dtype).max, dtype)
    values[1:9] = [0, -0.0, np.finfo(dtype).min, np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal, 1, -1, 3]
    for threads in (1, 2, 8):
        assert side.first_unfinite(values, threads) == -1
    values[place:] = bad
    for threads in (1, 2, 8):
        assert side.first_unfinite(values, threads) == place


@each_side
@each_type
def test_nothing_is_finite(side, dtype):
    assert side.first_unfinite(np.zeros(0, dtype), 2) == -1


@each_side
@pytest.mark.parametrize(
    ("indptr", "indices", "width", "found"),
    [
        ([0], [], 0, 2),
        ([0, 0, 0], [], 3, 2),
        ([0, 2, 2, 4], [0, 2, 1, 2], 3, 2),
        ([0, 2, 4], [2, 0, 1, 2], 3, 1),
        ([0, 2, 4], [0, 1, 1, 1], 3, 1),
        ([0, 2], [0, 3], 3, 0),
        ([0, 2], [-1, 2], 3, 0),
        ([0, 3], [0, 1], 3, 0),
        ([0, 2, 1], [0, 1], 3, 0),
        ([1, 2], [0, 1], 3, 0),
        ([], [], 3, 0),
        ([0, 1], [0, 9], 1, 2),
    ],
)
def test_how_columns_stand(side, indptr, indices, width, found):
    arrays = np.array(indptr, np.int64), np.array(indices, np.int32)
    assert side.column_order(*arrays, width, 2) == found


def test_columns_of_many_rows_stand_as_their_twin_says():
    rng = np.random.default_rng(0)
    indptr = np.arange(0, 300_001, 100)
    indices = np.sort(rng.integers(0, 10**9, (3000, 100)).astype(np.int32), axis=1)
    for spoil in (None, 1, 0):
        if spoil is not None:
            indices[2500, 50] = indices[2500, 51] if spoil else -1
        found = {
            side.column_order(indptr, indices.reshape(-1), 10**9, t) for side in (kernels, reference) for t in (1, 2)
        }
        assert found == {2 if spoil is None else spoil}
