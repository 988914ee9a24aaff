"""Taggers on real sentences: what the recipes reach, and the same model for any number of threads."""

from __future__ import annotations

import pytest

from linnaeus import Model, threads
from linnaeus.data.sentence_reading import read_sentences
from linnaeus.recipes.cookbook import recipe


def parts(folder, tags):
    if not (folder / "train.parquet").exists() or not (folder / "test.parquet").exists():
        pytest.skip(f"no {folder.name} here")
    return [read_sentences(folder / f"{part}.parquet", tags=tags) for part in ("train", "test")]


def test_parts_of_speech_with_the_same_bytes_on_one_and_two_threads(real_data, tmp_path):
    train, test = parts(real_data / "ud_english_ewt", "upos")
    for count in (1, 2):
        with threads(count):
            model = recipe("pos").fit(train)
        model.save(tmp_path / f"{count}.lin")
    assert (tmp_path / "1.lin").read_bytes() == (tmp_path / "2.lin").read_bytes()
    again = Model.load(tmp_path / "1.lin")
    assert again.evaluate(test).value("accuracy") >= 0.95
    with threads(1):
        said = again.predict(test)
    assert said == model.predict(test)


def test_entities(real_data):
    train, test = parts(real_data / "conll2003", "ner")
    found = recipe("entities").fit(train).evaluate(test)
    assert found.value("f1") >= 0.85


def test_lemmas_of_the_dev_part(real_data):
    folder = real_data / "ud_english_ewt_trees"
    if not folder.exists():
        pytest.skip("no treebank here")
    train, dev = (read_sentences(folder / f"{part}.parquet", tags="lemmas") for part in ("train", "dev"))
    model = recipe("lemmas").fit(train)
    assert model.evaluate(dev).value("accuracy") >= 0.985
    with threads(1):
        said = model.predict(dev)
    assert said == model.predict(dev)
