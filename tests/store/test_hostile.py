"""Files made to do harm: each is refused with one sentence, in bounded memory, and nothing of it is run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.store.hostile import edited, hostile_files
from tests.store.sandbox import events, open_all, outcome
from tests.store.tampered import tampered

from linnaeus import features, store
from linnaeus.errors import ModelFileError
from linnaeus.types import State

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are set and read as Linux does")


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A small file with every kind of tensor."""
    tensors = {
        "weights": np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3),
        "halves": np.linspace(-1, 1, 3).astype(np.float16),
        "doubles": np.array([0.1, -0.0]),
        "offsets": np.array([0, 2, 5], np.int64),
        "bytes": np.frombuffer(b"abcde", np.uint8),
        "eighths": np.array([-128, 127], np.int8),
        "mask": np.array([True, False, True]),
        "nothing": np.zeros((0, 3), np.uint16),
    }
    store.save(tmp_path / "sound.lin", State({"kind": "example", "parts": [{"a": 0.1}, None, "\u00fc"]}, tensors))
    return tmp_path / "sound.lin"


def sentence(said: str, path: Path) -> bool:
    """Whether it is one sentence that begins with the file."""
    return said.startswith(str(path)) and said.endswith(".") and "\n" not in said and len(said) < 400


@pytest.mark.skipif(sys.platform == "linux", reason="the next test opens the same files, with a limit on memory")
def test_every_hostile_file_is_refused_with_a_sentence(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.lin"
    for name, content in hostile_files(sound):
        path.write_bytes(content)
        with pytest.raises(ModelFileError) as caught:
            store.load(path)
        assert sentence(str(caught.value), path), name


@linux
def test_hostile_files_and_edits_are_refused_with_a_sentence_in_bounded_memory(sound: Path) -> None:
    files = list(hostile_files(sound))
    assert len(files) > 100
    found = open_all([*files, *edited(sound.read_bytes(), 500)], sound, "linnaeus.store:load")
    assert [it for it in found if it.kind != "refused" or not sentence(it.text, it.path)] == []


def test_no_flipped_bit_passes(sound: Path, tmp_path: Path) -> None:
    content, path = sound.read_bytes(), tmp_path / "a.lin"
    for at in range(len(content)):
        for flip in (1 << (at % 8), 0x20, 0xFF):
            path.write_bytes(content[:at] + bytes([content[at] ^ flip]) + content[at + 1 :])
            with pytest.raises(ModelFileError):
                store.load(path)


@pytest.mark.slow
def test_no_changed_byte_passes(sound: Path, tmp_path: Path) -> None:
    content, path = sound.read_bytes(), tmp_path / "a.lin"
    for at in range(len(content)):
        for value in {*(content[at] ^ 1 << bit for bit in range(8)), 0, 9, 10, 32, 34, 92, 125, 255} - {content[at]}:
            path.write_bytes(content[:at] + bytes([value]) + content[at + 1 :])
            with pytest.raises(ModelFileError):
                store.load(path)


def test_no_cut_passes(sound: Path, tmp_path: Path) -> None:
    content, path = sound.read_bytes(), tmp_path / "a.lin"
    for kept in range(len(content)):
        path.write_bytes(content[:kept])
        with pytest.raises(ModelFileError, match=r"missing|damaged"):
            store.load(path)


@pytest.mark.slow
def test_ten_thousand_edits(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.lin"
    for _, content in edited(sound.read_bytes(), 10_000, seed=1):
        path.write_bytes(content)
        with pytest.raises(ModelFileError):
            store.load(path)


def test_loading_opens_the_file_and_nothing_else(sound: Path) -> None:
    seen = events(sound, "linnaeus.store:load")
    assert [event for event, _ in seen] == ["open", "open"]
    assert seen[0][1].startswith(f"('{sound}', None, ")
    assert seen[1][1][1].isdigit(), "the open file gets a Python object"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_pipes_and_devices_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.lin")
    for path in (tmp_path / "pipe.lin", "/dev/zero", "/dev/null", "/dev/stdin"):
        with pytest.raises(ModelFileError, match="pipe or a device"):
            store.load(path)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_names_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a.lin").symlink_to(tmp_path / "b.lin")
    (tmp_path / "b.lin").symlink_to(tmp_path / "a.lin")
    (tmp_path / "file").write_bytes(b"x")
    for path in (
        tmp_path / "a.lin",
        tmp_path / "none",
        tmp_path / "file" / "a.lin",
        tmp_path / ("x" * 999),
        "a\0b",
        "",
    ):
        with pytest.raises(ModelFileError, match=r"no model file|is a directory"):
            store.load(path)


@pytest.mark.parametrize("kept", [3, 20, -1])
def test_a_file_that_shrinks_while_it_is_read(sound: Path, monkeypatch, kept: int) -> None:
    whole = len(sound.read_bytes())
    sound.write_bytes(sound.read_bytes()[:kept])
    monkeypatch.setattr("linnaeus.store.file.length", lambda file: whole)
    with pytest.raises(ModelFileError, match=r"missing|JSON|manifest"):
        store.load(sound)


def test_a_large_file_that_shrinks_before_it_is_mapped(sound: Path, monkeypatch) -> None:
    whole = len(sound.read_bytes())
    sound.write_bytes(sound.read_bytes()[:-1])
    monkeypatch.setattr("linnaeus.store.file.VERIFY_LIMIT", 1)
    monkeypatch.setattr("linnaeus.store.file.length", lambda file: whole)
    with pytest.raises(ModelFileError, match="end is missing"):
        store.load(sound)


def load_features(path: Path) -> object:
    """Load fitted features and use them."""
    fitted = features.load(path)
    fitted.rows(["good film", "a bad one"])
    return fitted


BLOCKS = [
    features.Words(ngrams=(1, 2), values="tfidf", length="l2"),
    features.Chars(2, 3, terms=features.Hashed(6)),
    features.Words() | features.Affixes() | features.Shape(),
]


@pytest.mark.parametrize("block", BLOCKS, ids=["terms", "hashed", "union"])
def test_features_of_a_stranger(block: features.Words, tmp_path: Path) -> None:
    state = block.fit(["good film", "an extraordinarily bad film", "good"]).state()
    failed = {}
    for name, changed in tampered(state):
        store.save(tmp_path / "a.lin", changed)
        kind, said = outcome(load_features, tmp_path / "a.lin")
        if kind == "failed" or "\n" in said:
            failed[name] = said
    assert failed == {}


@linux
@pytest.mark.slow
def test_hostile_files_of_features(tmp_path: Path) -> None:
    path = tmp_path / "sound.lin"
    features.save(path, BLOCKS[0].fit(["good film", "an extraordinarily bad film"]))
    files = [*hostile_files(path), *edited(path.read_bytes(), 500)]
    outcomes = open_all(files, path, "tests.store.test_hostile:load_features")
    assert [outcome for outcome in outcomes if outcome.kind != "refused"] == []
