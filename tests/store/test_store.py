"""The file: the same bits back, replaced in one step, and a sentence for everything that is not ours."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import struct

import numpy as np
import pytest
from safetensors.numpy import save_file

from linnaeus.errors import MachineError, ModelFileError, UsageError
from linnaeus.store import load, save
from linnaeus.store import manifest as manifests
from linnaeus.types import State


def example() -> State:
    tensors = {
        "weights": np.array([[0.1, -0.0], [1e-45, 3.4e38]], np.float32),
        "offsets": np.array([0, 2, 2**40], np.int64),
        "bytes": np.frombuffer(b"ab\x00c", np.uint8),
        "empty": np.zeros((0, 3), np.float64),
        "one": np.array(7, np.uint64),
        "mask": np.array([True, False]),
    }
    return State({"kind": "example", "share": 0.1 + 0.2, "blocks": [{"kind": "ö", "n": None}]}, tensors)


def same(a: State, b: State) -> bool:
    return a.manifest == b.manifest and all(
        a.tensors[n].dtype == b.tensors[n].dtype
        and a.tensors[n].shape == b.tensors[n].shape
        and a.tensors[n].tobytes() == b.tensors[n].tobytes()
        for n in a.tensors.keys() | b.tensors.keys()
    )


def test_round_trip_gives_the_same_bits(tmp_path):
    save(tmp_path / "a.lin", example())
    assert same(load(tmp_path / "a.lin"), example())
    assert same(load(tmp_path / "a.lin", verify=True), example())


def test_the_same_state_gives_the_same_file_and_the_same_umask(tmp_path):
    save(tmp_path / "a.lin", example())
    save(tmp_path / "b.lin", example())
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "a.lin").read_bytes() == (tmp_path / "b.lin").read_bytes()
    assert (tmp_path / "a.lin").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_views_and_other_byte_orders_are_stored_by_value(tmp_path):
    square = np.arange(9, dtype=np.float32).reshape(3, 3)
    save(tmp_path / "a.lin", State({}, {"t": square.T, "b": np.arange(3, dtype=">i4"), "s": square[:, 1]}))
    tensors = load(tmp_path / "a.lin").tensors
    assert tensors["t"].tolist() == square.T.tolist()
    assert tensors["b"].tolist() == [0, 1, 2]
    assert tensors["s"].tolist() == [1, 4, 7]


def test_no_single_byte_can_change_unseen(tmp_path):
    path = tmp_path / "a.lin"
    save(path, State({"kind": "example", "n": 3}, {"w": np.array([1.5, 2.5], np.float32)}))
    truth, content = load(path), path.read_bytes()
    for at in range(len(content)):
        for flip in (0x01, 0x20, 0x80):
            path.write_bytes(content[:at] + bytes([content[at] ^ flip]) + content[at + 1 :])
            with contextlib.suppress(ModelFileError):
                assert same(load(path), truth)


@pytest.mark.parametrize("kept", [0, 4, 8, 20, -1])
def test_a_file_cut_short_is_refused(tmp_path, kept):
    path = tmp_path / "a.lin"
    save(path, example())
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ModelFileError, match=r"a\.lin"):
        load(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"PK\x03\x04" * 9, b"{" * 400, struct.pack("<Q", 2**62) + b"{", struct.pack("<Q", 2) + b"{}"],
)
def test_foreign_files_are_refused(tmp_path, content):
    (tmp_path / "a.lin").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"a\.lin"):
        load(tmp_path / "a.lin")


def test_a_safetensors_file_of_another_library_is_refused(tmp_path):
    save_file({"w": np.ones(2)}, tmp_path / "a.lin", metadata={"format": "pt"})
    with pytest.raises(ModelFileError, match="no manifest"):
        load(tmp_path / "a.lin")


def test_a_newer_format_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(manifests, "FORMAT", 2)
    save(tmp_path / "a.lin", example())
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=r"format 2.*upgrade"):
        load(tmp_path / "a.lin")


@pytest.mark.parametrize(
    "envelope",
    [
        "[]",
        "null",
        "{",
        '{"format": 0}',
        '{"format": true}',
        '{"format": 1}',
        '{"format": 1, "manifest": NaN}',
        '{"format": 1, "manifest": {"x": 1e999}, "tensors": {}, "sha256": ""}',
        "[" * 9999,
    ],
)
def test_envelopes_that_are_no_envelope(tmp_path, envelope):
    save_file({"w": np.ones(2)}, tmp_path / "a.lin", metadata={"linnaeus": envelope})
    with pytest.raises(ModelFileError):
        load(tmp_path / "a.lin")


@pytest.mark.parametrize(
    "content",
    [
        {"manifest": None, "tensors": {}},
        {"manifest": [], "tensors": {}},
        {"manifest": {}, "tensors": None},
        {"manifest": {}, "tensors": []},
        {"manifest": {}, "tensors": {"w": 3}},
        {"manifest": {}, "tensors": {"w": {"dtype": "float64"}}},
    ],
)
def test_envelopes_with_a_right_digest_over_wrong_content(tmp_path, content):
    content = {"format": 1, **content}
    text = manifests.canonical({**content, "sha256": hashlib.sha256(manifests.canonical(content).encode()).hexdigest()})
    save_file({"w": np.ones(2)}, tmp_path / "a.lin", metadata={"linnaeus": text})
    with pytest.raises(ModelFileError, match="damaged"):
        load(tmp_path / "a.lin")


def test_tensors_must_be_those_of_the_manifest(tmp_path):
    sealed = manifests.seal({}, {"w": manifests.fingerprint(np.ones(2, np.float32))})
    for tensors in ({}, {"w": np.ones(2)}, {"w": np.ones(2, np.float32), "v": np.ones(1)}):
        save_file(tensors, tmp_path / "a.lin", metadata={"linnaeus": sealed})
        with pytest.raises(ModelFileError):
            load(tmp_path / "a.lin")


def test_only_finite_numbers_are_written_or_read(tmp_path):
    bad = np.array([1, np.nan], np.float32)
    with pytest.raises(UsageError, match=r"'w'.*not finite"):
        save(tmp_path / "a.lin", State({}, {"w": bad}))
    with pytest.raises(UsageError, match="finite numbers"):
        save(tmp_path / "a.lin", State({"x": float("inf")}, {}))
    assert not list(tmp_path.iterdir())
    save_file(
        {"w": bad}, tmp_path / "a.lin", metadata={"linnaeus": manifests.seal({}, {"w": manifests.fingerprint(bad)})}
    )
    with pytest.raises(ModelFileError, match="not finite"):
        load(tmp_path / "a.lin")


def test_what_a_file_cannot_hold_is_refused_before_writing(tmp_path):
    with pytest.raises(UsageError, match="object"):
        save(tmp_path / "a.lin", State({}, {"w": np.array([None])}))
    with pytest.raises(UsageError, match="1,025 tensors"):
        save(tmp_path / "a.lin", State({}, {str(i): np.zeros(1) for i in range(1025)}))
    with pytest.raises(UsageError, match="bytes"):
        save(tmp_path / "a.lin", State({"x": "x" * (1 << 24)}, {}))
    with pytest.raises(UsageError, match="JSON"):
        save(tmp_path / "a.lin", State({"x": {1, 2}}, {}))
    assert not list(tmp_path.iterdir())


def test_damage_in_large_tensors_is_found_when_asked(tmp_path, monkeypatch):
    path = tmp_path / "a.lin"
    save(path, State({}, {"w": np.arange(100, dtype=np.int32)}))
    path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    monkeypatch.setattr("linnaeus.store.tensors.VERIFY_LIMIT", 100)
    load(path)
    with pytest.raises(ModelFileError, match=r"'w'.*digest"):
        load(path, verify=True)


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch, call):
    path = tmp_path / "a.lin"
    save(path, State({"n": 1}, {}))

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace" if call == "replace" else f"linnaeus.store.atomic.os.{call}", fail)
    with pytest.raises(MachineError, match="No space left"):
        save(path, State({"n": 2}, {}))
    monkeypatch.undo()
    assert load(path).manifest == {"n": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["a.lin"]


def test_a_directory_that_cannot_be_flushed_is_no_failure(tmp_path, monkeypatch):
    whole = os.fsync

    def only_files(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(22, "Invalid argument")
        whole(handle)

    monkeypatch.setattr("linnaeus.store.atomic.os.fsync", only_files)
    save(tmp_path / "a.lin", example())
    assert same(load(tmp_path / "a.lin"), example())


@pytest.mark.slow
def test_random_edits_never_load_as_something_else(tmp_path):
    path, rng = tmp_path / "a.lin", np.random.default_rng(0)
    save(path, example())
    truth, content = example(), path.read_bytes()
    for _ in range(10_000):
        edited = bytearray(content)
        for _ in range(rng.integers(1, 6)):
            at, size = int(rng.integers(0, len(edited))), int(rng.integers(0, 9))
            edited[at : at + size] = rng.bytes(int(rng.integers(0, 9)))
        path.write_bytes(bytes(edited))
        with contextlib.suppress(ModelFileError):
            assert same(load(path), truth)


def test_places_that_cannot_be_written_or_read(tmp_path):
    with pytest.raises(MachineError, match="no directory"):
        save(tmp_path / "none" / "a.lin", example())
    with pytest.raises(MachineError, match="is a directory"):
        save(tmp_path, example())
    with pytest.raises(ModelFileError, match="no model file"):
        load(tmp_path / "none.lin")
    with pytest.raises(ModelFileError, match="directory"):
        load(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_stays_a_link(tmp_path):
    save(tmp_path / "a.lin", State({"n": 1}, {}))
    (tmp_path / "link.lin").symlink_to(tmp_path / "a.lin")
    save(tmp_path / "link.lin", State({"n": 2}, {}))
    assert (tmp_path / "link.lin").is_symlink()
    assert load(tmp_path / "a.lin").manifest == {"n": 2}


def test_the_header_is_plain_to_any_safetensors_tool(tmp_path):
    from safetensors import safe_open

    save(tmp_path / "a.lin", example())
    with safe_open(tmp_path / "a.lin", framework="numpy") as file:
        envelope = json.loads(file.metadata()["linnaeus"])
    assert envelope["manifest"] == example().manifest
    assert envelope["tensors"]["offsets"]["dtype"] == "int64"
