"""Best taggings and marginals of linear chains: against enumeration, against the twins, for any number of threads."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.kernels import reference

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])
NONE = np.zeros(0, np.int32)


def draw(sizes, k, seed=0, dtype=np.float64, scale=1.0, second=False):
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    E, shared = rng.normal(size=(offsets[-1], k)) * scale, rng.normal(size=(1 + k + second * k * k, k)) * scale
    return E.astype(dtype), shared.astype(dtype), offsets


def best(side, E, shared, offsets, against=NONE, threads=1):
    tags = np.full(len(E), -1, np.int32)
    side.chain_best(E, shared, offsets, against, tags, threads)
    return tags


def soft(side, E, shared, offsets, weights=None, threads=1):
    out = np.full(E.shape, np.nan), np.full(shared.shape, np.nan), np.full(len(offsets) - 1, np.nan)
    side.chain_soft(E, shared, (offsets, np.zeros(0) if weights is None else weights), out, threads)
    return out


def link_rows(z, t, shared):
    k = shared.shape[1]
    rows = [1 + z[t - 1] if t else 0]
    return [*rows, 1 + k + z[t - 2] * k + z[t - 1]] if len(shared) > 1 + k and t > 1 else rows


def score(E, shared, z):
    return sum(E[t, c] + sum(shared[row, c] for row in link_rows(z, t, shared)) for t, c in enumerate(z))


def enumerate_all(E, shared):
    every = list(product(range(E.shape[1]), repeat=len(E)))
    return every, np.array([score(E, shared, z) for z in every])


@each_side
@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 3), (4, 1), (3, 3), (5, 2), (2, 9), (4, 3)])
def test_enumeration_finds_the_same(side, n, k, second):
    E, shared, offsets = draw([n], k, seed=n * k, second=second)
    every, scores = enumerate_all(E, shared)
    assert best(side, E, shared, offsets).tolist() == list(every[scores.argmax()])
    parts, sums, values = soft(side, E, shared, offsets)
    chances = np.exp(scores - scores.max())
    chances /= chances.sum()
    np.testing.assert_allclose(values, [np.log(np.exp(scores).sum())])
    tags, links = np.zeros(E.shape), np.zeros(shared.shape)
    for z, p in zip(every, chances, strict=True):
        for t, c in enumerate(z):
            tags[t, c] += p
            for row in link_rows(z, t, shared):
                links[row, c] += p
    np.testing.assert_allclose(parts, tags, atol=1e-12)
    np.testing.assert_allclose(sums, links, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 8, 9, 17, 26, 33])
def test_the_best_taggings_are_the_twins(k, second, dtype):
    E, shared, offsets = draw([5, 0, 1, 30, 2], k, dtype=dtype, second=second)
    E, shared = np.round(E), np.round(shared)  # many ties
    gold = np.random.default_rng(1).integers(0, k, len(E)).astype(np.int32)
    for against in (NONE, gold):
        assert (
            best(kernels, E, shared, offsets, against).tolist() == best(reference, E, shared, offsets, against).tolist()
        )


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 3000.0])
@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 17, 33])
def test_the_marginals_are_the_twins(k, second, scale):
    E, shared, offsets = draw([5, 0, 1, 12, 2], k, scale=scale, second=second)
    weights = np.array([1.0, 2.0, 0.5, 3.0, 0.0])
    for ours, theirs in zip(
        soft(kernels, E, shared, offsets, weights), soft(reference, E, shared, offsets, weights), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=reference.TOLERANCES["chain_soft"].doubles, atol=1e-12)


@each_side
def test_what_is_not_allowed_is_never_found(side):
    E, shared, offsets = draw([6], 3)
    shared[1:][1, 2] = shared[0, 1] = -np.inf
    with np.errstate(invalid="ignore"):
        parts, sums, values = soft(side, E, shared, offsets)
    assert sums[2, 2] == 0.0 == sums[0, 1] == parts[0, 1]
    assert np.isfinite(values).all()
    tags = best(side, E, shared, offsets).tolist()
    assert tags[0] != 1
    assert (1, 2) not in list(pairwise(tags))


@each_side
def test_a_truth_that_shares_the_best_score_loses(side):
    offsets, zeros = np.array([0, 3]), np.zeros((3, 2))
    for gold, shared in product(product(range(2), repeat=3), (zeros, np.zeros((7, 2)))):
        assert best(side, zeros, shared, offsets, np.array(gold, np.int32)).tolist() != list(gold)
    E = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])  # two best taggings
    assert best(side, E, zeros, offsets).tolist() == [0, 0, 0]
    assert best(side, E, zeros, offsets, np.array([0, 0, 0], np.int32)).tolist() == [0, 0, 1]
    assert best(side, E, zeros, offsets, np.array([0, 1, 0], np.int32)).tolist() == [0, 0, 1]


def test_threads_change_no_bit():
    E, shared, offsets = draw([7] * 500, 5, second=True)
    found = set()
    for threads in (1, 2, 3, 8):
        parts = soft(kernels, E, shared, offsets, threads=threads)
        tags = best(kernels, E, shared, offsets, threads=threads)
        found.add(b"".join(array.tobytes() for array in (*parts, tags)))
    assert len(found) == 1


def test_a_long_sequence_neither_overflows_nor_fades():
    E, shared, offsets = draw([100_000], 5, scale=5.0)
    parts, sums, values = soft(kernels, E, shared, offsets)
    np.testing.assert_allclose(parts.sum(axis=1), 1.0)
    assert sums[1:].sum() == pytest.approx(99_999)
    assert np.isfinite(values).all()
    assert len(best(kernels, E, shared, offsets)) == 100_000


def test_greedy_tags_look_back_and_not_ahead():
    E, shared = np.array([[1.0, 0.0], [0.0, 0.0]]), np.zeros((3, 2))
    shared[2] = [0.0, 9.0]  # after tag 1, which the first token does not prefer, comes a large score
    tags = np.zeros(2, np.int32)
    kernels.chain_greedy(E, shared, np.array([0, 2]), tags, 1)
    assert tags.tolist() == [0, 0]
    assert best(kernels, E, shared, np.array([0, 2])).tolist() == [1, 1]


@each_side
def test_no_tokens(side):
    E, shared, offsets = draw([0, 0], 3)
    parts, sums, values = soft(side, E, shared, offsets)
    assert best(side, E, shared, offsets).tolist() == []
    assert not sums.any()
    assert values.tolist() == [0.0, 0.0]
    assert parts.shape == (0, 3)


@each_side
def test_arrays_that_do_not_fit_are_refused(side):
    E, shared, offsets = draw([2, 3], 3)
    for bad in (offsets[:-1], offsets[::-1].copy(), np.zeros(0, np.int64), np.array([0, 9, 5]), np.array([-1, 5])):
        with pytest.raises(ValueError, match="offsets"):
            best(side, E, shared, bad)
    with pytest.raises(ValueError, match="shared"):
        best(side, E, shared[1:], offsets)
    with pytest.raises(ValueError, match="one tag"):
        best(side, E, shared, offsets, np.zeros(2, np.int32))
    with pytest.raises(ValueError, match="fit"):
        soft(side, E, shared, offsets, np.ones(3))
