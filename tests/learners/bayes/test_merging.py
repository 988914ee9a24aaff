"""Models of two halves add up to the model of the whole: exactly where they count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linnaeus import Recipe
from linnaeus.arrays import CSR, Dense
from linnaeus.errors import DataError, UsageError
from linnaeus.features import Given, Hashed, Words
from linnaeus.learners.bayes import Bernoulli, Complement, Frequencies, Gaussian, LinearDiscriminant, Multinomial
from linnaeus.types import LabelSets, Lesson

COUNTING = [Multinomial(smoothing=0.5), Bernoulli(), Complement(length="l1"), Frequencies()]


def lesson(n: int = 60, d: int = 12, k: int = 4) -> Lesson:
    rng = np.random.default_rng(0)
    X = Dense(rng.poisson(0.7, (n, d)).astype(np.float32)).to_csr()
    return Lesson(X, rng.integers(0, k, n).astype(np.int32), np.ones(n), k)


@pytest.mark.parametrize("learner", COUNTING, ids=repr)
def test_counts_add_up_exactly(learner):
    whole = lesson()
    halves = [whole.take(np.arange(25)), whole.take(np.arange(25, 60))]
    model, parts = learner.learn(whole), [learner.learn(half) for half in halves]
    for found in (parts[0] + parts[1], parts[0].update(halves[1])):
        assert np.array_equal(found.counts.inside, model.counts.inside)
        assert np.array_equal(found.counts.sizes, model.counts.sizes)
        assert np.array_equal(found.scores(whole.X), model.scores(whole.X))


def test_label_sets_add_up_too():
    X, y = lesson().X, LabelSets(np.arange(61, dtype=np.int64), lesson().y)
    whole = Lesson(X, y, np.ones(60), 4)
    parts = [Multinomial().learn(whole.take(np.arange(*cut))) for cut in ((0, 30), (30, 60))]
    assert np.array_equal((parts[0] + parts[1]).scores(X), Multinomial().learn(whole).scores(X))


@pytest.mark.parametrize("dense", [False, True])
def test_moments_add_up_to_rounding(dense):
    whole = lesson()
    if dense:
        whole = replace(whole, X=Dense(whole.X.to_scipy().toarray().astype(np.float64) + 1e6))
    halves = [whole.take(np.arange(25)), whole.take(np.arange(25, 60))]
    model, parts = Gaussian().learn(whole), [Gaussian().learn(half) for half in halves]
    for found in (parts[0] + parts[1], parts[0].update(halves[1])):
        np.testing.assert_allclose(found.classes.scatter, model.classes.scatter, rtol=1e-9)
        np.testing.assert_allclose(found.classes.means, model.classes.means, rtol=1e-12)
        np.testing.assert_allclose(found.scores(whole.X), model.scores(whole.X), rtol=1e-7)


def test_moments_do_not_depend_on_how_rows_are_stored():
    whole = lesson()
    dense = replace(whole, X=Dense(whole.X.to_scipy().toarray()))
    assert isinstance(whole.X, CSR)
    one, other = (Gaussian().learn(part) for part in (whole, dense))
    np.testing.assert_allclose(one.classes.scatter, other.classes.scatter, rtol=1e-12)
    np.testing.assert_allclose(one.scores(whole.X), other.scores(dense.X), rtol=1e-9)


def test_other_settings_and_other_shapes_do_not_add_up():
    with pytest.raises(UsageError, match="same settings"):
        Multinomial().learn(lesson()) + Multinomial(smoothing=2.0).learn(lesson())
    with pytest.raises(UsageError, match="same settings"):
        Gaussian().learn(lesson()) + Gaussian(smoothing=1.0).learn(lesson())
    with pytest.raises(DataError, match="cannot be merged"):
        Multinomial().learn(lesson()) + Multinomial().learn(lesson(k=5))
    with pytest.raises(DataError, match="cannot be merged"):
        Gaussian().learn(lesson()) + Gaussian().learn(lesson(k=5))


ROWS = [
    *(("red apple and pear", "fruit"), ("green pear", "fruit"), ("iron and zinc", "metal"), ("red iron", "metal")),
    *(("an old oak", "tree"), ("green oak and elm", "tree"), ("a plum", "fruit"), ("zinc", "metal")),
]
FEATURES = [Words(terms=Hashed(8, signed=False)), Words(terms=Given(["red", "green", "oak", "iron", "zinc", "pear"]))]


@pytest.mark.parametrize("features", FEATURES, ids=["hashed", "given"])
@pytest.mark.parametrize("learner", [*COUNTING, Gaussian(smoothing=0.1)], ids=repr)
def test_classifiers_merge(learner, features, tmp_path):
    recipe = Recipe(features=features, learner=learner)
    whole, one, other = recipe.fit(ROWS), recipe.fit(ROWS[:4]), recipe.fit(ROWS[4:])  # one knows no trees
    texts = [text for text, _ in ROWS]
    for found in (one.merged(other), one.updated(ROWS[4:])):
        assert found.classes.tolist() == ["fruit", "metal", "tree"]
        assert found.facts["rows"] == 8
        np.testing.assert_allclose(found.scores(texts), whole.scores(texts), rtol=1e-9)
        if learner in COUNTING:
            assert np.array_equal(found.scores(texts), whole.scores(texts))
            assert np.array_equal(found.probabilities(texts), whole.probabilities(texts))
        found.save(tmp_path / "m.lin", force=True)
        assert np.array_equal(type(found).load(tmp_path / "m.lin").scores(texts), found.scores(texts))


def test_a_classifier_is_updated_by_rows_of_one_class():
    recipe = Recipe(features=FEATURES[0], learner=Multinomial())
    model = recipe.fit(ROWS[:7]).updated(ROWS[7:])
    assert np.array_equal(model.scores(["red zinc"]), recipe.fit(ROWS).scores(["red zinc"]))


def test_label_sets_of_classifiers_merge():
    rows = [(text, [label, "thing"]) for text, label in ROWS]
    recipe = Recipe(features=FEATURES[0], learner=Bernoulli())
    whole, found = recipe.fit(rows), recipe.fit(rows[:4]).merged(recipe.fit(rows[4:]))
    assert np.array_equal(found.scores(["red zinc"]), whole.scores(["red zinc"]))
    assert np.array_equal(recipe.fit(rows[:4]).updated(rows[4:]).scores(["oak"]), whole.scores(["oak"]))


def test_what_cannot_be_merged_says_so():
    words = Recipe(features=Words(), learner=Multinomial())
    with pytest.raises(UsageError, match="same features"):
        words.fit(ROWS[:4]).merged(words.fit(ROWS[4:]))
    with pytest.raises(UsageError, match="cannot be merged"):
        Recipe(features=Words()).fit(ROWS).merged(words.fit(ROWS))
    flat = Recipe(features=FEATURES[1], learner=LinearDiscriminant(shrinkage=0.5))
    with pytest.raises(UsageError, match="can be updated, but not"):
        flat.fit(ROWS).updated(ROWS)
    with pytest.raises(UsageError, match="differ in kind from the model"):
        words.fit(ROWS).updated([("plum", ["fruit"])])
