"""The verbs with taggers and pipelines: from tagged sentences to tags of new text."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from tests.cli.refused import check_refused

from linnaeus.cli.main import group, main
from linnaeus.errors import DataError, LinnaeusError, ModelFileError, UsageError

SENTENCES = [
    (["Ann", "Lee", "sees", "Oslo", "."], ["N", "N", "V", "N", "P"], ["B-PER", "I-PER", "O", "B-LOC", "O"]),
    (["Bob", "likes", "Rome", "."], ["N", "V", "N", "P"], ["B-PER", "O", "B-LOC", "O"]),
    (["the", "dog", "barks", "."], ["D", "N", "V", "P"], ["O", "O", "O", "O"]),
] * 8


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(group, list(words), input=stdin)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tags")
    rows = [{"tokens": tokens, "pos": pos, "ner": ner} for tokens, pos, ner in SENTENCES]
    (made / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = ["".join(f"{a}\t{b}\n" for a, b in zip(tokens, ner, strict=True)) for tokens, _, ner in SENTENCES]
    (made / "names.conll").write_text("\n".join(lines))
    (made / "wrong.conll").write_text("Ann\tB-PER\nsees\tO\nOslo\tO\n")
    (made / "nothing.jsonl").write_text('{"tokens": [], "tags": []}\n')
    topics = [("Ann Lee sees Oslo.", "travel"), ("The dog barks.", "pets"), ("Bob likes Rome.", "travel")] * 6
    (made / "topics.csv").write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in topics))
    for name, label in (("pos", "pos"), ("ner", "ner")):
        done = run("train", str(made / "all.jsonl"), "--label", label, "-o", str(made / f"{name}.lin"), "--json")
        assert done.exit_code == 0, done.output
    return made


def test_training_says_what_it_learned_and_how_good_it_is(folder: Path, tmp_path: Path) -> None:
    done = run("train", str(folder / "all.jsonl"), "--label", "ner", "-o", str(tmp_path / "m.lin"))
    assert done.exit_code == 0
    assert "24 sentences, 104 tokens" in done.stdout
    assert "held-out sentences of the training data" in done.stdout
    assert "accuracy" in done.stdout
    tested = run("train", str(folder / "all.jsonl"), "--label", "pos", "--test", str(folder / "all.jsonl"),
                 "-o", str(tmp_path / "n.lin"), "--json")  # fmt: skip
    assert json.loads(tested.stdout)["test"]["metrics"]["accuracy"] == 1.0


def test_sentences_are_held_out_where_a_file_has_no_documents(folder: Path, tmp_path: Path) -> None:
    done = run("train", str(folder / "names.conll"), "-o", str(tmp_path / "m.lin"))
    assert "held-out sentences of the training data" in done.stdout


def test_the_recipe_follows_the_tags(folder: Path) -> None:
    recipes = [
        json.loads(run("inspect", str(folder / f"{name}.lin"), "--json").stdout)["recipe"] for name in ("pos", "ner")
    ]
    assert [recipe["task"]["encoding"] for recipe in recipes] == ["plain", "bio"]
    assert 'encoding = "bio"' in run("inspect", str(folder / "ner.lin"), "--recipe").stdout
    assert "none of the training data are in the file" in run("inspect", str(folder / "pos.lin")).stdout


def test_plain_text_is_tagged(folder: Path) -> None:
    said = run("tag", str(folder / "pos.lin"), "Bob sees the dog. Ann barks.")
    assert said.stdout == "Bob\tN\nsees\tV\nthe\tD\ndog\tN\n.\tP\n\nAnn\tN\nbarks\tV\n.\tP\n\n"
    assert run("tag", str(folder / "pos.lin"), stdin="Bob sees the dog. Ann barks.\n").stdout == said.stdout
    told = json.loads(run("tag", str(folder / "ner.lin"), "Ann Lee likes Rome.", "--json").stdout)
    assert told["entities"] == [
        {"start": 0, "end": 2, "type": "PER", "text": "Ann Lee"},
        {"start": 3, "end": 4, "type": "LOC", "text": "Rome"},
    ]
    assert told["spans"][1] == [4, 7]
    assert (
        run("tag", str(folder / "ner.lin"), "Ann Lee likes Rome.", "--entities").stdout == "PER\tAnn Lee\nLOC\tRome\n"
    )


def test_files_of_sentences_are_tagged(folder: Path, tmp_path: Path) -> None:
    said = run("tag", str(folder / "ner.lin"), str(folder / "names.conll"))
    assert said.stdout.startswith("Ann\tB-PER\nLee\tI-PER\n")
    lines = run("predict", str(folder / "ner.lin"), str(folder / "all.jsonl")).stdout.splitlines()
    assert json.loads(lines[1]) == {
        "tokens": SENTENCES[1][0],
        "tags": SENTENCES[1][2],
        "entities": [
            {"start": 0, "end": 1, "type": "PER", "text": "Bob"},
            {"start": 2, "end": 3, "type": "LOC", "text": "Rome"},
        ],
    }
    out = tmp_path / "tags.parquet"
    assert run("predict", str(folder / "ner.lin"), str(folder / "all.jsonl"), "-o", str(out)).exit_code == 0
    assert pq.read_table(out).column("tags").to_pylist()[0] == SENTENCES[0][2]


def test_a_missed_bound_is_told_as_for_classifiers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged = ["test", str(folder / "ner.lin"), str(folder / "wrong.conll"), "--json", "--quiet", "--min"]
    assert main([*judged, "f1=0.9"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["missed"] == [{"metric": "f1", "wanted": 0.9}]
    assert err == "linnaeus: f1 is 0.6667, below 0.9\n"
    assert main([*judged, "f1=90"]) == 2
    assert "f1 lies between 0 and 1, so 90 cannot be its bound; use --min f1=0.9." in capsys.readouterr().err
    assert main([*judged, "acuracy=1"]) == 2
    assert "did you mean 'accuracy'?" in capsys.readouterr().err


def test_predict_tags_a_text_with_its_places(folder: Path) -> None:
    told = json.loads(run("predict", str(folder / "pos.lin"), "Bob barks").stdout)
    assert told == {"tokens": ["Bob", "barks"], "tags": ["N", "V"], "spans": [[0, 3], [4, 9]]}
    named = json.loads(run("tag", str(folder / "ner.lin"), "Bob likes Rome", "--json").stdout)
    assert named["spans"][2] == [10, 14]
    assert [entity["text"] for entity in named["entities"]] == ["Bob", "Rome"]
    assert run("predict", str(folder / "ner.lin"), "Bob likes Rome", "--entities").stdout == "PER\tBob\nLOC\tRome\n"


def test_a_tagger_abstains_where_it_is_not_sure(folder: Path) -> None:
    sure = ("tag", str(folder / "pos.lin"), "Bob barks", "--abstain", "confidence=0.000001")
    assert run(*sure).stdout == "Bob\tN\nbarks\tV\n\n"
    found = run("predict", str(folder / "pos.lin"), "qwx zzv", "--abstain", "confidence=0.999999")
    assert None in json.loads(found.stdout)["tags"]


def test_tags_are_judged_and_explained(folder: Path) -> None:
    kept = run("test", str(folder / "ner.lin"), str(folder / "names.conll"), "--min", "f1=0.99", "--json")
    assert kept.exit_code == 0
    assert json.loads(kept.stdout)["metrics"]["f1"] == 1.0
    for name, code in (("names", 0), ("wrong", 1)):
        assert main(["test", str(folder / "ner.lin"), str(folder / f"{name}.conll"), "--min", "f1=0.99"]) == code
    lines = run("explain", str(folder / "pos.lin"), "Bob barks", "--json").stdout.splitlines()
    told = [json.loads(text) for text in lines]
    assert [(one["predicted"], one["at"]["text"]) for one in told] == [(["N"], "Bob"), (["V"], "barks")]
    for one in told:
        rival, parts = one["contrast"]["against"], [part["contributions"] for part in one["features"]]
        gains = sum(part[one["predicted"][0]] - part[rival] for part in parts)
        assert gains == pytest.approx(one["contrast"]["score"], abs=1e-5)
    assert "<table" in run("explain", str(folder / "pos.lin"), "Bob barks", "--html").stdout
    assert "not" in run("explain", str(folder / "pos.lin"), str(folder / "all.jsonl")).stdout


PIPELINE = """
[[before]]
name = "ner"
recipe = "entities"
data = "names.conll"

[features]
kind = "union"

[[features.blocks]]
kind = "words"

[[features.blocks]]
kind = "field"
column = "ner.entities"
block = {kind = "words", tokenizer = "whitespace"}
"""


def test_a_pipeline_is_one_recipe_one_file_one_command(folder: Path) -> None:
    (folder / "pipeline.toml").write_text(PIPELINE)
    model, data = str(folder / "topics.lin"), str(folder / "topics.csv")
    done = run("train", data, "--recipe", str(folder / "pipeline.toml"), "--test", data, "-o", model)
    assert done.exit_code == 0, done.output
    assert "ner" in done.stdout
    assert "accuracy" in done.stdout
    assert json.loads(run("predict", model, "Bob likes Oslo").stdout)["label"] == "travel"
    assert main(["test", model, data, "--quiet", "--min", "accuracy=0.9"]) == 0
    features = json.loads(run("explain", model, "Bob likes Oslo", "--json").stdout)
    assert "ner.entities: oslo_loc" in json.dumps(features).lower()
    assert "stage" in run("inspect", model).stdout
    assert json.loads(run("inspect", model, "--json").stdout)["stages"] == ["ner"]


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        (("train", "all.jsonl", "-o", "new.lin"), DataError, "plainly the tags"),
        (
            ("train", "all.jsonl", "--label", "pos", "--recipe", "nosuch", "-o", "new.lin"),
            UsageError,
            "no recipe 'nosuch'",
        ),
        (("train", "topics.csv", "--task", "tag", "-o", "new.lin"), DataError, "tokens"),
        (("tag", "topic.csv", "a text"), ModelFileError, "no model file"),
        (("predict", "pos.lin", "all.jsonl", "-o", "tags.csv"), UsageError, "lists"),
        (("explain", "pos.lin"), UsageError, "give a text or a file of examples"),
        (("test", "pos.lin", "nothing.jsonl"), DataError, "no tokens"),
        (("test", "pos.lin", "all.jsonl", "--label", "pos", "--min", "nosuch=1"), UsageError, "accuracy"),
        (("test", "pos.lin", "all.jsonl", "--label", "pos", "--max", "accuracy=1"), UsageError, "--min"),
    ],
)
def test_what_cannot_be_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], kind: type[LinnaeusError], said: str
) -> None:
    monkeypatch.chdir(folder)
    check_refused(words, kind, said)
    assert not Path("new.lin").exists()
