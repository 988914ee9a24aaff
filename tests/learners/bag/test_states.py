"""Fitted bags and their tables in a file: what is stored is restored, and what does not fit is refused."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.arrays import CSR
from linnaeus.errors import LinnaeusError, ModelFileError
from linnaeus.learners.bag.fitted import FittedBag, columns_of, gaps_of
from linnaeus.learners.bag.quantization import packed, unpacked
from linnaeus.types import State

D = 9


def bag(columns=True, pool="mean", codes=False):
    rng = np.random.default_rng(0)
    m = 5 if columns else D
    E, O = (rng.normal(size=size).astype(np.float32) for size in ((m, 4), (4, 3)))  # noqa: E741
    held = packed(E) if codes else None
    E = E if held is None else unpacked(held)
    where = np.array([0, 2, 3, 7, 8], np.int32) if columns else None
    return FittedBag(E, O, rng.normal(size=3).astype(np.float32), D, where, pool, held)


def matrix(seed=1):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (7, D)).astype(np.float32)
    X[2] = 0
    return X, CSR(
        np.concatenate([[0], np.cumsum((X != 0).sum(axis=1))]).astype(np.int64),
        np.nonzero(X)[1].astype(np.int32),
        X[X != 0],
        D,
    )


@pytest.mark.parametrize("columns", [True, False])
@pytest.mark.parametrize("pool", ["mean", "sum", "max"])
def test_scores_are_what_they_are_said_to_be(columns, pool):
    found, (X, rows) = bag(columns, pool), matrix()
    known = X if found.columns is None else X[:, found.columns]
    E, wanted = found.E.astype(np.float64), np.zeros((len(X), 4))
    for i, x in enumerate(known):
        if x.any():
            wanted[i] = E[x > 0].max(axis=0) if pool == "max" else x @ E / (x.sum() if pool == "mean" else 1)
    np.testing.assert_allclose(found.scores(rows), wanted @ found.O + found.b, atol=1e-6)


@pytest.mark.parametrize("pool", ["mean", "sum"])
@pytest.mark.parametrize("columns", [True, False])
def test_weights_of_a_row_give_its_scores(pool, columns):
    found, (_, rows) = bag(columns, pool), matrix()
    for i in range(len(rows)):
        one = rows.take(np.array([i]))
        weights, b = found.row_weights(one)
        np.testing.assert_allclose(one.data @ weights + b, found.scores(one)[0], atol=1e-6)
        if found.linear() is not None:
            W, b = found.linear()
            np.testing.assert_allclose(one.dot(W)[0] + b, found.scores(one)[0], atol=1e-6)


@pytest.mark.parametrize("codes", [True, False])
@pytest.mark.parametrize("columns", [True, False])
def test_a_state_gives_the_same_bag(columns, codes):
    found, (_, rows) = bag(columns, codes=codes), matrix()
    again = FittedBag.from_state(found.state())
    assert np.array_equal(found.scores(rows), again.scores(rows))
    assert again.state().manifest == found.state().manifest


def test_rows_of_another_width_are_refused():
    with pytest.raises(LinnaeusError, match="9 features"):
        bag().scores(CSR(np.array([0, 0]), np.zeros(0, np.int32), np.zeros(0, np.float32), 3))


WRONG = {
    "an unknown pool": {"pool": "median"},
    "no width": {"width": 0},
    "a huge width": {"width": 1 << 40},
    "a width that is no number": {"width": True},
    "vectors of another type": {"E": np.zeros((5, 4))},
    "a vector too few": {"E": np.zeros((4, 4), np.float32)},
    "vectors that are not finite": {"E": np.full((5, 4), np.nan, np.float32)},
    "vectors of no numbers": {"E": np.zeros((5, 0), np.float32)},
    "other output weights": {"O": np.zeros((3, 3), np.float32)},
    "no output weights": {"O": None},
    "an infinite bias": {"b": np.full(3, np.inf, np.float32)},
    "a bias of another size": {"b": np.zeros(4, np.float32)},
    "gaps that lead out": {"gaps": np.full(5, 9, np.uint8)},
    "gaps beyond all": {"gaps": np.full(5, 1 << 31, np.uint32)},
    "gaps of another type": {"gaps": np.zeros(5, np.float32)},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_hostile_states_are_refused(wrong):
    state = bag().state()
    for name, value in WRONG[wrong].items():
        where = state.manifest if name in ("pool", "width") else state.tensors
        where[name] = value
        if value is None:
            del where[name]
    with pytest.raises(ModelFileError):
        FittedBag.from_state(State(state.manifest, state.tensors))


CODES = {
    "no codes": {"codes": None},
    "a code without a centroid": {"centroids": np.zeros((2, 3, 2), np.float32)},
    "other parts": {"centroids": np.zeros((3, 256, 2), np.float32)},
    "a norm too few": {"norms": np.zeros(4, np.uint8)},
    "scales of another type": {"scales": np.zeros(256)},
    "few scales": {"scales": np.zeros(0, np.float32)},
    "a width that does not fit": {"width": np.array([9])},
    "a width of nothing": {"width": np.array([0])},
    "centroids that are not finite": {"centroids": np.full((2, 256, 2), np.inf, np.float32)},
}


@pytest.mark.parametrize("wrong", CODES)
def test_hostile_codes_are_refused(wrong):
    state = bag(codes=True).state()
    for name, value in CODES[wrong].items():
        state.tensors[f"packed.{name}"] = value
        if value is None:
            del state.tensors[f"packed.{name}"]
    with pytest.raises(ModelFileError):
        FittedBag.from_state(state)


@pytest.mark.parametrize("high", [200, 60_000, 2_000_000])
def test_gaps_give_the_columns_again(high):
    columns = np.unique(np.random.default_rng(0).integers(0, high, 30)).astype(np.int32)
    assert np.array_equal(columns_of(gaps_of(columns)), columns)
    assert len(columns_of(gaps_of(np.zeros(0, np.int32)))) == 0


@pytest.mark.parametrize("sub", [1, 2, 3, 4])
def test_codes_are_near_and_always_the_same(sub):
    E = np.random.default_rng(0).normal(size=(3000, 10)).astype(np.float32)
    first, again = packed(E, sub), packed(E, sub)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    lost = ((unpacked(first) - E) ** 2).sum() / (E**2).sum()
    assert lost < {1: 1e-3, 2: 0.01, 3: 0.06, 4: 0.15}[sub]


def test_few_rows_are_stored_exactly():
    E = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)
    np.testing.assert_allclose(unpacked(packed(E)), E, rtol=1e-5, atol=1e-6)
    assert unpacked(packed(np.zeros((3, 4), np.float32))).tolist() == np.zeros((3, 4)).tolist()
    assert unpacked(packed(np.zeros((0, 4), np.float32))).shape == (0, 4)
