"""The soft maximum of rows of scores: the kernel against its twin, for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.kernels import reference

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])


def soft(side, S, threads=1):
    parts, values = np.full_like(S, np.nan), np.full(len(S), np.nan)
    side.soft_rows(S, parts, values, threads)
    return parts, values


@pytest.mark.parametrize("scale", [1e-9, 1.0, 30.0, 1e5])
@pytest.mark.parametrize(("n", "k"), [(0, 3), (1, 1), (5, 2), (129, 7), (300, 20), (40, 50)])
def test_the_kernel_is_its_twin(n, k, scale):
    S = np.random.default_rng(k).normal(size=(n, k)) * scale
    for ours, theirs in zip(soft(kernels, S, 3), soft(reference, S), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=reference.TOLERANCES["soft_rows"].doubles, atol=1e-300)


@each_side
def test_large_and_equal_scores(side):
    parts, values = soft(side, np.array([[1e300, 0.0, -1e300], [-1000.0, -1000.0, -1000.0]]))
    np.testing.assert_allclose(parts, [[1.0, 0.0, 0.0], [1 / 3] * 3])
    np.testing.assert_allclose(values, [1e300, -1000.0 + np.log(3.0)])


@each_side
def test_what_is_no_number_stays_none(side):
    with np.errstate(invalid="ignore"):
        parts, values = soft(side, np.array([[0.0, np.nan], [np.nan, 0.0], [1.0, 1.0]]))
    assert np.isnan(parts[:2]).all()
    assert np.isnan(values[:2]).all()
    assert parts[2].tolist() == [0.5, 0.5]


def test_threads_change_no_bit():
    S = np.random.default_rng(0).normal(size=(5000, 20))
    assert len({b"".join(out.tobytes() for out in soft(kernels, S, threads)) for threads in (1, 2, 3, 8)}) == 1


@each_side
def test_results_that_do_not_fit_are_refused(side):
    for S, parts, values in [
        (np.zeros((2, 3)), np.zeros((2, 2)), np.zeros(2)),
        (np.zeros((2, 3)), np.zeros((2, 3)), np.zeros(3)),
        (np.zeros((2, 0)), np.zeros((2, 0)), np.zeros(2)),
    ]:
        with pytest.raises(ValueError, match="soft_rows"):
            side.soft_rows(S, parts, values, 1)
