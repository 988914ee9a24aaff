"""Trained classifiers in files of strangers: refused with a sentence, or usable; no crash, no code, bounded memory."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from tests.pipeline.hostile import hostile_states, load_model, use_model
from tests.store.hostile import edited, hostile_files
from tests.store.sandbox import events, open_all, outcome
from tests.store.tampered import tampered

from linnaeus import Recipe, datasets, read, store
from linnaeus.errors import ModelFileError
from linnaeus.features import Affixes, Chars, Hashed, Shape, Words
from linnaeus.pipeline import Linear, Tuning
from linnaeus.pipeline.compact import Compact
from linnaeus.pipeline.cookbook import recipe
from linnaeus.pipeline.modelfile import state_of
from linnaeus.pipeline.packing import unpack
from linnaeus.store.states import pack_strings

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are set and read as Linux does")
ROWS = [("a good film", "pos"), ("so good", "pos"), ("a bad film", "neg"), ("so bad", "neg"), ("odd", "rare")] * 4
SETS = [("a good film", ["a", "b"]), ("so good", ["a"]), ("a bad film", []), ("so bad", ["b"])] * 5
NUMBERS = [("a good film", 5.0), ("so good", 4.0), ("a bad film", 2.0), ("so bad", 1.0)] * 5


def _model(name: str):
    learner = Linear(loss="squared_hinge")
    words = Words(ngrams=(1, 2), values="tfidf", length="l2")
    if name == "sets":
        return Recipe(features=words, learner=learner, tuning=Tuning()).fit(read(SETS, label_kind="many"))
    if name == "numbers":
        return Recipe(features=words, learner=Linear(loss="squared"), tuning=Tuning()).fit(
            read(NUMBERS, label_kind="numeric")
        )
    if name == "hashed":
        mixed = Chars(2, 3, terms=Hashed(6)) | Shape() | Affixes()
        return Recipe(features=mixed, learner=learner, tuning=Tuning()).fit(read(ROWS))
    if name.startswith("knn"):
        return recipe(name).changed({"tuning.folds": 2}).fit(read(ROWS))
    if name == "pairs":
        return Recipe(features=words, learner=Linear(loss="hinge", output="onevsone"), tuning=Tuning()).fit(read(ROWS))
    whole = Recipe(features=words, learner=learner, tuning=Tuning()).fit(read(ROWS))
    return whole.compact(read(ROWS), Compact()) if name == "compact" else whole


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "sound.lin"
    _model("plain").save(path)
    return path


def _sentence(said: str) -> bool:
    return said.endswith(".") and "\n" not in said and len(said) < 400


@linux
def test_hostile_classifiers_are_refused_with_a_sentence_in_bounded_memory(sound: Path, tmp_path: Path) -> None:
    files = []
    for name, state in hostile_states(store.load(sound)):
        store.save(tmp_path / "a.lin", state)
        files.append((name, (tmp_path / "a.lin").read_bytes()))
    assert len(files) >= 50
    found = open_all(files, sound, "tests.pipeline.hostile:use_model")
    assert [it for it in found if it.kind != "refused" or not _sentence(it.text)] == []


def test_one_long_label_among_many_does_not_take_all_memory() -> None:
    labels = ["x" * (1 << 14), *map(str, range(1 << 15))]
    with pytest.raises(ModelFileError, match="would take more"):
        unpack("classes", pack_strings("classes", labels))


@linux
def test_edited_and_foreign_files_are_refused_in_bounded_memory(sound: Path) -> None:
    files = [*hostile_files(sound), *edited(sound.read_bytes(), 500)]
    found = open_all(files, sound, "tests.pipeline.hostile:use_model")
    assert [it for it in found if it.kind != "refused" or not _sentence(it.text)] == []


@pytest.mark.slow
def test_no_flipped_byte_passes(sound: Path, tmp_path: Path) -> None:
    content, path = sound.read_bytes(), tmp_path / "a.lin"
    for at in range(len(content)):
        for flip in (1 << (at % 8), 0xFF):
            path.write_bytes(content[:at] + bytes([content[at] ^ flip]) + content[at + 1 :])
            with pytest.raises(ModelFileError):
                load_model(path)


def test_no_byte_of_a_few_hundred_passes(sound: Path, tmp_path: Path) -> None:
    content, path = sound.read_bytes(), tmp_path / "a.lin"
    for at in np.random.default_rng(0).integers(0, len(content), 400).tolist():
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :])
        with pytest.raises(ModelFileError):
            load_model(path)


def test_loading_opens_one_file_and_nothing_else(sound: Path) -> None:
    seen = events(sound, "tests.pipeline.warmed:load_model")
    assert [event for event, _ in seen if event not in HARMLESS] == ["open", "open"]
    assert seen[0][1].startswith(f"('{sound}', None, ")


HARMLESS = ("object.__getattr__",)
"""What Python tells of its own making: a look at an attribute of a function or a frame."""


@pytest.mark.parametrize("name", ["plain", "compact", "knn", "knn-graph"])
def test_tampered_tensors_of_a_classifier(name: str, tmp_path: Path) -> None:
    _fuzz(name, tmp_path, lambda what: not what.startswith("manifest"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "compact", "hashed", "sets", "numbers", "pairs", "knn", "knn-graph"])
def test_tampered_classifiers(name: str, tmp_path: Path) -> None:
    _fuzz(name, tmp_path, lambda what: True)


def _fuzz(name: str, folder: Path, wanted) -> None:
    """One thing wrong, digests right: refused with a sentence, or every question has an answer."""
    failed, sound = {}, state_of(_model(name))
    store.save(folder / "a.lin", sound)
    use_model(folder / "a.lin")
    for what, state in tampered(sound):
        if not wanted(what):
            continue
        store.save(folder / "a.lin", state)
        with np.errstate(all="ignore"):
            kind, said = outcome(use_model, folder / "a.lin")
        if kind == "failed" or (kind == "refused" and not _sentence(said)):
            failed[what] = said
    assert failed == {}


@pytest.mark.slow
def test_the_default_recipe_tampered(tmp_path: Path) -> None:
    state, failed = state_of(recipe("default").fit(datasets.intents("train"))), {}
    for what, changed in tampered(state):
        if what.startswith("manifest"):
            continue
        store.save(tmp_path / "a.lin", changed)
        with np.errstate(all="ignore"):
            kind, said = outcome(use_model, tmp_path / "a.lin")
        if kind == "failed" or (kind == "refused" and not _sentence(said)):
            failed[what] = said
    assert failed == {}
