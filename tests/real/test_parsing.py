"""Dependency trees of real sentences: what the quick recipe reaches, and the same model for any number of threads."""

from __future__ import annotations

import pytest

from linnaeus import threads
from linnaeus.data.sentence_reading import read_sentences
from linnaeus.recipes.cookbook import recipe


def test_trees_of_the_dev_part_with_the_same_bytes_on_one_and_two_threads(real_data, tmp_path):
    folder = real_data / "ud_english_ewt_trees"
    if not folder.exists():
        pytest.skip("no treebank here")
    train, dev = (read_sentences(folder / f"{part}.parquet", tags="") for part in ("train", "dev"))
    for count in (1, 2):
        with threads(count):
            model = recipe("parse-fast").changed({"tuning": None, "learner.epochs": 3}).fit(train)
            model.save(tmp_path / f"{count}.lin")
            found = model.evaluate(dev, rounds=0)
        assert found.value("uas") >= 0.87
        assert found.value("las") >= 0.85
    assert (tmp_path / "1.lin").read_bytes() == (tmp_path / "2.lin").read_bytes()
