"""Trees as arrays against scikit-learn, and files by which a walk could go astray."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import threads
from linnaeus.arrays import Dense, as_rows
from linnaeus.errors import DataError, LinnaeusError, ModelFileError, UsageError
from linnaeus.learners.ensembles import FittedGradient, FittedVotes, Forest, GradientBoosting, Tree
from linnaeus.learners.ensembles.trees import rounded_down
from linnaeus.types import LabelSets, Lesson, State

LEARNERS = {
    "tree": Tree(depth=6),
    "forest": Forest(trees=12, depth=8),
    "gradient_boosting": GradientBoosting(rounds=8),
}
each_learner = pytest.mark.parametrize("name", LEARNERS)


def make(seed=0, n=150, d=10, k=3):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.5, 0.0, rng.normal(size=(n, d)))
    y = np.clip(np.digitize(X[:, 0] * X[:, 1] + X[:, 2], np.linspace(-0.5, 0.5, k - 1)), 0, k - 1)
    return X, y


def scikit(name, seed=0):
    """The estimator of scikit-learn with the same settings."""
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    return {
        "tree": DecisionTreeClassifier(max_depth=6, random_state=seed),
        "forest": RandomForestClassifier(12, max_depth=8, random_state=seed),
        "gradient_boosting": GradientBoostingClassifier(n_estimators=8, random_state=seed),
    }[name]


def lesson(X, y, k, weights=None, seed=0):
    return Lesson(X, y, np.ones(len(y)) if weights is None else weights, k, seed)


@each_learner
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_probabilities_are_those_of_scikit_learn(name, k, sparse, weighted):
    X, y = make(k=k)
    asked, _ = make(seed=1, n=400)
    rows = (as_rows(X).to_csr(), as_rows(asked).to_csr()) if sparse else (Dense(X), Dense(asked))
    weights = np.random.default_rng(3).uniform(0.2, 3, len(y)) if weighted else None
    model = LEARNERS[name].learn(lesson(rows[0], y, k, weights, seed=5))
    short = rows[0].to_scipy() if sparse else X
    theirs = scikit(name, 5).fit(short.astype(np.float32), y, sample_weight=weights)
    P = model.chances(model.scores(rows[1]))
    assert np.allclose(P, theirs.predict_proba(asked.astype(np.float32)), rtol=1e-6, atol=1e-7)
    assert model.linear() is None


def test_raw_scores_of_gradient_boosting_are_those_of_scikit_learn():
    for k in (2, 4):
        X, y = make(k=k)
        S = LEARNERS["gradient_boosting"].learn(lesson(Dense(X), y, k)).scores(Dense(X))
        theirs = scikit("gradient_boosting").fit(X.astype(np.float32), y).decision_function(X.astype(np.float32))
        assert np.allclose(S[:, 1] - S[:, 0] if k == 2 else S, theirs, rtol=1e-6, atol=1e-6)


@each_learner
def test_numbers_are_those_of_scikit_learn(name):
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
    from sklearn.tree import DecisionTreeRegressor

    X, _ = make()
    Y = np.column_stack([X[:, 0] * X[:, 1], 1000 + X[:, 2]])
    theirs = {
        "tree": DecisionTreeRegressor(max_depth=6, random_state=0),
        "forest": RandomForestRegressor(12, max_depth=8, random_state=0),
        "gradient_boosting": GradientBoostingRegressor(n_estimators=8, random_state=0),
    }[name]
    short, found = X.astype(np.float32), LEARNERS[name].learn(lesson(Dense(X), Y, 2)).scores(Dense(X))
    if name == "gradient_boosting":
        wanted = np.column_stack([theirs.fit(short, target).predict(short) for target in Y.T])
    else:
        wanted = theirs.fit(short, Y).predict(short)
    assert np.allclose(found, wanted, rtol=1e-6, atol=1e-6)
    one = LEARNERS[name].learn(lesson(Dense(X), Y[:, :1], 1)).scores(Dense(X))
    assert one.shape == (len(X), 1)


@pytest.mark.parametrize("name", ["tree", "forest"])
def test_label_sets_are_trees_of_all_labels_as_scikit_learn_grows_them(name):
    from sklearn.tree import DecisionTreeClassifier

    X, _ = make()
    table = np.column_stack([X[:, 0] > 0.2, X[:, 1] > 0.5, X[:, 0] * X[:, 1] > 0]).astype(int)
    given = [np.flatnonzero(row) for row in table]
    y = LabelSets(np.cumsum([0] + [len(row) for row in given]), np.concatenate(given).astype(np.int32))
    model = LEARNERS[name].learn(lesson(Dense(X), y, 3))
    S = model.scores(Dense(X))
    P = model.chances(S)
    assert np.allclose(P, model.shares(Dense(X)), atol=1e-12)
    assert ((S > 0) == (P > 0.5)).all()
    assert ((S > 0) == table).mean() > 0.9
    if name == "tree":
        theirs = DecisionTreeClassifier(max_depth=6, random_state=0).fit(X.astype(np.float32), table)
        wanted = np.column_stack([part[:, 1] for part in theirs.predict_proba(X.astype(np.float32))])
        assert np.allclose(P, wanted, atol=1e-6)


@each_learner
def test_the_same_seed_gives_the_same_bytes_for_any_number_of_threads(name):
    X, y = make()
    with threads(2):
        first = LEARNERS[name].learn(lesson(as_rows(X).to_csr(), y, 3, seed=7)).state()
    with threads(1):
        again = LEARNERS[name].learn(lesson(as_rows(X).to_csr(), y, 3, seed=7)).state()
    assert first.manifest == again.manifest
    assert {k: v.tobytes() for k, v in first.tensors.items()} == {k: v.tobytes() for k, v in again.tensors.items()}


@each_learner
def test_a_state_builds_the_same_model(name):
    X, y = make()
    model = LEARNERS[name].learn(lesson(Dense(X), y, 3))
    again = type(model).from_state(model.state())
    assert np.array_equal(model.scores(Dense(X)), again.scores(Dense(X)))


@each_learner
def test_a_single_row_has_the_bits_it_has_among_others(name):
    X, y = make(n=90)
    model = LEARNERS[name].learn(lesson(Dense(X), y, 3))
    S = model.scores(Dense(X))
    assert np.array_equal(S, np.vstack([model.scores(Dense(X[i : i + 1])) for i in range(90)]))


def test_leaves_that_say_the_same_share_their_values():
    X, y = make(n=400)
    trees = Forest(trees=20).learn(lesson(Dense(X), y, 3)).trees
    assert len(trees.values) == 3  # grown to the end, every leaf has rows of one class
    assert len(trees.feature) > 1000


def test_a_threshold_in_float32_decides_as_the_one_in_float64():
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=5000).astype(np.float32))
    for thresholds in (rng.normal(size=5000), (x[:-1].astype(float) + x[1:]) / 2, x.astype(np.float64)):
        for values in (x[: len(thresholds)], np.roll(x, 1)[: len(thresholds)]):
            assert np.array_equal(values <= rounded_down(thresholds), values.astype(np.float64) <= thresholds)


@each_learner
def test_one_class_only_and_a_class_without_rows(name):
    X, y = make()
    model = LEARNERS[name].learn(lesson(Dense(X), np.zeros(len(y), np.int32), 3))
    S = model.scores(Dense(X))
    assert np.isfinite(S).all()
    assert (S.argmax(axis=1) == 0).all()
    model = LEARNERS[name].learn(lesson(Dense(X), np.where(y == 1, 2, y), 3))
    S = model.scores(Dense(X))
    assert np.isfinite(S).all()
    assert (S.argmax(axis=1) != 1).all()
    assert np.isfinite(type(model).from_state(model.state()).chances(S)).all()


@each_learner
def test_features_that_never_change_leave_the_shares_of_the_classes(name):
    y = np.array([0, 1, 1, 1] * 5)
    model = LEARNERS[name].learn(lesson(Dense(np.ones((20, 2))), y, 2, seed=3))
    P = model.chances(model.scores(Dense(np.ones((1, 2)))))
    assert np.allclose(P, [[0.25, 0.75]], atol=0.1 if name == "forest" else 1e-6)  # a forest draws its rows


@each_learner
def test_rows_without_weight_teach_nothing(name):
    X, y = make()
    weights = (y != 2).astype(np.float64)
    model = LEARNERS[name].learn(lesson(Dense(X), y, 3, weights))
    fewer = LEARNERS[name].learn(lesson(Dense(X[y != 2]), y[y != 2], 3))
    assert np.array_equal(model.scores(Dense(X)), fewer.scores(Dense(X)))
    with pytest.raises(DataError, match="weight zero"):
        LEARNERS[name].learn(lesson(Dense(X), y, 3, 0 * weights))


@each_learner
def test_rows_that_cannot_be_asked_are_refused(name):
    X, y = make()
    model = LEARNERS[name].learn(lesson(Dense(X), y, 3))
    with pytest.raises(UsageError, match="10 features"):
        model.scores(Dense(X[:, :4]))
    with pytest.raises(DataError, match="no features"):
        LEARNERS[name].learn(lesson(Dense(X[:, :0]), y, 3))
    with pytest.raises(DataError, match="float32"):
        LEARNERS[name].learn(lesson(Dense(X * 1e60), y, 3))


@each_learner
def test_numbers_beyond_float32_are_refused(name):
    X, _ = make()
    with pytest.raises(DataError, match="beyond the range"):
        LEARNERS[name].learn(lesson(Dense(X), X[:, :1] * 1e60, 1))


@pytest.mark.parametrize(
    ("make_it", "word"),
    [
        (lambda: Tree(depth=0), "depth"),
        (lambda: Tree(leaf=0), "leaf"),
        (lambda: Tree(leaf=1.5), "leaf"),
        (lambda: Forest(trees=0), "trees"),
        (lambda: Forest(trees=True), "trees"),
        (lambda: GradientBoosting(rate=0.0), "rate"),
        (lambda: GradientBoosting(share=2.0), "share"),
        (lambda: GradientBoosting(rounds="ten"), "rounds"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(make_it, word):
    with pytest.raises(LinnaeusError, match=word):
        make_it()


def inner(state):
    return int(np.flatnonzero(state.tensors["feature"] >= 0)[0])


def leaf(state):
    return int(np.flatnonzero(state.tensors["feature"] < 0)[0])


HOSTILE = {
    "a child before its parent": lambda s: ("left", inner(s), 0),
    "a child that is its parent": lambda s: ("right", inner(s), inner(s)),
    "a child beyond the tree": lambda s: ("right", inner(s), 10**6),
    "a child below zero": lambda s: ("left", inner(s), -5),
    "a feature too far": lambda s: ("feature", inner(s), 10),
    "a feature below -1": lambda s: ("feature", inner(s), -2),
    "a leaf without values": lambda s: ("left", leaf(s), 10**6),
    "a leaf below zero": lambda s: ("left", leaf(s), -1),
    "a threshold that is no number": lambda s: ("threshold", inner(s), np.nan),
    "a value without end": lambda s: ("values", 0, np.inf),
    "trees that begin elsewhere": lambda s: ("starts", 0, 1),
    "trees that end elsewhere": lambda s: ("starts", -1, 10**6),
    "a column too far": lambda s: ("slots", 0, 3),
    "a column below zero": lambda s: ("slots", 0, -1),
}


@each_learner
@pytest.mark.parametrize("wrong", HOSTILE)
def test_trees_that_lead_astray_are_refused(name, wrong):
    X, y = make()
    model = LEARNERS[name].learn(lesson(Dense(X), y, 3))
    state = model.state()
    part, at, value = HOSTILE[wrong](state)
    tensors = {key: array.copy() for key, array in state.tensors.items()}
    tensors[part][at] = value
    with pytest.raises(ModelFileError, match="damaged"):
        type(model).from_state(State(state.manifest, tensors))


@each_learner
@pytest.mark.parametrize("part", ["starts", "slots", "feature", "threshold", "left", "right", "values"])
def test_arrays_of_other_kinds_are_refused(name, part):
    X, y = make()
    state = LEARNERS[name].learn(lesson(Dense(X), y, 3)).state()
    kind = FittedGradient if name == "gradient_boosting" else FittedVotes
    for wrong in (state.tensors[part].astype(np.complex64), state.tensors[part][:-1], state.tensors[part][None]):
        if part == "values" and wrong.ndim == 2 and wrong.dtype == np.float32 and not len(state.tensors["values"]):
            continue
        with pytest.raises(ModelFileError, match="damaged"):
            kind.from_state(State(state.manifest, {**state.tensors, part: wrong}))
    rest = {key: array for key, array in state.tensors.items() if key != part}
    with pytest.raises(ModelFileError, match="damaged"):
        kind.from_state(State(state.manifest, rest))


@pytest.mark.parametrize(
    "change", [{"answers": "nothing"}, {"k": 0}, {"k": "3"}, {"k": 2}, {"k": 2**31 - 1}, {"width": -1}, {"width": 1.5}]
)
def test_manifests_that_do_not_fit_are_refused(change):
    X, y = make()
    state = LEARNERS["tree"].learn(lesson(Dense(X), y, 3)).state()
    with pytest.raises(ModelFileError, match="damaged"):
        FittedVotes.from_state(State({**state.manifest, **change}, state.tensors))


def test_shares_that_are_none_and_scores_that_begin_nowhere_are_refused():
    X, y = make()
    state = LEARNERS["tree"].learn(lesson(Dense(X), y, 3)).state()
    with pytest.raises(ModelFileError, match="an invalid share"):
        FittedVotes.from_state(State(state.manifest, {**state.tensors, "values": state.tensors["values"] * 2}))
    state = LEARNERS["gradient_boosting"].learn(lesson(Dense(X), y, 3)).state()
    for base in (np.zeros(0), np.full(3, np.inf), np.zeros((3, 1)), np.zeros(3, np.float32)):
        with pytest.raises(ModelFileError, match="damaged"):
            FittedGradient.from_state(State(state.manifest, {**state.tensors, "base": base}))
