"""Verbs take the part of a folder that they need, and say so."""

import json

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with 40 rows to train on, 6 of a dev part and 10 of a test part."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films").mkdir()
    for name, count in (("train", 40), ("dev", 6), ("test", 10)):
        rows = [f"{'good' if i % 2 else 'bad'} film {i},{'pos' if i % 2 else 'neg'}" for i in range(count)]
        (tmp_path / "films" / f"{name}.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return tmp_path / "films"


def test_train_takes_the_train_part_and_says_so(run, folder):
    code, out, err = run("train", "films", "--recipe", "fast", "--json")
    assert code == 0
    assert json.loads(out)["facts"]["rows"] == 40
    assert "films: reading the train part (train.csv), not dev (dev.csv) or test (test.csv)" in err
    assert "add --test films to evaluate on the test part" in err


def test_train_evaluates_on_the_test_part_where_it_is_named(run, folder):
    _, out, err = run("train", "films", "--recipe", "fast", "--test", "films", "--json")
    assert json.loads(out)["test"]["rows"] == 10
    assert "to evaluate on" not in err


def test_test_takes_the_test_part_or_the_one_that_is_named(run, folder):
    run("train", "films", "--recipe", "fast", "-o", "m.lin")
    code, out, err = run("test", "m.lin", "films", "--json")
    assert (code, json.loads(out)["rows"]) == (0, 10)
    assert "films: reading the test part (test.csv), not train (train.csv) or dev (dev.csv)\n" in err
    assert json.loads(run("test", "m.lin", "films", "--split", "dev", "--json").out)["rows"] == 6


def test_predict_asks_which_part(run, folder):
    run("train", "films", "--recipe", "fast", "-o", "m.lin")
    code, _, err = run("predict", "m.lin", "films")
    assert code == 3
    assert "choose one with --split train, or --split all." in err
    assert run("predict", "m.lin", "films", "--split", "test").out.count("\n") == 10


def test_check_compares_the_parts(run, folder):
    told = json.loads(run("check", "films", "films", "--json").out)
    assert (told["data"]["rows"], told["other"]["rows"]) == (40, 10)


def test_taggers_take_the_train_part(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tagged").mkdir()
    for name, count in (("train", 30), ("test", 3)):
        rows = [{"tokens": ["a", "dog"], "tags": ["DET", "NOUN"]}] * count
        (tmp_path / "tagged" / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told = json.loads(run("train", "tagged", "--test", "tagged", "--json").out)
    assert told["facts"]["rows"] == 30
    assert told["test"]["units"] == 6


def test_rankers_take_the_train_part(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums").mkdir()
    for name, count in (("train", 12), ("test", 3)):
        rows = [{"text": f"{i} and one", "candidates": ["one", f"two {i}"], "answer": "one"} for i in range(count)]
        (tmp_path / "sums" / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told = json.loads(run("train", "sums", "--test", "sums", "--json").out)
    assert told["facts"]["rows"] == 12
    assert told["test"]["rows"] == 3
