"""`linnaeus search`: training texts that are like a text, and a sentence where none are kept."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "things.csv"
    rows = ["red apple,fruit", "green pear,fruit", "iron ore,metal", "grey zinc,metal"] * 3
    path.write_text("\n".join(["text,label", *rows]) + "\n", "utf-8")
    return path


@pytest.fixture
def keeping(run, data, tmp_path):
    model = tmp_path / "m.lin"
    assert run("train", data, "--recipe", "knn", "--set", "keep=texts", "-o", model, "--quiet").code == 0
    return model


def test_a_text_and_a_file(run, keeping, data):
    code, out, _ = run("search", keeping, "an apple", "-k", "2")
    assert code == 0
    assert out.count("red apple") == 2
    assert "fruit" in out
    code, out, _ = run("search", keeping, data, "-k", "1", "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [line["query"] for line in found] == [line["found"][0]["text"] for line in found]
    assert found[3]["found"][0] == {"text": "grey zinc", "label": "metal", "similarity": pytest.approx(1.0), "row": 3}


def test_inspect_says_first_that_texts_are_kept(run, keeping):
    assert "KEPT: 12 training texts" in "".join(run("inspect", keeping).out.splitlines()[:3])
    assert json.loads(run("inspect", keeping, "--json").out)["keeps_texts"] is True


def test_without_kept_texts_it_says_what_to_do(run, data, tmp_path):
    assert run("train", data, "--recipe", "fast", "-o", tmp_path / "m.lin", "--quiet").code == 0
    code, out, err = run("search", tmp_path / "m.lin", "apple")
    assert (code, out) == (2, "")
    assert "--set keep=texts" in err


def test_explain_shows_them(run, keeping):
    code, out, _ = run("explain", keeping, "an apple")
    assert code == 0
    assert "Approximate" in out
    assert "red apple" in out
