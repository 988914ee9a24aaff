"""What earlier versions wrote is read for ever: golden files of each format, in tests/golden.

They are written once, by `tools/write_golden.py`, and never again.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from linnaeus import features, store
from linnaeus.store.header import FORMAT
from linnaeus.types import State

FOLDER = Path(__file__).parents[1] / "golden"
FILES = sorted(FOLDER.glob("format-*.lin"))
WHOLE = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
TYPES = ("bool", *WHOLE, "float16", "float32", "float64")


def example() -> State:
    """What is in the files named "state"; said again here, because tools change and these files do not."""
    tensors = {kind: np.array([[0, 1], [1, 0]]).astype(kind) for kind in TYPES}
    tensors |= {"empty": np.zeros((0, 3), np.float32), "one": np.array(7, np.int64)}
    return State({"kind": "example", "values": [None, True, -1, 0.1, "grün", {"a": []}]}, tensors)


def test_every_format_has_its_files() -> None:
    assert {path.name.split("-")[1] for path in FILES} == {str(number) for number in range(1, FORMAT + 1)}
    assert all(path.stat().st_size < 16_384 for path in FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_file_is_sound(path: Path) -> None:
    store.load(path, verify=True)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*-state.lin")), ids=lambda path: path.stem)
def test_a_state_has_the_same_bits(path: Path) -> None:
    found, wanted = store.load(path), example()
    assert found.manifest == wanted.manifest
    assert found.tensors.keys() == wanted.tensors.keys()
    for name, array in wanted.tensors.items():
        assert (found.tensors[name].dtype, found.tensors[name].shape) == (array.dtype, array.shape)
        assert found.tensors[name].tobytes() == array.tobytes()


def test_the_present_format_is_written_as_ever(tmp_path: Path) -> None:
    store.save(tmp_path / "a.lin", example())
    assert (tmp_path / "a.lin").read_bytes() == (FOLDER / f"format-{FORMAT}-state.lin").read_bytes()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*-features.lin")), ids=lambda path: path.stem)
def test_features_make_the_rows_they_made(path: Path) -> None:
    wanted = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    fitted = features.load(path)
    assert list(fitted.names()) == wanted["names"]
    assert np.allclose(fitted.rows(wanted["texts"]).to_scipy().toarray(), wanted["rows"], atol=1e-5)
