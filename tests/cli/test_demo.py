"""`linnaeus demo` runs the main jobs on the embedded data."""

from __future__ import annotations

import pytest


@pytest.fixture
def answer(run):
    return run("demo")


def test_the_demo_checks_the_data_and_makes_features(answer):
    assert answer.code == 0
    assert answer.err == ""
    assert "480 rows" in answer.out
    assert "no problems" in answer.out or "nothing to report" in answer.out
    assert "features" in answer.out
    assert "tf-idf" in answer.out


def test_the_demo_shows_its_rate(answer):
    assert "B/s)" in answer.out
