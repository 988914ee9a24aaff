"""What a user expects of an option by its name: that it does something."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def rated(tmp_path):
    rows = [{"text": f"{word} film {i}", "label": n} for i in range(6) for word, n in (("good", 4.5), ("bad", 1.5))]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rated.parquet")
    return tmp_path / "rated.parquet"


def train(run, data, path, *words):
    code, _, err = run("train", data, "-o", path, *words)
    assert code == 0, err
    return path


def test_predict_tells_the_scope(run, rated, tmp_path):
    model = train(run, rated, tmp_path / "m.lin", "--task", "classify")
    out = run("predict", model, rated, "--scope")[1]
    scores = [json.loads(line)["out_of_scope"] for line in out.splitlines()]
    assert all(0 <= score <= 1 for score in scores)
    assert "out_of_scope" not in run("predict", model, rated)[1]


def test_a_scope_that_was_not_learned_is_refused(run, rated, tmp_path):
    model = train(run, rated, tmp_path / "m.lin", "--task", "classify", "--recipe", "fast")
    code, _, err = run("predict", model, rated, "--scope")
    assert code == 2
    assert "tuning" in err


@pytest.mark.parametrize(("task", "labels"), [("auto", "numeric"), ("regress", "numeric"), ("classify", "one")])
def test_the_task_says_what_numbers_are(run, rated, tmp_path, task, labels):
    model = train(run, rated, tmp_path / "m.lin", "--task", task)
    assert json.loads(run("inspect", model, "--json")[1])["labels"] == labels


def test_explain_says_that_a_file_is_not_there(run, rated, tmp_path):
    model = train(run, rated, tmp_path / "m.lin", "--task", "classify")
    code, _, err = run("explain", model, "gone.csv")
    assert code == 0
    assert "no file gone.csv" in err
    assert "no file" not in run("explain", model, "It was good. Very.")[2]


@pytest.mark.parametrize("words", [("--top", "2"), ("--abstain", "confidence=0.8"), ("--scope",)])
def test_numbers_have_no_classes_to_rank(run, rated, tmp_path, words):
    model = train(run, rated, tmp_path / "m.lin")
    code, _, err = run("predict", model, rated, *words)
    assert code == 2
    assert "numbers" in err


def test_a_number_is_called_a_number(run, rated, tmp_path):
    model = train(run, rated, tmp_path / "m.lin")
    assert run("explain", model, "a good film")[1].startswith("the number: ")
