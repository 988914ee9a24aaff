"""`linnaeus demo` runs the main job on the embedded data."""

from __future__ import annotations

import pytest

from linnaeus import Model


@pytest.fixture
def answer(run):
    return run("demo")


def test_the_demo_checks_trains_judges_and_explains(answer, home):
    assert answer.code == 0
    assert answer.err == ""
    assert "480 rows" in answer.out
    assert "accuracy" in answer.out
    assert "alarm" in answer.out
    assert str(home / "intents.lin") in answer.out
    assert Model.load(home / "intents.lin").predict(["wake me up at seven"]).tolist() == ["alarm"]


def test_the_demo_puts_the_model_where_it_is_told(run, tmp_path):
    assert run("demo", "-o", tmp_path / "here.lin").code == 0
    assert (tmp_path / "here.lin").exists()
