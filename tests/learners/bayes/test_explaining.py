"""Naive Bayes is a linear classifier in log space: it explains itself like one."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import Recipe
from linnaeus.errors import UsageError
from linnaeus.features import Reduced, Words
from linnaeus.learners.bayes import Bernoulli, Complement, Frequencies, Gaussian, LinearDiscriminant, Multinomial

ROWS = [
    *(("a good film", "pos"), ("good fun", "pos"), ("a bad film", "neg"), ("so bad and so long", "neg")),
    *(("an odd film", "mixed"), ("odd but fun", "mixed")),
]
LINEAR = {
    "multinomial": Recipe(features=Words(ngrams=(1, 2)), learner=Multinomial(smoothing=0.1)),
    "bernoulli": Recipe(features=Words(values="binary"), learner=Bernoulli(threshold=None)),
    "complement": Recipe(features=Words(), learner=Complement(length="l1")),
    "frequencies": Recipe(features=Words(), learner=Frequencies(smoothing=1.0)),
    "lda": Recipe(features=Reduced(Words(values="tfidf"), width=4), learner=LinearDiscriminant(shrinkage="auto")),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", LINEAR)
def test_contributions_add_up_to_the_score(name, classes):
    model = LINEAR[name].fit(ROWS[: 2 * classes])
    for text in ("a good, good film", "so odd", "unknown"):
        why, S = model.explain(text, model.classes.tolist()), model.scores([text])[0]
        scores = {"neg": -S[0], "pos": S[0]} if classes == 2 else dict(zip(model.classes.tolist(), S, strict=True))
        for reason in why.reasons:
            assert reason.score == pytest.approx(scores[reason.name], rel=1e-6, abs=1e-9)
            assert reason.bias + reason.contributions.sum() == pytest.approx(reason.score, rel=1e-9, abs=1e-9)
            told = reason.bias + reason.unplaced + reason.characters().sum()
            assert told == pytest.approx(reason.score, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", LINEAR)
def test_weights_give_the_scores_of_the_model(name):
    model = LINEAR[name].fit(ROWS)
    X = model.features.rows([text for text, _ in ROWS])
    W, b = model.body.linear()
    np.testing.assert_allclose(X.dot(W) + b, model.body.scores(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.scores([text for text, _ in ROWS]), model.body.scores(X), rtol=1e-5, atol=1e-5)


def test_weights_of_multinomial_are_log_probabilities():
    model = LINEAR["multinomial"].fit(ROWS)
    W, b = model.body.linear()
    np.testing.assert_allclose(np.exp(W).sum(axis=0), 1)
    np.testing.assert_allclose(np.exp(b), 1 / 3)


def test_what_is_not_linear_says_so():
    model = Recipe(features=Words(), learner=Gaussian(smoothing=0.1)).fit(ROWS)
    assert not model.explain("a good film").exact
    assert LINEAR["multinomial"].fit(ROWS).explain("a good film").exact
    with pytest.raises(UsageError, match="no weights to show"):
        model.top_features()
