"""Compact models of 20 newsgroups: at least eight times smaller, for less than 0.3 points of accuracy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linnaeus import Model, read
from linnaeus.recipes.cookbook import recipe

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.parametrize("name", ["svm", *(["default"] if "LINNAEUS_ROWS" in os.environ else [])])  # minutes more
def test_a_compact_model_is_an_eighth_as_large_and_nearly_as_good(name: str, real_data: Path, tmp_path: Path) -> None:
    if not (real_data / "newsgroups20").is_dir():
        pytest.skip("no newsgroups20 here")
    train, test = (read(real_data / "newsgroups20" / f"{part}.parquet").load() for part in ("train", "test"))
    whole = recipe(name).fit(train)
    whole.save(tmp_path / "whole.lin")
    whole.compact(train).save(tmp_path / "small.lin")
    small = Model.load(tmp_path / "small.lin")
    before, after = (model.evaluate(test, rounds=0) for model in (whole, small))
    assert 8 * (tmp_path / "small.lin").stat().st_size < (tmp_path / "whole.lin").stat().st_size
    assert after.value("accuracy") > before.value("accuracy") - 0.003
    assert after.value("ece") < before.value("ece") + 0.01
