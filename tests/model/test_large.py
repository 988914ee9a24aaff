"""Classifiers in large files: weights are checked block by block as they are used, and nobody gets a wrong answer."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import linnaeus
from linnaeus import Model, Recipe, read, store
from linnaeus.cli.main import main
from linnaeus.errors import ModelFileError
from linnaeus.features import Hashed, Words
from linnaeus.learners.linear.learner import Linear
from linnaeus.store.blocks import BLOCK
from linnaeus.types import State

ROWS = [("good film", "pos"), ("so good", "pos"), ("bad film", "neg"), ("so bad", "neg"), ("odd", "rare")] * 3
FEATURES = Words(terms=Hashed(14))
WIDTH = 4 * 3


def row_of(text: str) -> int:
    return int(FEATURES.fit([]).rows([text]).indices[0])


@pytest.fixture
def large(tmp_path: Path, monkeypatch) -> Path:
    """A model of 200 kB in a file that counts as large."""
    monkeypatch.setattr("linnaeus.store.file.VERIFY_LIMIT", 1 << 16)
    Recipe(features=FEATURES, learner=Linear(loss="log")).fit(read(ROWS)).save(tmp_path / "m.lin")
    return tmp_path / "m.lin"


def damage(path: Path, row: int) -> None:
    content = bytearray(path.read_bytes())
    sound = store.load(path, verify=False).tensors["params.W"].tobytes()
    content[content.index(sound) + row * WIDTH] ^= 0x40
    path.write_bytes(content)


def test_a_large_model_answers_as_a_small_one(large: Path, monkeypatch) -> None:
    mapped = Model.load(large)
    found = mapped.probabilities(["good film", "odd"])
    monkeypatch.setattr("linnaeus.store.file.VERIFY_LIMIT", 1 << 30)
    assert found.tobytes() == Model.load(large).probabilities(["good film", "odd"]).tobytes()
    assert mapped.classify("good film").label == "pos"
    assert pickle.loads(pickle.dumps(mapped)).probabilities(["good film", "odd"]).tobytes() == found.tobytes()


def test_damaged_weights_are_found_by_the_first_text_that_needs_them(large: Path) -> None:
    assert row_of("odd") * WIDTH // BLOCK != row_of("good") * WIDTH // BLOCK, "in one block, other words are needed"
    damage(large, row_of("odd"))
    model = linnaeus.load(large)
    assert model.predict(["good"]).tolist() == ["pos"]
    assert model.classify("good").label == "pos"
    uses = [
        lambda: model.predict(["good", "odd"]),
        lambda: model.classify("odd"),
        lambda: model.scores(["odd"]),
        lambda: model.explain("good"),
        lambda: model.top_features(2),
        lambda: pickle.dumps(model),
        lambda: model.save(large.with_name("copy.lin")),
    ]
    for use in uses:
        with pytest.raises(ModelFileError, match="a block does not match its digest"):
            use()
    assert model.predict(["good"]).tolist() == ["pos"]
    with pytest.raises(ModelFileError, match=r"params\.W.*digest"):
        linnaeus.load(large, verify=True)


def test_damage_elsewhere_is_found_when_the_file_is_opened(large: Path) -> None:
    state = store.load(large, verify=False)
    tensors = {**state.tensors, "decision.extra": np.zeros(5 * BLOCK, np.uint8)}
    store.save(large, State(state.manifest, tensors))
    content = large.read_bytes()
    large.write_bytes(content[:-1] + b"\x01")
    with pytest.raises(ModelFileError, match="a block does not match its digest"):
        linnaeus.load(large)


@pytest.mark.skipif(os.name == "nt", reason="there, files are read")
def test_a_file_that_is_cut_while_its_model_is_in_use(large: Path) -> None:
    model = linnaeus.load(large)
    model.predict(["good"])
    os.truncate(large, 4096)
    for use in (lambda: model.predict(["good"]), lambda: model.classify("good"), lambda: model.explain("good")):
        with pytest.raises(ModelFileError, match="was truncated while in use"):
            use()


def test_inspect_says_that_weights_were_not_checked(large: Path, capsys) -> None:
    assert main(["inspect", str(large)]) == 0
    assert "NOT CHECKED for 197 kB of weights" in " ".join(capsys.readouterr().out.split())
    assert main(["inspect", str(large), "--verify"]) == 0
    assert "all tensors were checked" in " ".join(capsys.readouterr().out.split())
    damage(large, 0)
    assert main(["inspect", str(large), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digests"].startswith("NOT CHECKED")
    assert main(["inspect", str(large), "--verify"]) == 4
