"""The nearest rows: the kernel has the answers of its twin, and both those of brute force, ties included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels.reference.nearest import Nearest as Twin

METRICS = ("inner", "cosine", "euclidean")
IMPLEMENTATIONS = [kernels.Nearest, Twin]


def sparse(A, dtype=np.float64):
    """The stored numbers of a table, zeros left out."""
    row, column = np.nonzero(A)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(A)))]).astype(np.int64)
    return offsets, column.astype(np.int32), A[row, column].astype(dtype)


def brute(metric, Q, X, count):
    """Scores of all pairs by NumPy, and the best of them: the lowest row among equals."""
    S = Q @ X.T
    if metric == "cosine":
        lengths = np.outer(np.sqrt((Q * Q).sum(axis=1)), np.sqrt((X * X).sum(axis=1)))
        S = np.where(lengths > 0, S / np.where(lengths > 0, lengths, 1), 0)
    if metric == "euclidean":
        S = -((Q[:, None] - X[None]) ** 2).sum(axis=2)
    rows = np.argsort(-S, axis=1, kind="stable")[:, :count]
    return rows, np.take_along_axis(S, rows, axis=1)


@st.composite
def problems(draw):
    n, m, d = draw(st.integers(1, 40)), draw(st.integers(1, 5)), draw(st.integers(1, 8))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    scale = 10.0 ** draw(st.integers(-30, 30))

    def table(rows):
        A = rng.integers(-2, 3, (rows, d)).astype(float)
        return scale * (A if draw(st.booleans()) else A * rng.random((rows, d)))

    return table(m), table(n), draw(st.integers(1, n))


@given(problems(), st.sampled_from(METRICS), st.booleans(), st.integers(1, 4))
def test_the_kernel_has_the_bits_of_its_twin(problem, metric, dense, threads):
    Q, X, count = problem
    rows, queries = (X, Q) if dense else (sparse(X), sparse(Q))
    ours = getattr(kernels.Nearest(rows, X.shape[1]), metric)(queries, count, threads)
    theirs = getattr(Twin(rows, X.shape[1]), metric)(queries, count, 1)
    assert ours[0].tobytes() == theirs[0].tobytes()
    assert np.array_equal(ours[1], theirs[1])


@given(problems(), st.sampled_from(METRICS), st.integers(0, 2**32 - 1))
def test_far_more_columns_than_are_in_use_change_nothing(problem, metric, seed):
    Q, X, count = problem
    wide = np.sort(np.random.default_rng(seed).choice(2**31 - 1, X.shape[1], replace=False)).astype(np.int32)

    def spread(rows):
        offsets, columns, values = rows
        return offsets, wide[columns], values

    narrow = getattr(kernels.Nearest(sparse(X), X.shape[1]), metric)(sparse(Q), count, 1)
    for side in IMPLEMENTATIONS:
        found = getattr(side(spread(sparse(X)), 2**31 - 1), metric)(spread(sparse(Q)), count, 1)
        assert found[0].tobytes() == narrow[0].tobytes()
        assert np.array_equal(found[1], narrow[1])


@given(problems(), st.sampled_from(METRICS), st.booleans(), st.integers(0, 99))
def test_among_candidates_the_kernel_has_the_bits_of_its_twin(problem, metric, dense, seed):
    Q, X, count = problem
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, 9, (len(Q), 3))
    among = starts, starts + rng.integers(0, 6, starts.shape), rng.integers(-1, len(X) + 1, 14).astype(np.int32)
    rows, queries = (X, Q) if dense else (sparse(X), sparse(Q))
    ours, theirs = (
        getattr(search(rows, X.shape[1]), f"{metric}_among")(queries, among, count, 2) for search in IMPLEMENTATIONS
    )
    assert ours[0].tobytes() == theirs[0].tobytes()
    assert np.array_equal(ours[1], theirs[1])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_query_of_many_columns_has_the_same_bits_alone_and_among_others(metric, dtype):
    rng = np.random.default_rng(3)
    X, Q = ((rng.random((n, 3000)) < 0.02) * rng.normal(size=(n, 3000)) for n in (60, 20))
    search = getattr(kernels.Nearest(sparse(X, dtype), 3000), metric)
    rows, scores = (part.reshape(20, 9) for part in search(sparse(Q), 9, 2))
    for i in range(20):
        alone = search(sparse(Q[i : i + 1]), 9, 1)
        assert np.array_equal(alone[0], rows[i])
        assert alone[1].tobytes() == scores[i].tobytes()


@pytest.mark.parametrize("search", IMPLEMENTATIONS)
def test_candidates_that_do_not_fit_are_refused(search):
    X, rows = np.eye(3), np.zeros(2, np.int32)
    for starts, ends in (([[0]], [[3]]), ([[-1]], [[1]]), ([[2]], [[1]]), ([[0], [0]], [[1], [1]]), ([[0]], [[1, 1]])):
        with pytest.raises(ValueError, match="candidate"):
            search(X, 3).inner_among(X[:1], (np.array(starts), np.array(ends), rows), 1, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("search", IMPLEMENTATIONS)
def test_whole_numbers_give_exactly_what_brute_force_gives_ties_included(search, metric, dense, dtype):
    rng = np.random.default_rng(1)
    X, Q = rng.integers(-1, 2, (300, 5)).astype(float), rng.integers(-1, 2, (20, 5)).astype(float)
    Q[0], X[7] = 0, 0
    rows, scores = brute(metric, Q, X, 25)
    data = X.astype(dtype) if dense else sparse(X, dtype)
    found = getattr(search(data, 5), metric)(Q if dense else sparse(Q), 25, 2)
    if metric == "cosine":
        assert np.allclose(found[1].reshape(20, 25), scores, rtol=1e-12, atol=1e-15)
    else:
        assert np.array_equal(found[1].reshape(20, 25), scores)
        assert np.array_equal(found[0].reshape(20, 25), rows)


@pytest.mark.parametrize("metric", METRICS)
def test_large_sparse_rows_equal_brute_force(metric):
    rng = np.random.default_rng(2)
    share = np.minimum(0.9, 2.0 / np.arange(1, 201))  # some columns are in most rows, and most in few
    X = (rng.random((5000, 200)) < share) * rng.random((5000, 200))
    Q = (rng.random((50, 200)) < share) * rng.random((50, 200))
    X, Q = X.astype(np.float32).astype(float), Q.astype(np.float32).astype(float)
    rows, scores = brute(metric, Q, X, 10)
    for threads in (1, 3):
        found = getattr(kernels.Nearest(sparse(X, np.float32), 200), metric)(sparse(Q), 10, threads)
        assert np.allclose(found[1].reshape(50, 10), scores, rtol=1e-12, atol=1e-14)
        assert np.array_equal(found[0].reshape(50, 10), rows)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("search", IMPLEMENTATIONS)
def test_equal_rows_come_in_their_order(search, metric):
    X = np.tile([[0.1, 0.7, 0.3]], (1000, 1))
    rows, scores = getattr(search(sparse(X), 3), metric)(sparse(X[:2]), 5, 1)
    assert rows.tolist() == [0, 1, 2, 3, 4] * 2
    assert len(set(scores.tolist())) == 1
    if metric == "euclidean":
        assert scores[0] == 0


@pytest.mark.parametrize("search", IMPLEMENTATIONS)
def test_rows_that_share_nothing_with_a_query_are_found(search):
    X, Q = np.array([[0.0, 2.0], [0.0, 1.0], [-1.0, 0.0]]), np.array([[1.0, 0.0]])
    index = search(sparse(X), 2)
    assert index.inner(sparse(Q), 3, 1)[0].tolist() == [0, 1, 2]
    assert index.cosine(sparse(Q), 3, 1)[1].tolist() == [0, 0, -1]
    rows, scores = index.euclidean(sparse(Q), 3, 1)
    assert (rows.tolist(), scores.tolist()) == ([1, 2, 0], [-2, -4, -5])


@pytest.mark.parametrize("search", IMPLEMENTATIONS)
def test_arrays_that_do_not_fit_are_refused(search):
    X = np.eye(3)
    offsets, columns, values = sparse(X)
    with pytest.raises(ValueError, match="width"):
        search((offsets, columns, values), 2)
    with pytest.raises(ValueError, match="offsets"):
        search((np.array([0, 9], np.int64), columns, values), 3)
    with pytest.raises(ValueError, match="finite"):
        search((offsets, columns, np.array([1, np.nan, 1])), 3)
    with pytest.raises(ValueError, match="finite"):
        search(X, 3).inner(np.full((1, 3), np.inf), 1, 1)
    for count in (0, 4):
        with pytest.raises(ValueError, match="so many"):
            search(X, 3).inner(X, count, 1)
    with pytest.raises(ValueError, match="sparse where"):
        search(X, 3).inner(sparse(X), 1, 1)
    with pytest.raises(ValueError, match="width"):
        search((offsets, columns, values), 3).inner((offsets, columns + 1, values), 1, 1)
    with pytest.raises(ValueError, match="width"):
        search(X, 2)


@pytest.mark.parametrize("search", IMPLEMENTATIONS)
def test_no_queries_and_empty_rows(search):
    nothing = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)
    assert len(search(sparse(np.eye(2)), 2).cosine(nothing, 1, 1)[0]) == 0
    empty = sparse(np.zeros((3, 4)))
    for metric in METRICS:
        rows, scores = getattr(search(empty, 4), metric)(empty, 2, 1)
        assert rows.tolist() == [0, 1] * 3
        assert (scores == 0).all()
