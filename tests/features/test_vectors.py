"""Columns of vectors: what they give, what is refused, and the way from files to explanations."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import linnaeus
from linnaeus import Recipe, read
from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, ModelFileError, UsageError
from linnaeus.features import Vectors, Words, restore
from linnaeus.learners.linear.learner import Linear
from linnaeus.types import State

POINTS = [[0.5, -1.0], [2.0, 0.0], [1.5, 4.0]]


def batch(cells, kind=None, start=0) -> Batch:
    return Batch(columns={"embedding": cells if isinstance(cells, pa.Array) else pa.array(cells, kind)}, start=start)


def dense(recipe, rows: Batch) -> np.ndarray:
    return recipe.fit_rows(rows)[1].to_scipy().toarray()


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(POINTS),
        pa.array(POINTS, pa.list_(pa.float32())),
        pa.array(POINTS, pa.large_list(pa.float64())),
        pa.array(POINTS, pa.list_(pa.float32(), 2)),
        pa.array([[9.0, 9.0], *POINTS], pa.list_(pa.float32(), 2))[1:],
        pa.array([[9.0], *POINTS])[1:],
        pa.array([[str(x) for x in row] for row in POINTS]),
        pa.array([json.dumps(row) for row in POINTS]),
    ],
    ids=lambda cells: str(cells.type),
)
def test_every_kind_of_list_gives_its_numbers(cells):
    assert dense(Vectors("embedding"), batch(cells)).tolist() == POINTS


def test_scales():
    rows = np.array(POINTS)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.allclose(dense(Vectors(scale="l2"), batch(POINTS)), unit, atol=1e-7)
    assert np.allclose(dense(Vectors(scale="standard"), batch(POINTS)), (rows - rows.mean(0)) / rows.std(0), atol=1e-6)
    assert dense(Vectors(scale="l2"), batch([[0.0, 0.0]])).tolist() == [[0.0, 0.0]]
    assert dense(Vectors(scale="standard"), batch([[3.0], [3.0]])).tolist() == [[0.0], [0.0]]


def test_lists_of_lists_are_named_by_both_places():
    fitted = Vectors("embedding").fit(batch([[[1, 2, 3], [4, 5, 6]]]))
    assert list(fitted.names()) == [f"embedding[{i}][{j}]" for i in range(2) for j in range(3)]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([[1.0, 2.0], [1.0]], r"Row 12 of the column 'embedding' has 1 numbers, where the training rows have 2; give"),
        ([[1.0, 2.0], None], "Row 12 of the column 'embedding' is missing"),
        ([[1.0, 2.0], [1.0, None]], "Row 12 of the column 'embedding' is missing, or lacks a number"),
        ([[1.0, 2.0], [1.0, float("nan")]], "Row 12 of the column 'embedding' holds a number that is not finite"),
        ([[1.0, 2.0], [1e39, 0.0]], "Row 12 .* beyond float32"),
        ([[[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]]], "Row 12 .* has 2 lists, where the training rows have 1"),
        ([[], [1.0]], "Row 11 of the column 'embedding' is an empty list"),
        ([1.0, 2.0], "holds double, not vectors"),
        ([["a"], ["b"]], "holds lists of string"),
        (["[1, 2]", "1 2"], r"Row 12 of the column 'embedding' is '1 2', not a list of numbers such as \[0.5, 1\]"),
        (["[1, 2]", "[1, [2]]"], "holds lists that are not all of numbers"),
        (["[1, 2]", " "], "Row 12 of the column 'embedding' is missing"),
    ],
    ids=str,
)
def test_what_is_no_vector_is_refused_with_its_row(cells, message):
    with pytest.raises(DataError, match=message):
        Vectors("embedding").fit_rows(batch(cells, start=10))


def test_what_has_another_shape_than_in_training_is_refused():
    fitted = Vectors("embedding").fit(batch([[1.0, 2.0]]))
    with pytest.raises(DataError, match="holds lists in lists, where the training rows have 2 numbers"):
        fitted.rows(batch([[[1.0], [2.0]]]))
    nested = Vectors("embedding").fit(batch([[[1.0, 2.0]]]))
    with pytest.raises(DataError, match="not lists, where the training rows have 1 x 2 numbers"):
        nested.rows(batch([[1.0]]))
    with pytest.raises(DataError, match="needs the column 'embedding', which the rows do not have"):
        fitted.rows(Batch(pa.array(["text"])))
    with pytest.raises(DataError, match="and there are none"):
        Vectors("embedding").fit(batch(pa.array([], pa.list_(pa.float64()))))


def test_settings_are_checked():
    with pytest.raises(UsageError, match="takes the name of a column"):
        Vectors("")
    with pytest.raises(UsageError, match="'none', 'l2' or 'standard', not 'unit'"):
        Vectors("embedding", "unit")


@pytest.mark.parametrize(
    "change",
    [{"shape": []}, {"shape": [0]}, {"shape": [1 << 25]}, {"shape": [3]}, {"scale": "unit"}, {"column": 7}],
    ids=str,
)
def test_damaged_states_are_refused(change):
    state = Vectors(scale="standard").fit(batch(POINTS)).state()
    with pytest.raises(ModelFileError):
        restore(State({**state.manifest, **change}, state.tensors))


def rows_of_two_classes(n=80) -> list[dict]:
    rng = np.random.default_rng(3)
    shift = np.where(np.arange(n) % 2, 2.0, -2.0)[:, None]
    vectors = rng.normal(size=(n, 5)) + shift
    return [{"embedding": v.round(5).tolist(), "label": "ab"[i % 2], "note": "x"} for i, v in enumerate(vectors)]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
def test_a_file_of_vectors_is_learned_saved_and_explained(tmp_path, suffix):
    rows = [{"embedding": row["embedding"], "label": row["label"]} for row in rows_of_two_classes()]
    path = tmp_path / f"v.{suffix}"
    if suffix == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("embedding,label\n" + "".join(f'"{row["embedding"]}",{row["label"]}\n' for row in rows))
    corpus = read(path, text="" if suffix == "csv" else None)  # a cell of a CSV file may be a text
    model = Recipe(features=Vectors("embedding"), learner=Linear(loss="log")).fit(corpus)
    assert model.evaluate(corpus, rounds=0).value("accuracy") > 0.95
    model.save(tmp_path / "m.lin")
    again = linnaeus.load(tmp_path / "m.lin")
    assert again.scores(corpus).tobytes() == model.scores(corpus).tobytes()
    assert "embedding[4]" in str(again.explain(corpus.batch().slice(0, 1)))
    assert Recipe.from_json(model.recipe.to_json()) == model.recipe


def test_vectors_stand_beside_texts():
    corpus = read(rows_of_two_classes(), text="note")
    model = Recipe(features=Words() | Vectors("embedding", "standard")).fit(corpus)
    assert model.features.names()[-1] == "embedding[4]"
    assert model.predict(corpus).tolist() == ["a", "b"] * 40


def test_rows_of_vectors_need_no_text():
    rows = [{"embedding": row["embedding"], "label": row["label"]} for row in rows_of_two_classes(10)]
    assert read(rows).roles.describe() == "label 'label' (guessed)"
    assert read(rows, label="").roles.describe() == ""
    assert read({"embedding": np.eye(3), "label": list("abc")}).batch().columns["embedding"].type == pa.list_(
        pa.float64(), 3
    )
    assert (
        read({"image": np.zeros((2, 3, 4)), "label": list("ab")}).batch().columns["image"].to_pylist()
        == [[[0.0] * 4] * 3] * 2
    )
    with pytest.raises(DataError, match="or use Vectors"):
        Recipe().fit(read(rows))
