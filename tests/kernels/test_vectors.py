"""Long vectors: the kernels against their twins and NumPy, for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import reference

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])
LENGTHS = [0, 1, 15, 16, 17, 1000, 8191, 8192, 8193, 20_000]


def make(count, n, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=n) for _ in range(count)]


@given(st.sampled_from(LENGTHS), st.integers(0, 3), st.integers(0, 3), st.integers(1, 8))
def test_inner_products_have_the_bits_of_their_twin(n, a, b, threads):
    lefts, rights = make(a, n if b or a else 0, 1), make(b, n if a else 0, 2)
    ours = kernels.inner(lefts, rights, threads)
    assert ours.tobytes() == reference.inner(lefts, rights, 1).tobytes()
    np.testing.assert_allclose(ours, [np.dot(x, y) for x in lefts for y in rights], atol=1e-9)


@given(st.sampled_from(LENGTHS), st.integers(0, 4), st.integers(1, 8))
def test_combinations_have_the_bits_of_their_twin(n, count, threads):
    vectors, times = make(count, n), np.random.default_rng(1).normal(size=count)
    ours, theirs = np.full(n, np.nan), np.full(n, np.nan)
    kernels.blend(vectors, times, ours, threads)
    reference.blend(vectors, times, theirs, 1)
    assert ours.tobytes() == theirs.tobytes()
    np.testing.assert_allclose(ours, sum((t * v for t, v in zip(times, vectors, strict=True)), np.zeros(n)), atol=1e-12)


@given(st.sampled_from(LENGTHS), st.integers(1, 8))
def test_added_multiples_have_the_bits_of_their_twin(n, threads):
    (vector, total), (_, same) = make(2, n), make(2, n)
    ours, theirs = kernels.add_multiple(vector, 0.3, total, threads), reference.add_multiple(vector, 0.3, same, 1)
    assert (ours, total.tobytes()) == (theirs, same.tobytes())
    assert ours == pytest.approx(np.dot(vector, vector))


@each_side
def test_the_result_may_be_one_of_the_vectors(side):
    vectors = make(3, 20_000)
    wanted = 2.0 * vectors[0] - vectors[1] + 0.5 * vectors[2]
    side.blend(vectors, np.array([2.0, -1.0, 0.5]), vectors[1], 2)
    np.testing.assert_allclose(vectors[1], wanted, atol=1e-12)


def test_many_numbers_have_the_same_bits_for_any_number_of_threads():
    vectors = make(4, 1_000_003)
    assert len({kernels.inner(vectors[:2], vectors, threads).tobytes() for threads in (1, 2, 3, 8)}) == 1
    assert len({kernels.add_multiple(vectors[0], 1.0, vectors[1].copy(), t) for t in (1, 2, 3, 8)}) == 1


@each_side
def test_numbers_that_are_not_finite_stay_what_they_are(side):
    vectors = [np.array([np.inf, 1.0]), np.array([1.0, np.nan])]
    assert np.isnan(side.inner(vectors[:1], vectors[1:], 1)).all()
    assert side.inner(vectors[:1], [np.ones(2)], 1).tolist() == [np.inf]


@each_side
def test_lengths_must_agree(side):
    short, long = np.zeros(3), np.zeros(4)
    for call in (
        lambda: side.inner([short], [long], 1),
        lambda: side.inner([short, long], [short], 1),
        lambda: side.inner([], [long], 1),
        lambda: side.blend([short], np.ones(1), long.copy(), 1),
        lambda: side.blend([short], np.ones(2), short.copy(), 1),
        lambda: side.add_multiple(short, 1.0, long.copy(), 1),
    ):
        with pytest.raises(ValueError, match=r"different lengths|one number for each"):
            call()
