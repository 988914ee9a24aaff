"""The learned metric: its gradient, its help where directions are noise, the same bits for the same seed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from linnaeus import kernels
from linnaeus.arrays import as_rows
from linnaeus.errors import ModelFileError, UsageError
from linnaeus.learners.neighbors import Components, FittedNeighbors, Graph, Neighbors
from linnaeus.learners.neighbors.components import alike, pulls
from linnaeus.types import LabelSets, Lesson, State


def noisy(n=300, seed=0):
    """Two columns tell the class, thirty are noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n).astype(np.int32)
    angles = 2 * np.pi * y / 3 + 0.3 * rng.normal(size=n)
    return np.hstack([np.cos(angles)[:, None], np.sin(angles)[:, None], 0.7 * rng.normal(size=(n, 30))]), y


def lesson(X, y, seed=0):
    return Lesson(as_rows(X), y, np.ones(len(y)), 3, seed)


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_neighbors_are_better_in_the_learned_directions(form):
    (X, y), (Q, truth) = noisy(), noisy(200, seed=1)
    right = []
    for projection in (None, Components(width=4, epochs=30)):
        model = Neighbors(k=5, projection=projection).learn(lesson(form(X), y))
        right.append((model.scores(as_rows(form(Q))).argmax(axis=1) == truth).mean())
    assert right[1] > right[0] + 0.05
    assert right[1] > 0.9


def test_the_gradient_agrees_with_differences():
    rng = np.random.default_rng(0)
    Z, same = rng.normal(size=(6, 3)), alike(np.array([0, 1, 0, 1, 1, 2]), np.arange(6))

    def loss(S):
        S = S.copy()
        np.fill_diagonal(S, -np.inf)
        P = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)
        return -np.log((P * same).sum(axis=1)[:5]).sum()

    S, slopes = Z @ Z.T, pulls(Z, same, 0.5)
    for i, j in ((0, 1), (0, 2), (3, 4), (4, 5)):
        step = np.zeros_like(S)
        step[i, j] = 1e-6
        change = (loss((S + step) / 0.5) - loss((S - step) / 0.5)) / 2e-6
        assert np.isclose(slopes[i, j], change, rtol=1e-5)
    assert (slopes[5] == 0).all()  # the only one of its class


def test_label_sets_that_share_a_label_are_alike():
    sets = LabelSets(np.array([0, 2, 3, 3, 4]), np.array([0, 1, 1, 0], np.int32))
    found = alike(sets, np.arange(4))
    assert found.tolist() == [
        [False, True, False, True],
        [True, False, False, False],
        [False] * 4,
        [True, False, False, False],
    ]


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads():
    X, y = noisy()
    found = []
    for threads in (1, 3):
        with kernels.threads(threads):
            found.append(Components(width=5, epochs=2).learn(lesson(X, y)))
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], Components(width=5, epochs=2).learn(lesson(X, y, seed=1)))


def test_it_is_stored_and_hostile_ones_are_refused():
    X, y = noisy()
    how = Neighbors(k=5, projection=Components(width=4), search=Graph(links=4))
    model = how.learn(lesson(csr_matrix(X), y))
    state = model.state()
    Q = as_rows(csr_matrix(noisy(20, seed=1)[0]))
    assert np.array_equal(FittedNeighbors.from_state(state).scores(Q), model.scores(Q))
    assert model.keeps_rows == 300
    W = state.tensors["projection"]
    for wrong in (W[:, :3], W.astype(np.float64), np.full_like(W, np.nan)):
        with pytest.raises(ModelFileError):
            FittedNeighbors.from_state(State(state.manifest, {**state.tensors, "projection": wrong}))
    without = {name: array for name, array in state.tensors.items() if name != "projection"}
    with pytest.raises(ModelFileError):
        FittedNeighbors.from_state(State(state.manifest, without))


def test_what_it_cannot_learn_from():
    with pytest.raises(UsageError, match="metric cosine"):
        Neighbors(metric="euclidean", projection="components")
    with pytest.raises(UsageError, match="numbers"):
        Components().learn(Lesson(as_rows(np.eye(3)), np.ones((3, 1)), np.ones(3), 1))
    for settings in ({"width": 0}, {"rate": 0.0}, {"temperature": -1.0}, {"batch": 1}):
        with pytest.raises(UsageError):
            Components(**settings)
    alone = Components(epochs=1).learn(lesson(np.eye(3), np.arange(3)))
    assert np.isfinite(alone).all()
