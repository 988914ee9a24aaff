"""Smaller weights: how much is lost, what it saves, and that a small file cannot ask for a large memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.store.tampered import tampered

from linnaeus.errors import ModelFileError, UsageError
from linnaeus.store.compression import GROWTH, KINDS, dequantize, importance, prune, quantize
from linnaeus.types import State


def weights(d: int = 200, w: int = 7, zeros: float = 0.0) -> np.ndarray:
    """Heavy-tailed, as weights of words are: rows of very different sizes."""
    rng = np.random.default_rng(0)
    W = rng.standard_normal((d, w)) * np.exp(rng.standard_normal((d, 1)) * 2)
    return np.where(rng.random((d, w)) < zeros, 0, W).astype(np.float32)


def size(tensors: dict[str, np.ndarray]) -> int:
    return sum(array.nbytes for array in tensors.values())


MATRICES = arrays.arrays(
    np.float32,
    st.tuples(st.integers(0, 6), st.integers(0, 6)),
    elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
)


@given(MATRICES)
def test_float32_keeps_every_bit(W) -> None:
    assert dequantize(quantize(W, "float32")).tobytes() == W.tobytes()


@given(MATRICES, st.sampled_from(sorted(KINDS)))
def test_what_was_rounded_once_stays(W, kind) -> None:
    once = dequantize(quantize(W, kind))
    assert once.shape == W.shape
    assert once.dtype == np.float32
    if once.size:
        largest = np.abs(W).max()
        assert np.abs(once.astype(np.float64) - W).max() <= largest / 100
    if kind == "float16":
        assert dequantize(quantize(once, kind)).tobytes() == once.tobytes()


@pytest.mark.parametrize("zeros", [0, 0.5, 0.9])
@pytest.mark.parametrize(("kind", "error"), [("float32", 0), ("float16", 5e-4), ("int8", 0.01)])
def test_the_error_of_each_kind(kind, error, zeros) -> None:
    W = weights(zeros=zeros)
    lost = np.linalg.norm(dequantize(quantize(W, kind)) - W) / np.linalg.norm(W)
    assert lost <= error
    assert size(quantize(W, kind)) <= size(quantize(W, "float32"))


def test_scales_go_by_row_where_columns_would_lose_too_much() -> None:
    assert quantize(weights(), "int8")["scales"].shape == (200, 1)
    assert quantize(np.sign(weights()) + np.float32(0.5), "int8")["scales"].shape == (1, 7)
    assert quantize(weights(w=1), "int8")["scales"].shape == (1, 1)


def test_zeros_are_left_out_where_that_pays() -> None:
    W = weights(2000, 77, zeros=0.85)
    sparse, whole = quantize(W, "int8"), quantize(weights(2000, 77), "int8")
    assert set(whole) == {"codes", "scales"}
    assert sparse["columns"].dtype == np.uint8
    assert size(sparse) < 0.11 * W.nbytes
    assert np.array_equal(dequantize(sparse) != 0, sparse_codes(sparse) != 0)


def sparse_codes(packed: dict[str, np.ndarray]) -> np.ndarray:
    """The matrix of codes, one by one."""
    whole = np.zeros((len(packed["counts"]), packed["width"][0]), np.int8)
    at = 0
    for row, count in enumerate(packed["counts"].tolist()):
        for column, code in zip(packed["columns"][at : at + count], packed["codes"][at : at + count], strict=True):
            whole[row, column] = code
        at += count
    return whole


def test_whole_weights_are_used_where_they_lie() -> None:
    W = weights(zeros=0.9)
    assert np.shares_memory(dequantize(quantize(W)), W)


def test_almost_nothing_left_is_stored_whole() -> None:
    W = np.zeros((100, 1000), np.float32)
    W[5, 7] = 1
    packed = quantize(W, "int8")
    assert packed["codes"].shape == W.shape
    assert dequantize(packed).tolist() == W.tolist()


def test_more_columns_than_a_byte_can_count() -> None:
    W = weights(50, 300, zeros=0.9)
    packed = quantize(W, "int8")
    assert packed["columns"].dtype == np.uint16
    assert np.abs(dequantize(packed) - W).max() <= np.abs(W).max() / 127


def test_extremes_of_float32() -> None:
    W = np.array([[3.4e38, -3.4e38, 1e-45, 0]], np.float32)
    for kind in KINDS:
        assert dequantize(quantize(W, kind))[0, 0] == pytest.approx(3.4e38, rel=0.01)
    assert dequantize(quantize(np.full((2, 5), 1e-45, np.float32), "float16"))[0, 0] == np.float32(1e-45)
    assert not dequantize(quantize(np.full((2, 5), 1e-45, np.float32), "int8")).any()


def test_wrong_calls() -> None:
    with pytest.raises(UsageError, match="int4"):
        quantize(weights(), "int4")
    for W in (weights().astype(np.float64), weights()[0], weights() * np.inf):
        with pytest.raises(UsageError, match="finite float32"):
            quantize(W)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("zeros", [0, 0.8])
def test_weights_of_a_stranger(kind, zeros) -> None:
    packed = quantize(weights(40, 9, zeros), kind)
    for name, state in tampered(State({}, packed)):
        try:
            W = dequantize(state.tensors)
        except ModelFileError:
            continue
        assert W.dtype == np.float32, name
        assert W.ndim == 2, name
        assert np.isfinite(W).all() or kind == "float32", name
        assert W.nbytes <= GROWTH * size(state.tensors), name


def test_a_small_file_cannot_ask_for_a_large_memory() -> None:
    packed = quantize(weights(40, 9, 0.8), "int8")
    packed["width"] = np.array([1 << 40])
    with pytest.raises(ModelFileError, match="memory"):
        dequantize(packed)


def test_importance_is_the_change_of_the_scores() -> None:
    rng = np.random.default_rng(1)
    X, W = rng.random((30, 5)) * (rng.random((30, 5)) < 0.4), weights(5, 3)
    squares = (X**2).mean(0)
    for j in range(5):
        without = W.copy()
        without[j] = 0
        change = np.sqrt((((X @ W - X @ without) ** 2).sum(1)).mean())
        assert importance(W, squares)[j] == pytest.approx(change, rel=1e-6)


def test_pruning_keeps_the_largest_in_order() -> None:
    W = weights(100, 3, zeros=0.9)
    squares = np.random.default_rng(2).random(100)
    there = np.flatnonzero(np.abs(W).sum(1))
    assert prune(W, squares, 10**9).tolist() == there.tolist()
    kept = prune(W, squares, 5)
    assert kept.dtype == np.int32
    assert (np.diff(kept) > 0).all()
    assert importance(W, squares)[kept].min() >= np.delete(importance(W, squares), kept).max()
    assert len(prune(W, squares, 0)) == 0
    with pytest.raises(UsageError, match="features"):
        prune(W, squares[1:], 5)
