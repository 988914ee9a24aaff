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
