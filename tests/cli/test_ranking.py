"""The verbs with rankers: the best of candidates that change from example to example."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.cli.refused import check_refused

from linnaeus.cli.main import group, main
from linnaeus.errors import DataError, LinnaeusError, UsageError

PAIRS = [("red", "blue"), ("cat", "dog"), ("tea", "milk"), ("sun", "moon"), ("hat", "shoe")]


def run(*words: str) -> Result:
    return CliRunner().invoke(group, list(words))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ranks")
    rows = [
        {"text": f"I want the {one} thing {i}", "candidates": [other, one, "a stone"], "answer": 1}
        for i in range(6)
        for one, other in [*PAIRS, *((b, a) for a, b in PAIRS)]
    ]
    (made / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("train", str(made / "asked.jsonl"), "-o", str(made / "ranks.lin"), "--json")
    assert done.exit_code == 0, done.output
    return made


def test_candidates_are_recognized_trained_and_tested(folder: Path, tmp_path: Path) -> None:
    data = str(folder / "asked.jsonl")
    done = run("train", data, "--test", data, "-o", str(tmp_path / "m.lin"))
    assert "60 examples, 180 candidates" in done.stdout
    assert "reciprocal_rank" in done.stdout
    told = json.loads(run("test", str(folder / "ranks.lin"), data, "--min", "accuracy=0.9", "--json").stdout)
    assert told["metrics"]["accuracy"] > 0.9
    assert told["missed"] == []
    judged = ["test", str(folder / "ranks.lin"), data, "--quiet", "--min"]
    assert main([*judged, "recall-at-3=1"]) == 0
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(Path(data).read_text().replace('"answer": 1', '"answer": 0'))
    assert main([*judged, "accuracy=0.5"]) == 0
    assert main([*judged[:2], str(wrong), *judged[3:], "accuracy=0.5"]) == 1


def test_a_few_examples_are_enough_to_begin(tmp_path: Path) -> None:
    for count in (1, 3):
        row = {"text": "the red one", "candidates": ["red", "blue"], "answer": 0}
        (tmp_path / "few.jsonl").write_text((json.dumps(row) + "\n") * count)
        done = run("train", str(tmp_path / "few.jsonl"), "-o", str(tmp_path / f"{count}.lin"))
        assert done.exit_code == 0, done.output


def test_answers_reasons_and_what_is_in_the_file(folder: Path) -> None:
    model, data = str(folder / "ranks.lin"), str(folder / "asked.jsonl")
    rows = [json.loads(text) for text in run("predict", model, data, "--top", "2").stdout.splitlines()]
    assert len(rows) == 60
    assert (rows[0]["choice"], rows[0]["place"]) == ("red", 1)
    assert len(rows[0]["top"]) == 2
    told = json.loads(run("explain", model, data, "--json").stdout)
    first, second = told["classes"]
    gains = [part["contributions"][first["name"]] - part["contributions"][second["name"]] for part in told["features"]]
    assert sum(gains) == pytest.approx(first["score"] - second["score"])
    assert sum(gains) == pytest.approx(told["contrast"]["score"])
    assert "not" in run("explain", model, data).stdout
    assert json.loads(run("inspect", model, "--json").stdout)["task"] == "rank"
    assert "strength" in run("inspect", model).stdout
    assert "[features" in run("inspect", model, "--recipe").stdout


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        (
            ("train", "asked.jsonl", "--recipe", "none", "-o", "new.lin"),
            UsageError,
            "no recipe 'none'; take one of plain",
        ),
        (("explain", "ranks.lin"), UsageError, "give a text or a file of examples"),
        (("predict", "ranks.lin", "-"), DataError, "standard input"),
        (("test", "ranks.lin", "asked.jsonl", "--min", "f1=1"), UsageError, "reciprocal-rank"),
        (("test", "ranks.lin", "asked.jsonl", "--max", "accuracy=1"), UsageError, "--min"),
        (("tag", "ranks.lin", "a text"), UsageError, "not about tokens"),
        (("predict", "ranks.lin", "a text"), UsageError, "a file of examples with candidates"),
        (("search", "ranks.lin", "a text"), UsageError, "not a text classifier"),
    ],
)
def test_what_cannot_be_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], kind: type[LinnaeusError], said: str
) -> None:
    monkeypatch.chdir(folder)
    check_refused(words, kind, said)


def test_predict_does_not_look_at_answers(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "odd.jsonl"
    data.write_text('{"text": "I want the red thing", "candidates": ["red", "a stone"], "answer": "green"}\n')
    done = run("predict", str(folder / "ranks.lin"), str(data))
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["place"] in (0, 1)
    assert isinstance(run("test", str(folder / "ranks.lin"), str(data)).exception, DataError)
