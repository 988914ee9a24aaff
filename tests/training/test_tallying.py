"""Counting models without rows: the counts, and everything after them, have the bits that rows would give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linnaeus import Recipe, datasets, kernels
from linnaeus.errors import DataError, UsageError
from linnaeus.features import Chars, Exact, Hashed, Words
from linnaeus.learners.bayes import Bernoulli, Complement, Frequencies, Multinomial
from linnaeus.recipes.tuning import Tuning
from linnaeus.tasks import rows
from linnaeus.tasks.examples import as_examples
from linnaeus.tasks.rows import tallied
from linnaeus.text import Normalize

FEATURES = [
    Words(),
    Words(ngrams=(1, 2), terms=Exact(min_token_df=2)),
    Words(ngrams=(2, 3), terms=Exact(max_terms=500)),
    Words(terms=Exact(min_df=3), unknown=True),
]


def quick(recipe: Recipe, data: object) -> object:
    return tallied(recipe, as_examples(data), lambda: None)


@pytest.mark.parametrize("learner", [Multinomial(smoothing=0.1), Complement(), Frequencies(smoothing=1.0)], ids=repr)
@pytest.mark.parametrize("features", FEATURES, ids=repr)
def test_the_same_model_comes_out(features, learner, monkeypatch, tmp_path):
    train, recipe = datasets.intents("train"), Recipe(features=features, learner=learner)
    assert quick(recipe, train) is not None
    with kernels.threads(3):
        recipe.fit(train).save(tmp_path / "quick.lin")
    monkeypatch.setattr(rows, "MOST_COUNTED", 0)
    assert quick(recipe, train) is None
    recipe.fit(train).save(tmp_path / "rows.lin")
    assert (tmp_path / "quick.lin").read_bytes() == (tmp_path / "rows.lin").read_bytes()


@pytest.mark.parametrize(
    ("learner", "name"),
    [(Multinomial(smoothing=0.5), "MultinomialNB"), (Complement(), "ComplementNB"), (Bernoulli(), "BernoulliNB")],
    ids=repr,
)
def test_from_texts_it_is_the_model_of_scikit_learn(learner, name):
    from sklearn import naive_bayes
    from sklearn.feature_extraction.text import CountVectorizer

    train, test = datasets.intents("train"), datasets.intents("test").text.to_pylist()
    words = Words(tokenizer="scikit", normalize=Normalize(form=None, case="lower"))
    ours = Recipe(features=words, learner=learner).fit(train)
    vectorizer = CountVectorizer()
    theirs = getattr(naive_bayes, name)(alpha=learner.smoothing)
    theirs.fit(vectorizer.fit_transform(train.text.to_pylist()), train.labels.to_pylist())
    expected = theirs.predict_joint_log_proba(vectorizer.transform(test))
    np.testing.assert_allclose(ours.body.scores(ours.features.rows(test)), expected, rtol=1e-6)
    assert ours.predict(test).tolist() == theirs.predict(vectorizer.transform(test)).tolist()


ROWS = [("good film", "pos"), ("bad film", "neg"), ("so good", "pos")]


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(features=Words(values="binary"), learner=Multinomial()),
        Recipe(features=Words(length="l2"), learner=Multinomial()),
        Recipe(features=Words(terms=Hashed(8, signed=False)), learner=Multinomial()),
        Recipe(features=Chars(), learner=Multinomial()),
        Recipe(features=Words() | Chars(), learner=Multinomial()),
        Recipe(features=Words(), learner=Bernoulli()),
        Recipe(features=Words(), learner=Multinomial(), tuning=Tuning(folds=2)),
    ],
    ids=repr,
)
def test_what_needs_rows_has_rows(recipe):
    assert quick(recipe, ROWS) is None
    assert recipe.fit(ROWS).predict(["so good"]).tolist() == ["pos"]


def test_label_sets_and_many_classes_have_rows():
    recipe = Recipe(features=Words(), learner=Multinomial())
    assert quick(recipe, [(text, [label]) for text, label in ROWS]) is None
    assert quick(recipe, [(f"word{i}", str(i)) for i in range(40)]) is None


def test_weights_have_rows():
    examples = as_examples(ROWS)
    recipe = Recipe(features=Words(), learner=Multinomial())
    assert tallied(recipe, replace(examples, weights=np.array([1.0, 2.0, 1.0])), lambda: None) is None


def test_errors_are_those_of_rows():
    with pytest.raises(DataError, match="only one class"):
        Recipe(features=Words(), learner=Multinomial()).fit([("good", "pos"), ("fine", "pos")])
    with pytest.raises(UsageError, match="3 priors for 2 classes"):
        Recipe(features=Words(), learner=Multinomial(priors=(0.2, 0.3, 0.5))).fit(ROWS)
    with pytest.raises(DataError, match="passes min_df"):
        Recipe(features=Words(terms=Exact(min_df=3)), learner=Multinomial()).fit(ROWS)
