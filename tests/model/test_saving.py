"""No model is written over a file that is there, unless it is told to be."""

import pytest

from linnaeus import LinearClassifier, Recipe, Stage, Tagger, TextClassifier, features
from linnaeus.errors import UsageError
from linnaeus.estimators.ranker import CandidateClassifier

TEXTS, LABELS = ["good film", "bad film", "good", "bad"] * 3, ["pos", "neg"] * 6


def _stack():
    rows = list(zip(TEXTS, LABELS, strict=True))
    return Recipe(before=(Stage("a", "fast"),)).fit(rows, stages={"a": rows})


MODELS = {
    "TextClassifier": lambda: TextClassifier("fast").fit(TEXTS, LABELS),
    "Classifier": lambda: TextClassifier("fast").fit(TEXTS, LABELS).model_,
    "LinearClassifier": lambda: LinearClassifier().fit([[0.0, 1.0], [1.0, 0.0]], ["b", "a"]),
    "Tagger": lambda: Tagger().fit([["the", "dog"]], [["D", "N"]]),
    "Model": lambda: Tagger().fit([["the", "dog"]], [["D", "N"]]).model_,
    "CandidateClassifier": lambda: CandidateClassifier().fit([{"text": "a", "candidates": ["a", "b"]}] * 3, ["a"] * 3),
    "pipeline": _stack,
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_is_there_is_replaced_only_with_force(name, tmp_path):
    model, path = MODELS[name](), tmp_path / "model.lin"
    path.write_bytes(b"precious")
    with pytest.raises(
        UsageError, match=r"model.lin already exists; give another name, or overwrite it with force=True"
    ):
        model.save(path)
    assert path.read_bytes() == b"precious"
    model.save(path, force=True)
    assert path.read_bytes() != b"precious"


def test_features_that_are_there_are_replaced_only_with_force(tmp_path):
    fitted = features.Words().fit(TEXTS)
    features.save(tmp_path / "words.lin", fitted)
    with pytest.raises(UsageError, match="already exists"):
        features.save(tmp_path / "words.lin", fitted)
    features.save(tmp_path / "words.lin", fitted, force=True)
