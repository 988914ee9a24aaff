"""Bad input of every verb: one sentence, a code that is not zero, no traceback, and nothing of the user's is lost."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from tests.cli.test_product import ROWS, write

import linnaeus

FAST = ("--recipe", "fast", "-q")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    from linnaeus.cli.main import main

    folder = tmp_path_factory.mktemp("sweep")
    write(folder / "ok.csv", ROWS)
    write(folder / "header.csv", [])
    write(folder / "one.csv", [("a b", "x")])
    write(folder / "same.csv", [(text, "x") for text, _ in ROWS])
    write(folder / "bare.csv", [("a b",), ("c d",)], ("text",))
    write(folder / "numbers.csv", [(f"{text} {i}", f"{i}.5") for i, (text, _) in enumerate(ROWS)])
    (folder / "empty.csv").write_bytes(b"")
    (folder / "latin.csv").write_bytes("text,label\ncafé,x\nthé,y\n".encode("latin-1"))
    (folder / "bad.lin").write_bytes(b"not a model at all")
    (folder / "bad.toml").write_text("[learner\n")
    (folder / "none").mkdir()
    assert main(["train", str(folder / "ok.csv"), "-o", str(folder / "m.lin"), "-q"]) == 0
    numbers = ["train", str(folder / "numbers.csv"), "--task", "regress", "-o", str(folder / "n.lin"), "-q"]
    assert main(numbers) == 0
    return folder


DATA = [
    ("nofile.csv", "nofile.csv: there is no such file; check the name."),
    ("empty.csv", "empty.csv: is empty"),
    ("latin.csv", "the bytes are not utf-8; give --encoding latin-1"),
    ("none", "none: holds no text"),
]
MODELS = [
    ("nofile.lin", "There is no model file nofile.lin"),
    ("bad.lin", "bad.lin is not a Linnaeus model file"),
    ("empty.csv", "empty.csv is not a Linnaeus model file"),
    ("none", "none is a directory, not a model file"),
]
CALLS = [
    *((["train", name, "-o", "x.lin", *FAST], 3, said) for name, said in DATA),
    *(([verb, "m.lin", name], 3, said) for verb in ("predict", "test") for name, said in DATA),
    *((["explain", "m.lin", name], 3, said) for name, said in DATA[1:]),
    *((["predict", name, "ok.csv"], 4, said) for name, said in MODELS),
    *((["test", name, "ok.csv"], 4, said) for name, said in MODELS),
    *((["explain", name, "a text"], 4, said) for name, said in MODELS),
    *((["inspect", name], 4, said) for name, said in MODELS),
    (["train", "header.csv", "-o", "x.lin", *FAST], 3, "There are no rows to learn from."),
    (["train", "one.csv", "-o", "x.lin", *FAST], 3, "The labels have only one class, 'x'"),
    (["train", "same.csv", "-o", "x.lin", *FAST], 3, "The labels have only one class, 'x'"),
    (["train", "bare.csv", "-o", "x.lin", *FAST], 3, "There are no labels to learn from"),
    (["train", "ok.csv", "-o", "x.lin", "--recipe", "bad.toml"], 2, "The recipe bad.toml is not TOML"),
    (["train", "ok.csv", "-o", "x.lin", "--recipe", "none"], 2, "Cannot read the recipe none"),
    (["train", "ok.csv", "-o", "x.lin", "--seed", "-5"], 2, "'--seed': -5 is not in the range"),
    (["train", "ok.csv", "-o", "x.lin", "--set", "seed=-5"], 2, "seed is a whole number from 0 up, not -5."),
    (["train", "ok.csv", "-o", "x.lin", "--set", "loss.x.y=1"], 2, "'loss.x.y' is not known; "),
    (["train", "ok.csv", "-o", "x.lin", "--label-separator", ""], 2, "--label-separator is empty; give the characters"),
    (["train", "ok.csv", "-o", "ok.csv", "--force", *FAST], 2, "ok.csv is the input data, which would be overwritten"),
    (["train", "ok.csv", "-o", "x.lin", "--test", "nofile.csv", *FAST], 3, "nofile.csv: there is no such file"),
    (["train", "ok.csv", "-o", "x.lin", "--test", "empty.csv", *FAST], 3, "empty.csv: is empty"),
    (["train", "numbers.csv", "-o", "x.lin", "--task", "regress", "--recipe", "svm"], 2, "loss is for classes, and"),
    (["train", "numbers.csv", "-o", "x.lin", "--task", "regress", "--recipe", "default"], 2, "take the recipe ridge"),
    (
        ["predict", "m.lin", "ok.csv", "-o", "ok.csv", "--force"],
        2,
        "ok.csv is the input data, which would be overwritten",
    ),
    (["predict", "m.lin", "ok.csv", "--threads", "-2"], 2, "'--threads': -2 is not in the range"),
    (["predict", "m.lin", "ok.csv", "--top", "-1"], 2, "'--top': -1 is not in the range"),
    (["predict", "m.lin", ""], 3, "There is no file ''; check the name"),
    (["predict", "n.lin", "numbers.csv", "--scope"], 2, "This model predicts numbers"),
    (["test", "m.lin", "bare.csv"], 3, "There are no labels to compare with"),
    (["test", "m.lin", "ok.csv", "--seed", "-1"], 2, "'--seed': -1 is not in the range"),
    (["test", "m.lin", "ok.csv", "--by", "nope"], 3, "There is no column 'nope' to test by; take one of length."),
    (["test", "m.lin", "ok.csv", "--label-kind", "many"], 3, "The rows have sets of labels, but this model predicts"),
    (["test", "n.lin", "numbers.csv", "--abstain", "scope=0.9"], 2, "Abstaining needs classes; this model predicts"),
    (["test", "n.lin", "ok.csv"], 3, "is not a finite number"),
    (["explain", "m.lin", "header.csv"], 3, "There are no rows to explain."),
]


@pytest.mark.parametrize(
    ("words", "code", "said"), CALLS, ids=lambda part: " ".join(part) if type(part) is list else ""
)
def test_bad_input_is_one_sentence_and_loses_nothing(run, folder, monkeypatch, words, code, said):
    monkeypatch.chdir(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    found, out, err = run(*words)
    assert found == code
    assert out == ""
    last = err.strip().splitlines()[-1]
    assert last.startswith("linnaeus: error: ")
    assert said in last
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
def test_answers_to_no_rows_are_a_file_with_columns(run, folder, tmp_path, name):
    assert run("predict", folder / "m.lin", folder / "header.csv", "-o", tmp_path / name, "--top", 2, "-q")[0] == 0
    if name.endswith(".parquet"):
        assert pq.read_table(tmp_path / name).schema.names == ["label", "probability", "top"]
    elif not name.endswith(".jsonl"):
        assert len(linnaeus.read(str(tmp_path / name), text="", label="label")) == 0


def test_numbers_that_would_be_classes_are_noticed(run, folder, tmp_path):
    _, _, err = run("train", folder / "numbers.csv", "-o", tmp_path / "x.lin", "--recipe", "fast")
    assert f"the labels are {len(ROWS)} different numbers in {len(ROWS)} rows, and are treated as classes" in err
    assert "use --task regress to predict numbers" in err


def test_what_a_solver_warns_of_is_a_remark(run, folder, tmp_path):
    data = write(tmp_path / "flat.csv", [(text, "2.5") for text, _ in ROWS])
    code, _, err = run("train", data, "--task", "regress", "-o", tmp_path / "x.lin")
    assert code == 0
    assert all(line.startswith("linnaeus: ") for line in err.splitlines())
    code, out, err = run("train", data, "--task", "regress", "-o", tmp_path / "y.lin", "-q", "--json")
    assert code == 0
    assert err == ""
    assert json.loads(out)["held_out"]["metrics"]["rmse"] < 1e-6
