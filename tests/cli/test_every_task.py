"""Every option of every command with every task works, or is refused in the sentence that docs/tasks.md shows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from linnaeus.cli.main import main

table = pytest.importorskip("tools.task_table", reason="the tests run outside the source tree")

CELLS = [
    pytest.param(verb, row, task, id=f"{verb} {row.shown.strip('`')} {task}")
    for verb, rows in table.ROWS.items()
    for row in rows
    for task in table.SAMPLES
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The tiny data of every task, and two models of each: one keeps its texts where it can."""
    found = tmp_path_factory.mktemp("tasks")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(found)
        table.write_samples(found)
        for task, sample in table.SAMPLES.items():
            words = ["train", sample.data, *sample.train, "--cv", "3", "-q", "-o"]
            assert main([*words, f"{task}.lin"]) == 0
            if main([*words, f"{task}-kept.lin", "--set", "keep=texts"]):
                shutil.copy(f"{task}.lin", f"{task}-kept.lin")
        yield found


@pytest.mark.parametrize(("verb", "row", "task"), CELLS)
def test_a_cell_of_the_table(verb, row, task, folder, tmp_path, monkeypatch, run):
    monkeypatch.chdir(folder)
    given = {"model": f"{task}.lin", "kept": f"{task}-kept.lin", "new": str(tmp_path / "new")}
    done = run(verb, *table.arguments(row, task, given))
    said = row.refused.get(task)
    if said is None:
        assert done.code in ((0, 1) if verb == "check" else (0,)), done.err
        assert done.out or any(path.stat().st_size for path in tmp_path.glob("new.*"))
        if "--json" in row.words:
            assert all(map(json.loads, done.out.splitlines()))
    else:
        error = [line for line in done.err.splitlines() if line.startswith("linnaeus: error: ")]
        assert error == [f"linnaeus: error: {said.format(data=table.SAMPLES[task].data, **given)}"]
        assert done.code in (2, 3)
        assert not done.out
        assert not list(tmp_path.glob("new.*"))


def test_the_page_shows_the_table():
    assert table.PAGE.read_text(encoding="utf-8") == table.page(), "run tools/task_table.py"


def test_the_task_of_standard_input_is_recognized(folder, tmp_path, spawn):
    made = tmp_path / "tags.lin"
    process = spawn(["train", "-", "-o", made], stdin=-1)
    _, err = process.communicate((folder / "tags.jsonl").read_bytes())
    assert process.returncode == 0, err
    assert b"sentences of tokens" in err
