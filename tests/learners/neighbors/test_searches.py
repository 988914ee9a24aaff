"""Every search: it finds what exact search finds, or most of it; it is stored, and hostile files are refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from linnaeus import Recipe, kernels, load, read
from linnaeus.arrays import Dense, as_rows
from linnaeus.errors import InputTypeError, ModelFileError, UsageError
from linnaeus.features import Reduced, Shape, Vectors, Words
from linnaeus.learners.neighbors import (
    SEARCHES,
    BallTree,
    Exact,
    FittedNeighbors,
    Graph,
    Hyperplanes,
    KDTree,
    MinHash,
    Neighbors,
)
from linnaeus.types import Lesson, State

FORMS = {
    "exact": (Exact(), ("cosine", "euclidean", "inner"), 1.0),
    "kdtree": (KDTree(leaf=5), ("cosine", "euclidean"), 1.0),
    "balltree": (BallTree(leaf=5), ("cosine", "euclidean"), 1.0),
    "graph": (Graph(links=8, build=60, walk=60), ("cosine", "euclidean", "inner"), 0.9),
    "hyperplanes": (Hyperplanes(bits=3, tables=20), ("cosine", "euclidean", "inner"), 0.8),
    "minhash": (MinHash(bits=1, tables=40), ("cosine", "euclidean", "inner"), 0.8),
}
"""A search, the metrics it knows, and the share of the nearest rows that it finds."""
CASES = [(name, metric) for name, (_, metrics, _) in FORMS.items() for metric in metrics]


def table(n=600, d=12, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n, d)) < 0.6) * rng.random((n, d))


def fitted(name, metric, X=None, seed=0):
    X = as_rows(table() if X is None else X)
    y = np.arange(len(X), dtype=np.int32) % 3
    return Neighbors(k=5, metric=metric, search=FORMS[name][0]).learn(Lesson(X, y, np.ones(len(X)), 3, seed))


def test_every_search_is_here():
    assert set(FORMS) == set(SEARCHES)


@pytest.mark.parametrize(("name", "metric"), CASES)
def test_it_finds_what_exact_search_finds(name, metric):
    Q = as_rows(table(60, seed=1))
    rows, scores = fitted(name, metric).near(Q, 10)
    wanted, best = fitted("exact", metric).near(Q, 10)
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(rows, wanted, strict=True)])
    assert recall >= FORMS[name][2]
    assert (np.diff(scores, axis=1) <= 0).all()
    if FORMS[name][2] == 1.0:
        assert np.allclose(scores, best, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("name", "metric"), CASES)
def test_it_is_the_same_on_every_run_and_again_from_its_state(name, metric):
    Q, states, answers = as_rows(table(20, seed=1)), [], []
    for threads in (1, 2, 5):
        with kernels.threads(threads):
            model = fitted(name, metric)
            states.append(model.state())
            answers.append(model.near(Q, 4))
    for state, answer in zip(states[1:], answers[1:], strict=True):
        assert all(np.array_equal(states[0].tensors[part], state.tensors[part]) for part in state.tensors)
        assert np.array_equal(answers[0][0], answer[0])
        assert np.array_equal(answers[0][1], answer[1])
    again = FittedNeighbors.from_state(states[0])
    for model in (again, pickle.loads(pickle.dumps(again))):
        assert np.array_equal(model.near(Q, 4)[0], answers[0][0])
        assert np.array_equal(model.scores(Q), fitted(name, metric).scores(Q))


@pytest.mark.parametrize(("name", "metric"), CASES)
def test_few_rows_equal_rows_and_rows_without_length(name, metric):
    same = np.ones((7, 3))
    rows, _ = fitted(name, metric, same).near(as_rows(same[:2]), 7)
    assert [sorted(row) for row in rows.tolist()] == [list(range(7))] * 2
    holed = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [-1.0, 0.0]])
    rows, scores = fitted(name, metric, holed).near(as_rows(holed), 5)
    assert [sorted(row) for row in rows.tolist()] == [list(range(5))] * 5
    assert np.isfinite(scores).all()
    one = fitted(name, metric, [[1.0, 2.0]])
    assert one.near(as_rows([[3.0, 1.0]]), 4)[0].tolist() == [[0]]
    assert one.near(Dense(np.zeros((0, 2))))[0].shape == (0, 1)


@pytest.mark.parametrize("name", ["graph", "kdtree", "balltree"])
def test_sparse_rows_are_refused_where_they_cannot_be_searched(name):
    with pytest.raises(UsageError, match="dense rows"):
        fitted(name, "cosine", csr_matrix(np.eye(4)))


@pytest.mark.parametrize("name", list(SEARCHES))
def test_sparse_and_dense_rows_find_the_same(name):
    X, Q = table(), table(9, seed=1)
    dense, sparse = (fitted(name, "cosine", form(X)).near(as_rows(form(Q))) for form in (np.asarray, csr_matrix))
    assert np.array_equal(dense[0], sparse[0])


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Graph(links=1), UsageError),
        (lambda: Graph(walk="x"), InputTypeError),
        (lambda: KDTree(leaf=0), UsageError),
        (lambda: Hyperplanes(bits=0), UsageError),
        (lambda: MinHash(tables=10**9), UsageError),
    ],
)
def test_bad_settings(make, error):
    with pytest.raises(error):
        make()


def test_trees_know_no_inner_products():
    with pytest.raises(UsageError, match="does not support the metric inner"):
        fitted("kdtree", "inner")


HOSTILE = [
    *[("graph", part, value) for part in ("index.links", "index.uppers") for value in (-1, 600, 2**31 - 1)],
    *[("graph", "index.levels", value) for value in (-1, 64, 2**31 - 1)],
    *[("graph", "index.offsets", value) for value in (-9, 3, 2**62)],
    ("graph", "index.scales", np.inf),
    *[("hyperplanes", "index.order", value) for value in (-1, 600)],
    ("minhash", "index.keys", 2**64 - 1),
]


@pytest.mark.parametrize(("name", "part", "value"), HOSTILE)
def test_a_hostile_state_is_refused(name, part, value):
    state = fitted(name, "cosine").state()
    for place in (0, 1, 5):
        wrong = state.tensors[part].copy()
        wrong.reshape(-1)[place] = value
        with pytest.raises(ModelFileError):
            FittedNeighbors.from_state(State(state.manifest, {**state.tensors, part: wrong}))
    with pytest.raises(ModelFileError):
        FittedNeighbors.from_state(State(state.manifest, {**state.tensors, part: state.tensors[part][:-1]}))


def test_a_large_model_is_mapped_and_searched_where_it_lies(tmp_path, monkeypatch):
    from linnaeus import store
    from linnaeus.store import file

    model = fitted("graph", "cosine")
    monkeypatch.setattr(file, "VERIFY_LIMIT", 1)
    store.save(tmp_path / "m.lin", model.state())
    again = FittedNeighbors.from_state(store.load(tmp_path / "m.lin"))
    assert not again.index.layers[2].flags.writeable
    Q = as_rows(table(20, seed=1))
    assert np.array_equal(again.near(Q)[0], model.near(Q)[0])


@pytest.mark.parametrize("name", list(SEARCHES))
@pytest.mark.parametrize("features", [Reduced(Words(), width=3), Reduced(Words(), width=2) | Shape(), Vectors("point")])
def test_dense_features_are_searched_in_every_way(name, features, tmp_path):
    texts = ["red apple", "green apple", "red car", "fast car", "green pear", "slow car"] * 4
    points = [[float(i), 1.0, float(i % 3)] for i in range(24)]
    corpus = read({"text": texts, "label": ["fruit", "fruit", "thing", "thing", "fruit", "thing"] * 4, "point": points})
    model = Recipe(features=features, learner=Neighbors(k=1, metric="euclidean", search=name)).fit(corpus)
    assert (model.predict(corpus) == model.predict(corpus.load())).all()
    model.save(tmp_path / "m.lin")
    assert load(tmp_path / "m.lin").scores(corpus).tobytes() == model.scores(corpus).tobytes()
    assert model.evaluate(corpus, rounds=0).value("accuracy") > 0.9
