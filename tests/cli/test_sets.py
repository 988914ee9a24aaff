"""Label sets through the command line: trained, tested, predicted, explained, and answers that are read again."""

from __future__ import annotations

import json

import pytest

import linnaeus

PARTS = {"home cooking": "a pan of soup", "garden, wild": "beds and roses", 'the "arts"': "songs for a flute"}
ROWS = [
    (f"{words} {PARTS[a]}" + (f" and {PARTS[b]}" if a != b else ""), sorted({a, b}))
    for a in PARTS
    for b in PARTS
    for words in ("a page about", "notes on", "a book of", "letters on")
] + [(f"nothing about {word}", []) for word in ("him", "her", "it", "them")]


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    path = tmp_path_factory.mktemp("sets") / "pages.jsonl"
    path.write_text("".join(json.dumps({"text": text, "tags": tags}) + "\n" for text, tags in ROWS))
    return path


@pytest.fixture(scope="session")
def tagger(pages, tmp_path_factory):
    from linnaeus.cli.main import main

    path = tmp_path_factory.mktemp("tagger") / "tags.lin"
    assert main(["train", str(pages), "--label", "tags", "-o", str(path), "-q"]) == 0
    return path


def test_every_verb_takes_label_sets(run, tagger, pages):
    code, out, _ = run("test", tagger, pages, "--label", "tags", "--min", "micro-f1=0.8", "--max", "hamming-loss=0.2")
    assert code == 0
    assert "micro_f1" in out
    assert "garden, wild" in out
    code, out, _ = run("explain", tagger, "a page about roses and a flute")
    assert code == 0
    assert "garden, wild" in out
    code, out, _ = run("inspect", tagger, "--json")
    assert json.loads(out)["labels"] == "many"
    assert sorted(json.loads(out)["classes"]) == sorted(PARTS)


@pytest.mark.parametrize("name", ["answers.csv", "answers.tsv", "answers.jsonl", "answers.parquet"])
def test_answers_are_read_again_without_loss(run, tagger, pages, tmp_path, name):
    out = run("predict", tagger, pages, "--label", "tags")[1]
    wanted = [json.loads(line)["labels"] for line in out.splitlines()]
    assert [] in wanted
    assert max(map(len, wanted)) > 1
    assert run("predict", tagger, pages, "-o", tmp_path / name, "-q")[0] == 0
    again = linnaeus.read(str(tmp_path / name), text="", label="labels", label_separator=";")
    assert again.batch().labels.to_pylist() == wanted


def test_a_separator_that_stands_in_a_label_is_refused(run, tagger, pages, tmp_path):
    answers = tmp_path / "answers.csv"
    code, _, err = run("predict", tagger, pages, "-o", answers, "--label-separator", ",")
    assert code == 2
    assert "The label 'garden, wild' holds ','" in err
    assert "give another --label-separator, or write .jsonl or .parquet." in err
    assert not answers.exists()
    assert run("predict", tagger, pages, "-o", tmp_path / "a.parquet", "--label-separator", ",", "-q")[0] == 0


def test_answers_are_tested_as_they_were_written(run, tagger, pages, tmp_path):
    for name in ("answers.csv", "answers.jsonl"):
        assert run("predict", tagger, pages, "--keep", "text", "-o", tmp_path / name, "-q")[0] == 0
        found = json.loads(run("test", tagger, tmp_path / name, "--label", "labels", "--json", "-q")[1])
        assert found["metrics"]["subset_accuracy"] == 1.0


def test_cells_that_look_like_sets_are_noticed(run, tmp_path):
    data = tmp_path / "pages.tsv"
    data.write_text("text\ttags\n" + "".join(f"{text}\t{'|'.join(tags)}\n" for text, tags in ROWS if len(tags) > 1))
    _, _, err = run("train", data, "--label", "tags", "--recipe", "fast", "-o", tmp_path / "m.lin")
    assert (
        "most labels contain '|', and each cell is treated as one class; use --label-separator '|' to split them" in err
    )


def test_the_separator_of_the_training_data_is_remembered(run, tmp_path):
    data, model, answers = tmp_path / "pages.tsv", tmp_path / "m.lin", tmp_path / "answers.tsv"
    rows = [f"{text}\t{' | '.join(tags)}\n" for text, tags in ROWS if tags]
    data.write_text("text\ttags\n" + "".join(rows).replace('"', "'"))
    assert run("train", data, "--label", "tags", "--label-separator", "|", "-o", model, "-q")[0] == 0
    found = json.loads(run("test", model, data, "--label", "tags", "--json", "-q")[1])
    assert found["unknown"] == 0
    assert found["metrics"]["micro_f1"] > 0.8
    assert run("predict", model, data, "-o", answers, "-q")[0] == 0
    labels = linnaeus.read(str(answers), text="", label="labels", label_separator="|").batch().labels.to_pylist()
    assert set().union(*labels) == {name.replace('"', "'") for name in PARTS}
