"""Trained classifiers in files of strangers: refused with a sentence, or usable; no crash, no code, bounded memory."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.hostile import assert_harmless, try_all
from tests.model.attack import act, mutated, wide
from tests.model.hostile import hostile_states, load_model
from tests.model.zoo import MAKERS
from tests.store.hostile import edited, hostile_files
from tests.store.sandbox import events, open_all

from linnaeus import Recipe, kernels, read, store
from linnaeus.cli.main import main
from linnaeus.errors import ModelFileError
from linnaeus.features import Given, Words
from linnaeus.learners.linear.learner import Linear
from linnaeus.recipes.tuning import Tuning
from linnaeus.store.states import pack_strings, unpack_labels
from linnaeus.types import State

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are set and read as Linux does")
ROWS = [("a good film", "pos"), ("so good", "pos"), ("a bad film", "neg"), ("so bad", "neg"), ("odd", "rare")] * 4


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "sound.lin"
    words = Words(ngrams=(1, 2), values="tfidf", length="l2")
    Recipe(features=words, learner=Linear(loss="squared_hinge"), tuning=Tuning()).fit(read(ROWS)).save(path)
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
    found = open_all(files, sound, "tests.model.hostile:use_model")
    assert [it for it in found if it.kind != "refused" or not _sentence(it.text)] == []


def test_one_long_label_among_many_does_not_take_all_memory() -> None:
    labels = ["x" * (1 << 14), *map(str, range(1 << 15))]
    with pytest.raises(ModelFileError, match="would take more"):
        unpack_labels("classes", pack_strings("classes", labels))


@linux
def test_edited_and_foreign_files_are_refused_in_bounded_memory(sound: Path) -> None:
    files = [*hostile_files(sound), *edited(sound.read_bytes(), 500)]
    found = open_all(files, sound, "tests.model.hostile:use_model")
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
    seen = events(sound, "tests.model.warmed:load_model")
    assert [event for event, _ in seen if event not in HARMLESS] == ["open", "open"]
    assert seen[0][1].startswith(f"('{sound}', None, ")


HARMLESS = ("object.__getattr__",)
"""What Python tells of its own making: a look at an attribute of a function or a frame."""


FEW = [
    *("linear", "compact int8", "hashed", "conjunction", "fourier", "nystrom, hashed", "counting: multinomial"),
    *("neighbors, hashed", "neighbors, graph", "kernel SVM, linear, hashed", "Gaussian process"),
    *("matrix, classes", "matrix, stream", "matrix, trees", "tagger, word lists", "ranker", "pipeline"),
    *("label tree, label sets", "label tree, mapped"),
]


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One thread, so that nothing but this test is at work when a worker is forked; tracebacks go to its folder."""
    monkeypatch.setenv("LINNAEUS_HOME", str(tmp_path))
    with kernels.threads(1):
        yield


@linux
def test_two_hundred_mutated_files_are_refused_or_answer_within_limits(tmp_path: Path, alone: None) -> None:
    found = try_all(mutated(200, 7, FEW, tmp_path), act)
    assert_harmless(found, lambda case: case.allowance)
    assert sum(one.kind == "done" for one in found) > 20


@linux
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_mutated_files_of_every_kind_are_refused_or_answer_within_limits(tmp_path: Path, alone: None) -> None:
    found = try_all(mutated(5400, 1, MAKERS, tmp_path), act)
    assert_harmless(found, lambda case: case.allowance)
    assert len(found) == 5400
    assert sum(one.kind == "done" for one in found) > 1000


WIDE = [
    *("neighbors, hashed", "neighbors, hashed, Euclidean", "neighbors, hyperplanes, hashed", "nystrom, hashed"),
    *("kernel SVM, linear, hashed", "kernel ridge, hashed", "label tree, hashed"),
]


@linux
def test_what_is_used_of_many_columns_takes_memory_and_not_how_many_there_are(tmp_path: Path, alone: None) -> None:
    """A model on hashed rows is as large as its rows: it answers, in the memory of its few rows."""
    found = try_all(wide((20, 30), WIDE, tmp_path), act)
    assert_harmless(found, lambda case: case.allowance)
    assert {one.kind for one in found} == {"done"}


@linux
@pytest.mark.slow
def test_trees_take_memory_by_the_columns_they_ask_about(tmp_path: Path, alone: None) -> None:
    trees = ["trees: forest, hashed", "trees: gradient boosting, hashed"]
    found = try_all(wide((30,), trees, tmp_path), act)
    assert_harmless(found, lambda case: case.allowance)
    assert {one.kind for one in found} == {"done"}


def _put(manifest, route, value):
    for name in route[:-1]:
        manifest = manifest[name]
    manifest[route[-1]] = value


@pytest.mark.parametrize(
    ("route", "value"),
    [
        ("recipe.decision", 31),
        ("recipe.tuning.folds", 0.5),
        ("recipe.features.normalize", "x"),
        ("facts.tried", 7),
        ("facts.tried", [[1.0, "x"]]),
        ("facts.strength", [1.0]),
        ("facts.strength", 10**400),
        ("facts.rows", "many"),
        ("facts.epochs", None),
        ("facts.compact", {}),
        ("evaluation", 3),
        ("form", None),
    ],
)
def test_an_entry_of_another_type_is_refused_with_exit_code_4(sound, tmp_path, route, value, capsys) -> None:
    state = store.load(sound)
    manifest = copy.deepcopy(state.manifest)
    _put(manifest, route.split("."), value)
    store.save(tmp_path / "a.lin", State(manifest, state.tensors))
    assert main(["inspect", str(tmp_path / "a.lin")]) == 4
    assert _sentence(capsys.readouterr().err.strip())


def test_terms_that_were_given_are_read_again(tmp_path: Path) -> None:
    made = Recipe(features=Words(terms=Given(("good", "bad", "odd")))).fit(read(ROWS))
    made.save(tmp_path / "a.lin")
    assert load_model(tmp_path / "a.lin").recipe == made.recipe
