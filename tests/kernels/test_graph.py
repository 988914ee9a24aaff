"""The graph of near rows: the kernels have the bits of their twins, and no hostile number is followed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import reference

KINDS = ("squared", "dot")
ROOMS = [kernels, reference]


def layers(n, width=8, seed=0, top=3):
    rng = np.random.default_rng(seed)
    levels = np.minimum(rng.geometric(0.7, n) - 1, top).astype(np.int32)
    each = 1 + width // 2
    offsets = (np.cumsum(levels) - levels).astype(np.int64) * each
    return levels, offsets, np.zeros((n, 1 + width), np.int32), np.zeros(int(levels.sum()) * each, np.int32)


def grown(room, kind, vectors, scales, graph, step=7, threads=1, ef=12):
    for at in range(1, len(vectors), step):
        batch = at, min(len(vectors), at + step)
        getattr(room, f"graph_grow_{kind}")(vectors, scales, graph, batch, ef, threads)
    return graph


@given(st.integers(1, 60), st.integers(1, 40), st.sampled_from(KINDS), st.integers(0, 99), st.integers(1, 4))
def test_the_kernels_have_the_bits_of_their_twins(n, d, kind, seed, threads):
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, (n, d)) if seed % 2 else rng.normal(size=(n, d))
    vectors, scales = vectors.astype(np.float32), rng.random(n).astype(np.float32) + np.float32(0.5)
    ours = grown(kernels, kind, vectors, scales, layers(n, seed=seed), threads=threads)
    theirs = grown(reference, kind, vectors, scales, layers(n, seed=seed))
    for a, b in zip(ours, theirs, strict=True):
        assert a.tobytes() == b.tobytes()
    queries = rng.normal(size=(4, d)).astype(np.float32), np.ones(4, np.float32)
    found = [getattr(room, f"graph_near_{kind}")(vectors, scales, ours, queries, (3, 6), threads) for room in ROOMS]
    assert found[0][0].tobytes() == found[1][0].tobytes()
    assert np.array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_wide_walk_finds_the_nearest(kind):
    rng = np.random.default_rng(0)
    vectors, scales = rng.normal(size=(2000, 10)).astype(np.float32), np.ones(2000, np.float32)
    if kind == "dot":
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    graph = grown(kernels, kind, vectors, scales, layers(2000, 16), step=20, threads=2, ef=50)
    rows, _ = getattr(kernels, f"graph_near_{kind}")(vectors, scales, graph, (vectors[:200], scales[:200]), (5, 60), 2)
    gaps = ((vectors[:200, None] - vectors) ** 2).sum(axis=2)
    wanted = np.argsort(gaps, axis=1)[:, :5]
    recall = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(rows.reshape(-1, 5), wanted, strict=True)])
    assert recall > 0.97


def test_equal_rows_are_all_found_by_a_walk_as_wide():
    vectors, scales = np.ones((30, 3), np.float32), np.ones(30, np.float32)
    graph = grown(kernels, "squared", vectors, scales, layers(30))
    rows, gaps = kernels.graph_near_squared(vectors, scales, graph, (vectors[:1], scales[:1]), (5, 30), 1)
    assert (gaps == 0).all()
    assert (rows >= 0).sum() >= 2


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("value", [-1, 20, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("part", [1, 2, 3])
def test_hostile_numbers_are_not_followed(room, part, value):
    rng = np.random.default_rng(0)
    vectors, scales = rng.normal(size=(20, 4)).astype(np.float32), np.ones(20, np.float32)
    for place in range(6):
        graph = [a.copy() for a in grown(kernels, "squared", vectors, scales, layers(20))]
        graph[part].reshape(-1)[place] = value
        rows, _ = room.graph_near_squared(vectors, scales, tuple(graph), (vectors, scales), (3, 9), 1)
        assert ((rows >= -1) & (rows < 20)).all()
        room.graph_grow_squared(vectors, scales, tuple(graph), (10, 20), 5, 1)


@pytest.mark.parametrize("room", ROOMS)
def test_arrays_that_do_not_fit_are_refused(room):
    vectors, scales, graph = np.zeros((5, 2), np.float32), np.ones(5, np.float32), layers(5)
    with pytest.raises(ValueError, match="fit each other"):
        room.graph_grow_squared(vectors, scales[:4], graph, (1, 5), 5, 1)
    for batch, ef in (((0, 5), 5), ((1, 6), 5), ((3, 2), 5), ((1, 5), 0)):
        with pytest.raises(ValueError, match="batch"):
            room.graph_grow_squared(vectors, scales, graph, batch, ef, 1)
    with pytest.raises(ValueError, match="queries"):
        room.graph_near_squared(vectors, scales, graph, (np.zeros((1, 3), np.float32), scales[:1]), (1, 1), 1)
    for level in (-1, 65, 2**31 - 1):
        high = np.full(5, level, np.int32), *graph[1:]
        with pytest.raises(ValueError, match="level"):
            room.graph_near_squared(vectors, scales, high, (vectors, scales), (1, 1), 1)
    for wanted in ((0, 5), (3, 2)):
        with pytest.raises(ValueError, match="so many"):
            room.graph_near_squared(vectors, scales, graph, (vectors, scales), wanted, 1)
