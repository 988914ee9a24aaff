"""A user's own function: all it may return, all it may do wrong, and that a file never runs it by itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import linnaeus
from linnaeus import Recipe, TextClassifier, features
from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, InputTypeError, MissingFunctionError, UsageError
from linnaeus.features import Function, Shape, Words


def length(text: str) -> int:
    return len(text)


def table(block, rows):
    fitted, X = block.fit_rows(rows)
    return dict(zip(fitted.names(), X.to_scipy().toarray().T.tolist(), strict=True))


def test_a_number_is_one_column_under_the_dotted_name():
    assert table(Function(length), ["a", "bcd"]) == {f"{__name__}.length": [1, 3]}
    assert table(Function(lambda t: np.float64(2.5), name="n"), ["a"]) == {"n": [2.5]}
    assert table(Function(lambda t: t == "a", name="is a"), ["a", "b"]) == {"is a": [1, 0]}
    assert table(Function(lambda t: np.array(3), name="n"), ["a"]) == {"n": [3]}


def test_a_sequence_is_columns_in_order():
    block = Function(lambda t: [len(t)] * 11, name="f")
    assert list(table(block, ["a"])) == [f"f[{i}]" for i in range(11)]
    assert table(Function(lambda t: np.array([1.0, 2.0]), name="v"), ["a"]) == {"v[0]": [1], "v[1]": [2]}


def test_a_dict_is_named_columns_and_strings_are_categories():
    def look(text):
        return {"n": len(text), "first": text[0], "upper": text.isupper()}

    assert table(Function(look, name="look"), ["A", "bc"]) == {
        "first=A": [1, 0],
        "first=b": [0, 1],
        "n": [1, 2],
        "upper": [1, 0],
    }


def test_names_not_seen_in_training_are_ignored():
    fitted = Function(lambda t: {t: 1.0}, name="f").fit(["b", "a"])
    assert fitted.names() == ["a", "b"]
    assert fitted.rows(["b", "c"]).to_scipy().toarray().tolist() == [[0, 1], [0, 0]]


def test_the_whole_row():
    rows = Batch(pa.array(["ab"]), columns={"stars": pa.array([4])})
    assert table(Function(lambda row: row["stars"] * len(row["text"]), name="f", of="row"), rows) == {"f": [8]}


def test_it_is_asked_once_for_each_row_of_fit_rows():
    asked = []
    Function(lambda t: asked.append(t) or 1.0, name="f").fit_rows(["a", "b"])
    assert asked == ["a", "b"]


@pytest.mark.parametrize("answer", [None, "text", object(), [None], {"a": None}, b"x"])
def test_answers_that_are_no_features(answer):
    with pytest.raises(DataError, match=r"Function 'f', row 1: it returned"):
        Function(lambda t: answer, name="f").fit(["a"])


def test_sequences_have_one_length():
    with pytest.raises(DataError, match=r"Function 'f', row 2: it returned 2 numbers, but 1 before"):
        Function(lambda t: [1] * len(t), name="f").fit(["a", "bc"])
    with pytest.raises(DataError, match="it returned 3 numbers, but 1 before"):
        Function(lambda t: [1] * len(t), name="f").fit(["a"]).rows(["abc"])


@pytest.mark.parametrize("answer", [10**400, 1e39, float("nan")])
def test_answers_beyond_float32(answer):
    with pytest.raises(DataError, match="finite float32"):
        Function(lambda t: answer, name="f").fit(["a"])


def test_answers_that_are_not_finite():
    with pytest.raises(DataError, match=r"Function 'f', row 2: 'f' is inf"):
        Function(lambda t: float(t), name="f").fit(["1", "inf"])


def test_a_function_that_fails_is_named_with_its_row():
    with pytest.raises(UsageError, match=r"Function 'f', row 2: it raised ValueError: could not convert"):
        Function(float, name="f").fit(["1", "x"])


def test_recipes_that_cannot_be_meant():
    with pytest.raises(UsageError, match="name="):
        Function(lambda t: 1)
    with pytest.raises(UsageError, match="'text' or 'row'"):
        Function(length, of="label")
    with pytest.raises(InputTypeError, match="not str"):
        Function("os.system")


def test_a_file_holds_the_name_and_wants_the_function_back(tmp_path):
    fitted = (Shape() | Function(length)).fit(["a", "bcd"])
    features.save(tmp_path / "a.lin", fitted)
    with pytest.raises(UsageError, match=rf"needs the function '{__name__}\.length'"):
        features.load(tmp_path / "a.lin")
    back = features.load(tmp_path / "a.lin", functions={f"{__name__}.length": length})
    assert back.rows(["abcd"]).data.tobytes() == fitted.rows(["abcd"]).data.tobytes()


ROWS = [("a good film", "pos"), ("so good", "pos"), ("a bad film!", "neg"), ("so bad!", "neg")] * 5


def loud(text: str) -> dict[str, bool]:
    return {"loud": text.endswith("!")}


def test_a_model_is_opened_with_its_functions(tmp_path):
    recipe = Recipe(features=Words() | Function(loud, name="loud"))
    model = recipe.fit(ROWS)
    model.save(tmp_path / "a.lin")
    with pytest.raises(MissingFunctionError, match=r"needs the function 'loud'; pass it in: functions=\{'loud': fn\}"):
        linnaeus.load(tmp_path / "a.lin")
    with pytest.raises(InputTypeError, match=r"functions\['loud'\] is of type int"):
        linnaeus.load(tmp_path / "a.lin", functions={"loud": 7})
    again = linnaeus.load(tmp_path / "a.lin", functions={"loud": loud})
    assert again.scores(["what!"]).tobytes() == model.scores(["what!"]).tobytes()
    assert again.recipe == recipe
    again.save(tmp_path / "b.lin")
    assert (tmp_path / "a.lin").read_bytes() == (tmp_path / "b.lin").read_bytes()
    face = TextClassifier.load(tmp_path / "a.lin", functions={"loud": loud})
    assert face.predict(["good"]).tolist() == ["pos"]


def test_a_recipe_names_its_functions_in_a_file(tmp_path):
    recipe = Recipe(features=Function(loud, name="loud"))
    (tmp_path / "r.toml").write_text(recipe.to_toml())
    assert "fn" not in recipe.to_json()["features"]
    assert Recipe.read(tmp_path / "r.toml", functions={"loud": loud}) == recipe
    with pytest.raises(MissingFunctionError, match="needs the function 'loud'"):
        Recipe.read(tmp_path / "r.toml")


def test_the_command_line_says_that_it_has_no_functions(tmp_path):
    from linnaeus.cli.main import main

    Recipe(features=Function(loud, name="loud")).fit(ROWS).save(tmp_path / "a.lin")
    assert main(["predict", str(tmp_path / "a.lin"), "what a film"]) == 2
