"""Linking without candidates in the data: a label tree proposes them, and the ranker chooses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from linnaeus import Model, Rank, Recipe, Stage
from linnaeus.cli.main import main
from linnaeus.data.group_reading import GroupRoles, read_groups
from linnaeus.errors import LinnaeusError, UsageError
from linnaeus.model.stages import Unlisted
from linnaeus.recipes.cookbook import recipe
from linnaeus.training.stages import LearnedStage, rows_of

CITIES = ["Rome", "Oslo", "Bern", "Turin", "Lima", "Cork"]
NEW = ["Porto", "Basel"]
AROUND = {"city": ("they travel to", "and visit the old town"), "club": ("two goals by", "won the match")}
TITLES = [f"{name} {kind}" for name in CITIES + NEW for kind in AROUND]


def mention(doc: int, name: str, kind: str) -> dict[str, object]:
    left, right = AROUND[kind]
    return {"doc": doc, "mention": name, "left": left, "right": right, "answer": f"{name} {kind}"}


def mentions(docs: int, seed: int = 0) -> list[dict[str, object]]:
    rng = np.random.default_rng(seed)
    return [
        mention(doc, str(name), kind)
        for doc in range(docs)
        for kind in [("city", "club")[int(rng.integers(2))]]
        for name in rng.choice(CITIES, 3, replace=False)
    ]


def pipeline(**changes: object) -> Recipe:
    return recipe("tree-linking").changed({"task.proposed": 4, "before.0.folds": 3} | changes)


@pytest.fixture(scope="module")
def model() -> Model:
    return pipeline().fit(mentions(30), stages={"titles": [(title, title) for title in TITLES]})


def test_the_tree_proposes_and_the_context_decides(model: Model) -> None:
    assert isinstance(model.task, Rank)
    assert model.task.proposed == 4
    assert model.evaluate(mentions(10, 1)).value("accuracy") > 0.9
    asked = [mention(99, name, kind) for name in NEW for kind in AROUND]
    found = model.rank(asked, 4)
    assert all(len({name for name, _ in row}) == 4 for row in found)
    assert [row[0][0] for row in found] == [one["answer"] for one in asked], "titles that no mention had"
    assert all(sum(p for _, p in row) == pytest.approx(1) for row in found)


def test_answers_come_without_candidates_and_without_the_truth(model: Model) -> None:
    asked = [{name: value for name, value in mention(7, "Rome", "club").items() if name != "answer"}]
    assert model.predict(asked) == ["Rome club"]
    reasons = model.explain(asked, 0)
    assert reasons.predicted == ("Rome club",)
    assert any(part.name.startswith("proposed: ") for part in reasons.contrast.parts())


def test_a_file_holds_tree_and_ranker(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "links.lin")
    again = Model.load(tmp_path / "links.lin")
    asked = mentions(5, 2)
    assert again.rank(asked, 4) == model.rank(asked, 4)
    assert again.recipe == model.recipe
    assert Recipe.from_json(json.loads(json.dumps(pipeline().to_json()))) == pipeline()
    assert [name for name, _ in again.stages] == ["titles"]


def test_whole_documents_are_held_out_of_the_tree_that_proposes_for_them() -> None:
    # Every document says its own title, so that a tree that has seen the document proposes it, and another one cannot.
    rows = [{"doc": i, "mention": f"word{i}", "left": "", "right": "", "answer": f"title {i}"} for i in range(12)]
    groups = read_groups(rows, GroupRoles(candidates=""))
    last = Unlisted.of(Rank(proposed=3), groups)
    tree = pipeline().before[0]
    data = [(str(row["mention"]), str(row["answer"])) for row in rows]
    texts = Recipe(task="many", features=tree.recipe.features, learner=tree.recipe.learner)
    learned = LearnedStage(tree, rows_of(tree, {}, last), 0)
    assert texts.fit(data).predict([data[3][0]])[0] == data[3][1], "who has seen it knows it"
    shown = learned.beside(last).groups
    assert shown.answers().tolist() == [-1] * 12, "no document knows its own title"
    assert len(learned.others) == tree.folds


def test_stored_candidates_are_read_as_answers_only() -> None:
    rows = [
        {"text": "2 + 2", "candidates": ["3", "4"], "answer": 1},
        {"text": "1 + 1", "candidates": ["2"], "answer": None},
    ]
    groups = read_groups(rows, GroupRoles(candidates=""))
    assert len(groups.candidates) == 0
    assert groups.column("answer").to_pylist() == ["4", None]
    listed = groups.proposed([[("4", 0.9), ("5", 0.1)], []])
    assert listed.answers().tolist() == [0, -1]
    assert listed.details["chance"].to_pylist() == [0.9, 0.1]


def test_none_of_the_proposed_may_be_right(tmp_path: Path) -> None:
    rows = mentions(30)
    model = pipeline(**{"task.none": "option"}).fit(rows, stages={"titles": [(title, title) for title in TITLES]})
    found = model.rank(rows[:2], 5)
    assert all(len(row) == 5 and None in [name for name, _ in row] for row in found)
    model.save(tmp_path / "none.lin")
    assert Model.load(tmp_path / "none.lin").rank(rows[:2], 5) == found


def test_without_names_of_their_own_the_titles_are_those_of_the_answers() -> None:
    model = pipeline().fit(mentions(30))
    assert model.predict([mention(50, "Oslo", "club")]) == ["Oslo club"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Recipe(task=Rank(proposed=4)), "one stage, a label tree"),
        (lambda: Recipe(task="rank", before=pipeline().before), r"task\.proposed"),
        (lambda: Recipe(task=Rank(proposed=4), before=(Stage("a", "default"),)), "one stage, a label tree"),
        (lambda: Rank(proposed=-1), "proposed"),
        (lambda: Rank(proposed=1 << 30), "proposed"),
        (lambda: pipeline().fit([{"doc": 1, "mention": "a", "left": "", "right": ""}]), "no answers"),
        (lambda: pipeline().fit([mention(1, "Rome", "club") | {"doc": None}, mention(1, "Oslo", "club")]), "'doc'"),
        (lambda: pipeline().fit([{"mention": "a", "answer": "b"}, {"mention": "c", "answer": "d"}]), "column 'doc'"),
        (lambda: pipeline().fit(mentions(9), stages={"titles": [("a", ["b", "c"])]}), "one label for each row"),
        (lambda: pipeline().fit(mentions(9), stages={"names": [("a", "b")]}), "no stage 'names'"),
    ],
)
def test_what_cannot_be_is_said(wrong, said: str) -> None:
    with pytest.raises(LinnaeusError, match=said):
        wrong()


def test_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for path, rows in (("train.csv", mentions(30)), ("test.csv", mentions(10, 1))):
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    Path("titles.csv").write_text("text,label\n" + "".join(f"{title},{title}\n" for title in TITLES), encoding="utf-8")
    named = ["--recipe", "tree-linking", "--set", "before.0.data=titles.csv", "--set", "task.proposed=4"]
    assert main(["train", "train.csv", *named, "--test", "test.csv", "-o", "links.lin"]) == 0
    said = capsys.readouterr().out
    assert "recall" in said
    assert main(["predict", "links.lin", "test.csv", "--top", "2"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    right = [row["answer"] for row in mentions(10, 1)]
    assert np.mean([row["choice"] == answer for row, answer in zip(answers, right, strict=True)]) > 0.9
    assert all(len(row["top"]) == 2 for row in answers)
    assert main(["test", "links.lin", "test.csv"]) == 0
    assert main(["explain", "links.lin", "test.csv"]) == 0
    assert main(["inspect", "links.lin"]) == 0
    said = capsys.readouterr().out
    assert "titles" in said
    assert all(len(line) <= 80 for line in said.splitlines())
    assert main(["train", "train.csv", "--recipe", "tree-linking", "--set", "before.0.data=none.csv"]) == 3
    assert "none.csv" in capsys.readouterr().err


def test_how_a_ranker_comes_after_a_stage() -> None:
    with pytest.raises(UsageError, match="after a stage that proposes"):
        Recipe(task="rank", before=(Stage("a", "default"),))
