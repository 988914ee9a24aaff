"""Weights that are finite each, and too large together: one sentence, never a score that is not a number."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from linnaeus import MatrixClassifier, Model, TextClassifier, read, store
from linnaeus.cli.main import main
from linnaeus.erm import separability
from linnaeus.errors import LinnaeusError
from linnaeus.model.file import model_of, state_of
from linnaeus.recipes.cookbook import recipe
from linnaeus.types import State

ROWS = [("a good film", "pos"), ("so good", "pos"), ("a bad film", "neg"), ("so bad", "neg")] * 5
MORE = [*ROWS, *[("odd stuff here", "rare"), ("odd film here", "rare")] * 4]
TEXTS = ["a good film", "so bad", "", "nothing known here"]
FAST = ["default", "naive-bayes", "lda", "knn-metric", "kernel-svm"]
REST = [
    "logistic",
    "nystrom-svm",
    "bernoulli-naive-bayes",
    "complement-naive-bayes",
    "knn",
    "nearest-centroid",
    "kernel-ridge",
    "kernel-perceptron",
]
REST += ["gaussian-process", "string-kernel", "fourier-svm", "adaboost", "random-forest", "gradient-boosting"]
NAMES = [*FAST, *(pytest.param(name, marks=pytest.mark.slow) for name in REST)]


def huge(array: np.ndarray) -> dict[str, np.ndarray]:
    """The same shape, nearly as large as its type can hold."""
    most = np.asarray(0.9 * np.finfo(array.dtype).max, array.dtype)
    odd = (np.arange(array.size) % 2 == 1).reshape(array.shape)
    return {"all": np.full_like(array, most), "none": np.full_like(array, -most), "both": np.where(odd, most, -most)}


def asked(path: Path) -> list[str]:
    """What of a model is not finite; an error in a sentence is fine."""
    wrong = []
    try:
        model = Model.load(path)
    except LinnaeusError:
        return []
    for name in ("scores", "probabilities", "out_of_scope"):
        try:
            if not np.isfinite(getattr(model, name)(TEXTS)).all():
                wrong.append(name)
        except LinnaeusError:
            pass
    try:
        model.predict(TEXTS)
        if not np.isfinite(model.classify(TEXTS[0]).probability):
            wrong.append("classify")
    except LinnaeusError:
        pass
    return wrong


@pytest.mark.parametrize("rows", [ROWS, MORE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("name", NAMES)
def test_no_answer_is_anything_but_a_number(name, rows, tmp_path):
    found = recipe(name)
    state = state_of((found.changed({"tuning.folds": 2}) if found.tuning else found).fit(read(rows)))
    wrong = {}
    for tensor, array in state.tensors.items():
        if array.dtype.kind != "f" or not array.size:
            continue
        for how, values in huge(array).items():
            store.save(tmp_path / "a.lin", State(state.manifest, {**state.tensors, tensor: values}))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if answers := asked(tmp_path / "a.lin"):
                    wrong[tensor, how] = answers
    assert wrong == {}


def test_duals_that_overflow_are_seen_when_the_file_is_opened(tmp_path, capfd):
    state = state_of(recipe("kernel-svm").fit(read(ROWS)))
    duals = np.full_like(state.tensors["body.duals"], 1e308)
    store.save(tmp_path / "a.lin", State(state.manifest, {**state.tensors, "body.duals": duals}))
    with pytest.raises(LinnaeusError, match="its dual coefficients are so large that scores overflow"):
        Model.load(tmp_path / "a.lin")
    (tmp_path / "a.txt").write_text("so good\n", encoding="utf-8")
    assert main(["predict", str(tmp_path / "a.lin"), str(tmp_path / "a.txt")]) == 4
    assert "Traceback" not in capfd.readouterr().err


def test_features_that_overflow_are_seen_when_it_predicts(tmp_path):
    state = state_of(recipe("lda").fit(read(ROWS)))
    projection = huge(state.tensors["features.projection"])["all"]
    store.save(tmp_path / "a.lin", State(state.manifest, {**state.tensors, "features.projection": projection}))
    model = Model.load(tmp_path / "a.lin")
    with pytest.raises(
        LinnaeusError, match="The scores of row 0 are not finite: the weights of the model are too large"
    ):
        model.predict(TEXTS)


TOLD = [[("the", "D"), ("cat", "N"), ("sat", "V")], [("a", "D"), ("dog", "N"), ("ran", "V")]] * 6


@pytest.mark.parametrize("tensor", ["body.W", "body.shared"])
@pytest.mark.parametrize("name", ["pos", "pos-crf", "pos-second", "pos-greedy"])
def test_taggers_say_so_too(name, tensor, tmp_path, capfd):
    state = state_of(recipe(name).fit(TOLD))
    (tmp_path / "a.txt").write_text("the dog sat\n", encoding="utf-8")
    for values in huge(state.tensors[tensor]).values():
        changed = State(state.manifest, {**state.tensors, tensor: values})
        with pytest.raises(LinnaeusError, match="scores of taggings would overflow"):
            model_of(changed)
        store.save(tmp_path / "a.lin", changed)
        assert main(["predict", str(tmp_path / "a.lin"), str(tmp_path / "a.txt")]) == 4
        assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("name", ["pos", "pos-crf", "pos-second", "pos-greedy"])
def test_the_largest_weights_of_taggers_add_up_to_finite_scores(name):
    state = state_of(recipe(name).fit(TOLD))
    large = {tensor: np.full_like(state.tensors[tensor], 1e20) for tensor in ("body.W", "body.shared")}
    model = model_of(State(state.manifest, {**state.tensors, **large}))
    sentence = ["the", "dog", "sat"] * 300
    assert np.isfinite(model.probabilities([sentence])).all()
    assert np.isfinite(model.rank([sentence], 1)[0][0][1])
    assert len(model.predict([sentence])[0]) == len(sentence)


@pytest.mark.parametrize(
    "name", ["default", "fast", "naive-bayes", "lda", "knn", "kernel-svm", "least-squares", "adaboost"]
)
@pytest.mark.parametrize("weights", [[1e308] * 20, [1.0] * 3 + [1e308] * 17], ids=["all", "some"])
def test_weights_of_rows_that_overflow_are_refused_first(name, weights):
    texts, labels = zip(*ROWS, strict=True)
    with pytest.raises(LinnaeusError, match=r"sample_weight is 1e\+308 in row [03]; weights are at most 1e\+30"):
        TextClassifier(name).fit(list(texts), list(labels), sample_weight=weights)


@pytest.mark.parametrize("learner", ["gaussian", "neighbors", "kernel_ridge"])
def test_features_of_matrices_that_overflow_are_refused_first(learner):
    X = np.arange(12.0).reshape(6, 2) * 1e307
    with pytest.raises(LinnaeusError, match=r"X holds values so large .* scale the features"):
        MatrixClassifier(learner=learner).fit(X, ["a", "b"] * 3)
    with pytest.raises(LinnaeusError, match=r"X holds values so large .* scale the features"):
        separability(X, ["a", "b"] * 3)
