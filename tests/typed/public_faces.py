"""What a type checker says to users of the public names: checked by mypy in `make lint`, never run."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import linnaeus
from linnaeus import LogisticRegression, Model, Tagger, TextClassifier
from linnaeus.data import Corpus
from linnaeus.estimators.matrix import MatrixClassifier
from linnaeus.estimators.ranker import CandidateClassifier, Ranker
from linnaeus.evaluation import Evaluation
from linnaeus.explain import Explanation, Neighbor
from linnaeus.tasks.classify.prediction import Prediction

TEXTS, LABELS = ["good", "bad"], ["pos", "neg"]


def text_classifier() -> None:
    model = TextClassifier("fast", regularizer__strength=3.0)
    assert_type(model.fit(TEXTS, LABELS), TextClassifier)
    assert_type(model.predict(TEXTS), NDArray[Any])
    assert_type(model.predict_proba(TEXTS), NDArray[np.float64])
    assert_type(model.decision_function(TEXTS), NDArray[np.float64])
    assert_type(model.classify("good"), Prediction)
    assert_type(model.explain("good"), Explanation)
    assert_type(model.score(TEXTS, LABELS), float)
    assert_type(model.evaluation_, Evaluation | None)
    assert_type(model.classes_, NDArray[Any])
    assert_type(model.set_params(seed=1), TextClassifier)
    assert_type(model.get_params(), dict[str, Any])
    assert_type(TextClassifier.load("m.lin"), TextClassifier)


def classifier(corpus: Corpus) -> None:
    model = linnaeus.Recipe().fit(corpus)
    assert_type(model, Model)
    assert_type(model.predict(corpus), Any)
    assert_type(model.probabilities(corpus), NDArray[np.float64])
    assert_type(model.classify("good", top=2), Prediction)
    assert_type(model.explain("good"), Explanation)
    assert_type(model.evaluate(corpus), Evaluation)
    assert_type(model.search("good"), list[list[Neighbor]])
    assert_type(model.save("m.lin", force=True), None)
    assert_type(Model.load("m.lin"), Model)


def tagger() -> None:
    model = Tagger("pos")
    assert_type(model.fit([["a", "dog"]], [["D", "N"]]), Tagger)
    assert_type(model.predict([["a", "dog"]]), list[list[str]])
    assert_type(model.predict_marginals([["a", "dog"]]), list[list[dict[str, float]]])
    assert_type(model.score([["a", "dog"]], [["D", "N"]]), float)
    assert_type(Tagger.load("m.lin"), Tagger)


def ranker(examples: list[dict[str, Any]]) -> None:
    model = Ranker()
    assert_type(model.fit(examples), Ranker)
    assert_type(model.predict(examples), list[list[str | None]])
    assert_type(model.score(examples), float)
    assert_type(CandidateClassifier().fit(examples), CandidateClassifier)
    assert_type(CandidateClassifier.load("m.lin"), CandidateClassifier)


def matrices(X: NDArray[np.float64], y: NDArray[Any]) -> None:
    model = LogisticRegression(strength=0.1)
    assert_type(model.fit(X, y), LogisticRegression)
    assert_type(model.predict(X), NDArray[Any])
    assert_type(model.score(X, y), float)
    assert_type(LogisticRegression.load("m.lin"), LogisticRegression)
    assert_type(MatrixClassifier.load("m.lin"), MatrixClassifier)


def loaded() -> None:
    assert_type(linnaeus.load("m.lin"), Model)
