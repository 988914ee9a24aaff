"""Bad input: one sentence, or an answer that the documentation gives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from linnaeus import MatrixClassifier, Recipe
from linnaeus.arrays import Dense
from linnaeus.errors import DataError, InputTypeError, ModelFileError, UsageError
from linnaeus.features import Words
from linnaeus.learners.bayes import (
    Bernoulli,
    Complement,
    CountModel,
    Frequencies,
    Gaussian,
    LinearDiscriminant,
    Multinomial,
    QuadraticDiscriminant,
)
from linnaeus.learners.restore import model_of
from linnaeus.recipes.tuning import Tuning
from linnaeus.types import Lesson, State

LEARNERS = [
    Multinomial(),
    Bernoulli(),
    Complement(),
    Complement(length="l1"),
    Frequencies(),
    Gaussian(),
    LinearDiscriminant(shrinkage=0.5),
    QuadraticDiscriminant(shrinkage=0.5),
]


@pytest.mark.parametrize("learner", [Multinomial(), Complement(), Frequencies()], ids=repr)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_values_below_zero(learner, form):
    with pytest.raises(DataError, match="some values are negative"):
        MatrixClassifier(learner=learner).fit(form([[1.0, -1.0], [5.0, 2.0]]), [0, 1])


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_class_without_rows_has_finite_scores_and_is_not_preferred(learner):
    X = Dense(np.array([[3.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.0, 3.0]]))
    model = learner.learn(Lesson(X, np.array([0, 0, 2, 2]), np.ones(4), 3))
    S = model.scores(X)
    assert np.isfinite(S).all()
    assert (S.argmax(axis=1) == [0, 0, 2, 2]).all()
    assert np.isfinite(model_of(model.state()).scores(X)).all()


@pytest.mark.parametrize(
    "learner", [kind(priors=(0.5, 0.5)) for kind in (Multinomial, Bernoulli, Gaussian, LinearDiscriminant)], ids=repr
)
def test_priors_of_a_wrong_number(learner):
    with pytest.raises(UsageError, match="2 priors for 3 classes"):
        MatrixClassifier(learner=learner).fit(np.eye(3), [0, 1, 2])


def test_priors_of_label_sets():
    with pytest.raises(UsageError, match="label sets"):
        Recipe(features=Words(), learner=Multinomial(priors=(0.5, 0.5))).fit([("a b", ["x"]), ("b", ["x", "y"])])


@pytest.mark.parametrize("kind", [Multinomial, Bernoulli, Gaussian, LinearDiscriminant, QuadraticDiscriminant])
def test_priors_that_are_none(kind):
    for wrong in ((0.5, 0.6), (1.0, 0.0), (0.5, float("nan"))):
        with pytest.raises(UsageError, match="probabilities above zero"):
            kind(priors=wrong)
    with pytest.raises(InputTypeError, match="tuple"):
        kind(priors="even")


@pytest.mark.parametrize("kind", [Multinomial, Bernoulli, Complement, Gaussian, Frequencies])
@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_smoothing_that_is_none(kind, wrong):
    with pytest.raises(UsageError, match="smoothing must be"):
        kind(smoothing=wrong)


@pytest.mark.parametrize("kind", [LinearDiscriminant, QuadraticDiscriminant])
def test_shrinkage_that_is_none(kind):
    with pytest.raises(UsageError, match="at least 0 and at most 1"):
        kind(shrinkage=1.5)
    with pytest.raises(InputTypeError, match="auto"):
        kind(shrinkage="some")


def test_a_length_and_a_threshold_that_are_none():
    with pytest.raises(UsageError, match="length must be 'l1'"):
        Complement(length="l2")
    with pytest.raises(UsageError, match="threshold must be at least 0"):
        Bernoulli(threshold=-0.5)


def test_bernoulli_without_a_threshold_wants_zeros_and_ones():
    with pytest.raises(DataError, match="0 and 1"):
        MatrixClassifier(learner=Bernoulli(threshold=None)).fit([[1.0, 2.0], [0.0, 1.0]], [0, 1])
    X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 1, 1]
    S = [MatrixClassifier(learner=Bernoulli(threshold=t)).fit(X, y).decision_function(X) for t in (None, 0.0)]
    np.testing.assert_allclose(S[0], S[1], rtol=1e-12)


def test_features_that_do_not_vary():
    X = np.hstack([np.ones((6, 1)), np.arange(6.0)[:, None] % 3, np.zeros((6, 1))])
    y = [0, 0, 0, 1, 1, 1]
    X[3:, 1] += 5
    model = MatrixClassifier(learner=LinearDiscriminant()).fit(X, y)
    W, _ = model.model_.linear()
    assert (W[[0, 2]] == 0).all()  # a constant feature has no weight
    assert model.predict(X).tolist() == y
    with pytest.raises(DataError, match="raise shrinkage"):
        MatrixClassifier(learner=QuadraticDiscriminant()).fit(X, y)
    for learner in (QuadraticDiscriminant(shrinkage=0.1), Gaussian()):
        assert MatrixClassifier(learner=learner).fit(X, y).predict(X).tolist() == y
    same = MatrixClassifier(learner=Gaussian()).fit(np.ones((4, 2)), [0, 0, 0, 1])
    assert same.predict(np.ones((1, 2))).tolist() == [0]


def test_fewer_rows_than_features():
    X, y = np.random.default_rng(0).normal(size=(8, 20)), [0, 1] * 4
    for learner in (
        LinearDiscriminant(),
        LinearDiscriminant(shrinkage="auto"),
        QuadraticDiscriminant(shrinkage="auto"),
    ):
        assert np.isfinite(MatrixClassifier(learner=learner).fit(X, y).decision_function(X)).all()
    with pytest.raises(DataError, match="fewer rows than features"):
        MatrixClassifier(learner=QuadraticDiscriminant()).fit(X, y)


def test_a_class_of_one_row_has_the_covariance_of_all():
    X, y = np.random.default_rng(0).normal(size=(9, 2)), [0, 0, 0, 0, 1, 1, 1, 1, 2]
    model = MatrixClassifier(learner=QuadraticDiscriminant(shrinkage=0.1)).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("learner", [LinearDiscriminant(), QuadraticDiscriminant()], ids=repr)
def test_too_many_features_name_the_way_out(learner):
    with pytest.raises(UsageError, match="Reduced"):
        MatrixClassifier(learner=learner).fit(sparse.csr_matrix((4, 50_000)), [0, 1, 0, 1])


def test_a_rare_class_that_is_missing_in_folds():
    rows = [("good film", "pos"), ("bad film", "neg")] * 6 + [("strange", "odd")]
    for learner in (Multinomial(), Bernoulli(), Complement(), Gaussian(smoothing=0.1)):
        model = Recipe(features=Words(), learner=learner, tuning=Tuning(folds=3)).fit(rows)
        assert np.isfinite(model.scores(["good strange"])).all()


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_hostile_states_are_refused(learner):
    X = Dense(np.array([[3.0, 0.0], [2.0, 1.0], [0.0, 2.0], [1.0, 3.0]]))
    state = learner.learn(Lesson(X, np.array([0, 0, 1, 1]), np.ones(4), 2)).state()
    for name, array in state.tensors.items():
        for bad in (np.full_like(array, np.nan), array[..., :-1], array.ravel()[:1][None]):
            with pytest.raises(ModelFileError):
                model_of(State(state.manifest, {**state.tensors, name: bad}))
        with pytest.raises(ModelFileError):
            model_of(State(state.manifest, {other: kept for other, kept in state.tensors.items() if other != name}))


def test_priors_of_a_state_that_do_not_fit():
    X = Dense(np.eye(2))
    state = Multinomial().learn(Lesson(X, np.array([0, 1]), np.ones(2), 2)).state()
    with pytest.raises(ModelFileError, match="priors"):
        CountModel.from_state(State({**state.manifest, "priors": [0.2, 0.3, 0.5]}, state.tensors))
