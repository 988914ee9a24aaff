"""What users get wrong, and the one sentence they are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from linnaeus.errors import LinnaeusError
from linnaeus.estimators import FACES
from linnaeus.estimators.linear import LinearClassifier
from linnaeus.estimators.named import LeastSquares, LogisticRegression
from linnaeus.estimators.regressor import LinearRegressor
from linnaeus.losses import MarginLoss
from linnaeus.optimizers import SGD, HeldOut
from linnaeus.outputs import Multiclass

X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 0.0]])
Y = ["a", "b", "a", "b"]
NAN, INF = X.copy(), X.copy()
NAN[1, 0], INF[2, 1] = np.nan, np.inf

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "NaN": ({}, {"X": NAN}, r"X\[1, 0\] is NaN; fill in"),
    "infinity": ({}, {"X": INF}, r"X\[2, 1\] is infinity"),
    "one class": ({}, {"y": ["a"] * 4}, r"only one class, 'a'; a classifier needs examples of at least two"),
    "mixed labels": ({}, {"y": ["a", 1, "a", 1]}, r"mixed type \(int, str\); make all of them strings or all numbers"),
    "missing labels": ({}, {"y": ["a", None, "a", "b"]}, "The label of row 1 is missing .*; leave the row out"),
    "NaN among labels": ({}, {"y": ["a", "b", np.nan, "b"]}, "The label of row 2 is missing"),
    "NaN among numbers": ({}, {"y": [0.0, 1.0, 0.0, np.nan]}, "The label of row 3 is missing"),
    "NaN among objects": ({}, {"y": np.array(["a", np.nan, "a", "b"], object)}, "The label of row 1 is missing"),
    "NA of pandas": ({}, {"y": pd.Series([1, 2, None, 1], dtype="Int64")}, "The label of row 2 is missing"),
    "a gap in categories": ({}, {"y": pd.Categorical(["a", None, "b", "a"])}, "The label of row 1 is missing"),
    "no time": ({}, {"y": np.array(["2020", "NaT", "2021", "2020"], "M8[Y]")}, "The label of row 1 is missing"),
    "masked labels": (
        {},
        {"y": np.ma.array([0, 1, 0, 1], mask=[False, True, False, False])},
        "The label of row 1 is missing",
    ),
    "a gap in lists": ({}, {"y": [["a"], ["a", None], ["b"], []]}, "A label of row 1 is missing"),
    "infinite labels": ({}, {"y": [0.0, np.inf, 0.0, 1.0]}, "The label of row 1 is infinity"),
    "huge labels": ({}, {"y": [2**70, 1, 1, 2]}, "beyond 64 bits; give strings"),
    "texts": ({}, {"X": ["a text", "b text", "c", "d"]}, "X holds texts.*linnaeus.features.Words"),
    "a series of texts": ({}, {"X": pd.Series(["a text", "b text", "c", "d"])}, "X holds texts"),
    "one text": ({}, {"X": "a text"}, "X holds texts"),
    "nothing": ({}, {"X": None}, "X takes a matrix of numbers, one row for each example, not NoneType"),
    "numbers as labels": ({}, {"y": [0.5, 1.5, 0.5, 2.0]}, "use LinearRegressor for numbers"),
    "no labels": ({}, {"y": None}, "requires y to be passed"),
    "other length": ({}, {"y": ["a", "b", "a"]}, "X has 4 rows, but y has 3"),
    "negative weights": ({}, {"sample_weight": [1, 1, -1, 1]}, "sample_weight is negative in row 2"),
    "no weights": ({}, {"sample_weight": [0, 0, 0, 0]}, "sample_weight is zero in every row"),
    "one string as labels": ({}, {"y": "abc"}, "y takes one label, or one list of labels, for each row, not 'abc'"),
    "one number as labels": ({}, {"y": 5}, "y takes one label, .* not 5"),
    "labels in a cube": ({}, {"y": np.zeros((4, 2, 2))}, r"y takes one label, .* not an array of shape \(4, 2, 2\)"),
    "lists and labels": ({}, {"y": [["a"], "b", ["a"], "b"]}, "lists of labels in some rows and single labels"),
    "empty lists": ({}, {"y": [[]] * 4}, "The lists of labels are all empty"),
    "a checkpoint of no name": ({"checkpoint": 5}, {}, "checkpoint takes the name of a file, not 5"),
    "short weights": ({}, {"sample_weight": [1, 1]}, r"sample_weight has the shape \(2,\), but X has 4 rows"),
    "weights that leave one class": ({}, {"sample_weight": [1, 0, 1, 0]}, "only one class, 'a'"),
    "costs of another size": ({"costs": np.ones((3, 3)) - np.eye(3)}, {}, "costs is 3 by 3, but there are 2 classes"),
    "costs that are no matrix": ({"costs": [1, 2]}, {}, "costs must be a square matrix"),
    "expected cost without costs": ({"decision": "expected_cost"}, {}, "needs costs"),
    "expected cost without chances": (
        {"decision": "expected_cost", "costs": [[0, 1], [1, 0]], "loss": "hinge"},
        {},
        "needs probabilities",
    ),
    "costs the loss has no place for": (
        {"costs": [[0, 1], [5, 0]]},
        {},
        "The Log loss has no place for costs in Binary output; use decision='expected_cost'",
    ),
    "costs in the output space": (
        {"loss": "perceptron", "output": Multiclass(costs=[[0, 1], [5, 0]])},
        {},
        "The Perceptron loss has no place for costs in Multiclass output; use a loss that takes costs, such as hinge",
    ),
    "costs of squares of joint scores": (
        {"loss": "squared", "output": "multiclass", "costs": [[0, 1], [5, 0]]},
        {},
        "The Squared loss has no place for costs in Multiclass output",
    ),
    "values that overflow": ({}, {"X": X * 1e200}, r"X holds values so large \(2e\+200\) that their squares overflow"),
    "values that overflow an SVM": ({"loss": "hinge"}, {"X": X * 1e60}, "scale the features"),
    "weights that overflow": (
        {},
        {"sample_weight": [1.0, 1e308, 1.0, 1.0]},
        r"sample_weight is 1e\+308 in row 1; weights are at most 1e\+30",
    ),
    "class weights that overflow": ({"class_weight": {"a": 1e308}}, {}, r"class_weight of 'a' is 1e\+308; weights are"),
    "costs that overflow": (
        {"costs": [[0, 1e308], [1, 0]]},
        {},
        r"costs holds 1e\+308; a mistake costs at most 1e\+50",
    ),
    "unknown decision": ({"decision": "best"}, {}, "decision takes 'score' or 'expected_cost', not 'best'"),
    "unknown loss": ({"loss": "logg"}, {}, "There is no loss 'logg'; did you mean 'log'"),
    "unknown regularizer": ({"regularizer": "l3"}, {}, "There is no regularizer 'l3'; take one of none, l2"),
    "unknown optimizer": ({"optimizer": "magic"}, {}, "There is no optimizer 'magic'; take one of sgd"),
    "unknown output": ({"output": "all"}, {}, "There is no output 'all'; take one of binary, multiclass"),
    "a class instead of an object": ({"loss": dict}, {}, "loss takes a plain name"),
    "pieces that do not combine": (
        {"loss": "hinge", "optimizer": "lbfgs"},
        {},
        "LBFGS needs a differentiable objective",
    ),
    "an output of numbers": ({"output": "real"}, {}, "does not fit these labels"),
    "binary of three": ({"output": "binary"}, {"y": ["a", "b", "c", "a"]}, "needs 2 classes, not 3"),
    "unknown bias": ({"bias": "some"}, {}, r"bias takes 'free' \(True\), 'regularized' or 'none' \(False\)"),
    "a number as bias": ({"bias": 1}, {}, "bias takes 'free'"),
    "unknown class weight": ({"class_weight": "even"}, {}, "class_weight takes 'balanced' or a dict"),
    "class weight of nobody": (
        {"class_weight": {"z": 1.0}},
        {},
        "class_weight names 'z', but the classes are 'a', 'b'",
    ),
    "class weight that is no number": ({"class_weight": {"a": "x"}}, {}, "class_weight of 'a' takes a number, not 'x'"),
    "class weight of None": ({"class_weight": {"a": None}}, {}, "class_weight of 'a' takes a number, not None"),
    "negative class weight": ({"class_weight": {"a": -1.0}}, {}, "class_weight of 'a' must be a finite number"),
    "class weights of zero": ({"class_weight": {"a": 0, "b": 0}}, {}, "class_weight is zero for every class"),
    "class weight with a slip": (
        {"class_weight": {"a": 2.0, "B": 1.0}},
        {},
        "class_weight names 'B', but the classes are 'a', 'b'",
    ),
    "epochs": ({"epochs": 0}, {}, "epochs must be at least 1"),
    "tol": ({"tol": -1.0}, {}, "tol must be at least 0"),
    "tol that is no number": ({"tol": "x"}, {}, "tol takes a number, not 'x'"),
    "seed": ({"seed": "x"}, {}, "seed takes a whole number, not 'x'"),
    "a schedule without held-out rows": (
        {"optimizer": SGD(schedule=HeldOut())},
        {},
        "use fit and held_out, such",
    ),
    "held out": ({"held_out": 1.5}, {}, "held_out must be at least 0 and below 1"),
    "held out of nothing": ({"held_out": 0.01}, {}, "leaves nothing on one side"),
    "a sparse matrix of other numbers": (
        {},
        {"y": sparse.csr_matrix([[1, 2], [0, 1], [1, 0], [0, 0]])},
        "a matrix with other values",
    ),
    "a matrix of other numbers": ({}, {"y": np.array([[1, 2], [0, 1], [1, 0], [0, 0]])}, "a matrix with other values"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_said_in_one_sentence(case: str) -> None:
    params, data, sentence = CASES[case]
    with pytest.raises(LinnaeusError, match=sentence) as told:
        LinearClassifier(**params).fit(**{"X": X, "y": Y, **data})
    assert "\n" not in str(told.value)
    assert str(told.value).count(". ") == 0


@pytest.mark.parametrize("params", [{"loss": "logg"}, {"output": "all"}, {"loss": None}])
def test_looking_at_a_wrong_recipe_raises_nothing(params: dict[str, Any]) -> None:
    model = LinearClassifier(**params)
    assert not hasattr(model, "predict_proba")
    assert repr(model).startswith("LinearClassifier(")
    assert model.get_params()["regularizer__strength"] == 1.0


def test_more_features_than_at_fit() -> None:
    model = LinearClassifier().fit(X, Y)
    with pytest.raises(LinnaeusError, match="X has 3 features, but LinearClassifier is expecting 2 features as input"):
        model.predict(np.ones((1, 3)))


@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_nothing_before_fit(face: type) -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        face().predict(X)
    assert not hasattr(face(), "coef_")


def test_numbers_are_wanted_of_a_regressor() -> None:
    with pytest.raises(LinnaeusError, match="use LinearClassifier for labels"):
        LinearRegressor().fit(X, Y)
    with pytest.raises(LinnaeusError, match="compares classes, but the targets are numbers"):
        LinearRegressor(loss="hinge").fit(X, [1.0, 2.0, 3.0, 4.0])
    for optimizer in ("auto", "sgd"):
        with pytest.raises(LinnaeusError, match=r"y holds values so large .* scale the targets"):
            LinearRegressor(optimizer=optimizer).fit(X, [1e300, 2.0, 3.0, 4.0])
    with pytest.raises(LinnaeusError, match="X holds values so large"):
        LinearRegressor(optimizer="sgd").partial_fit(X * 1e160, [1.0, 2.0, 3.0, 4.0])


GAPS: dict[str, tuple[Any, str]] = {
    "NaN": ([1.0, np.nan, 3.0, 4.0], "The target of row 1 is missing"),
    "None": ([1.0, None, 3.0, 4.0], "The target of row 1 is missing"),
    "NA": (pd.Series([1, 2, None, 4], dtype="Int64"), "The target of row 2 is missing"),
    "masked": (np.ma.array([1, 2, 3, 4], mask=[0, 0, 0, 1]), "The target of row 3 is missing"),
    "infinity": ([[1.0, 2.0], [1.0, 2.0], [1.0, -np.inf], [0.0, 0.0]], "The target of row 2 is infinity"),
    "strings": (["1", "2", "3", "4"], "are numbers; convert them"),
    "a string": ([1, 2, "3", 4], "are numbers; convert them"),
    "rows of different length": ([[1.0], [1.0, 2.0], [1.0], [1.0]], "different length"),
}


@pytest.mark.parametrize("case", GAPS)
def test_targets_are_finite_numbers(case: str) -> None:
    targets, sentence = GAPS[case]
    with pytest.raises(LinnaeusError, match=sentence):
        LinearRegressor().fit(X, targets)


def test_a_bias_may_be_of_numpy(tmp_path: Path) -> None:
    model = LinearClassifier(bias=np.False_).fit(X, Y)
    assert not model.intercept_.any()
    model.save(tmp_path / "m.lin")
    assert LinearClassifier.load(tmp_path / "m.lin").bias is False


@pytest.mark.parametrize("strength", [None, "x", -1.0])
def test_no_strength_is_no_number(strength: Any) -> None:
    for face in (LeastSquares, LogisticRegression):
        with pytest.raises(LinnaeusError, match="strength"):
            face(strength=strength).fit(X, Y)


PLAIN: dict[str, tuple[Any, Any]] = {
    "scalar values": (lambda m: 1.0, lambda m: -np.ones_like(m)),
    "scalar slopes": (lambda m: np.exp(-m), lambda m: -0.5),
    "values of rows": (lambda m: np.exp(-m).sum(axis=-1), lambda m: -np.exp(-m)),
    "slopes of NaN": (lambda m: np.exp(-m), lambda m: m * np.nan),
    "values of infinity": (lambda m: -np.log(m), lambda m: -1.0 / m),
}


@pytest.mark.parametrize("optimizer", ["auto", "lbfgs", "sgd"])
@pytest.mark.parametrize("case", PLAIN)
def test_a_loss_that_is_not_one_says_so(case: str, optimizer: str) -> None:
    class Mine(MarginLoss):
        value, slope = (staticmethod(part) for part in PLAIN[case])

    with pytest.raises(LinnaeusError, match=r"(value|slope) of the Mine loss (must return|is not finite at 0)"):
        LinearClassifier(loss=Mine(), optimizer=optimizer).fit(X, Y)


def test_scores_of_label_lists_want_as_many_lists() -> None:
    lists = [["p"], ["q", "p"], [], ["q"]]
    model = LinearClassifier().fit(X, lists)
    assert model.score(X, lists, sample_weight=np.ones(4)) == model.score(X, lists)
    with pytest.raises(LinnaeusError, match="X has 4 rows, but y has 2"):
        model.score(X, lists[:2])
    with pytest.raises(LinnaeusError, match=r"sample_weight has the shape \(2,\)"):
        model.score(X, lists, sample_weight=[1, 2])
    for wrong in (Y, "abcd", 5):
        with pytest.raises(LinnaeusError, match="one list of labels for each row"):
            model.score(X, wrong)


@pytest.mark.parametrize("classes", ["abc", 5, [["a"], ["b", "c"]], ["a", 1], ["a", None]])
def test_classes_are_a_list_of_labels(classes: Any) -> None:
    with pytest.raises(LinnaeusError):
        LinearClassifier().partial_fit(X, Y, classes=classes)


def test_unknown_columns_of_a_trace() -> None:
    trace = LinearClassifier().fit(X, Y).trace_
    with pytest.raises(LinnaeusError, match="no column 'nope'; take one of epoch, seconds, value"):
        trace.svg("nope")


def test_files_have_names() -> None:
    with pytest.raises(LinnaeusError, match="path takes the name of a file, not None"):
        LinearClassifier().fit(X, Y).save(None)
    with pytest.raises(LinnaeusError, match="path takes the name of a file, not 5"):
        LinearClassifier.load(5)


def test_an_indicator_matrix_is_left_as_it_is() -> None:
    y = sparse.csr_matrix([[1, 0], [0, 1], [1, 1], [0, 0]])
    y[0, 0] = 0
    before = (y.data.tolist(), y.indices.tolist(), y.indptr.tolist())
    LinearClassifier().fit(X, y)
    assert (y.data.tolist(), y.indices.tolist(), y.indptr.tolist()) == before


def test_a_class_may_have_a_weight_where_it_is_missing() -> None:
    """A fold of the data may lack a rare class; a stream may not have come to it yet."""
    LinearClassifier(class_weight={"a": 1.0, "b": 2.0, "c": 3.0}).fit(X, Y)
    stream = LinearClassifier(class_weight={"c": 2.0}).partial_fit(X, Y)
    assert stream.partial_fit(X, ["a", "c", "a", "b"]).classes_.tolist() == ["a", "b", "c"]
