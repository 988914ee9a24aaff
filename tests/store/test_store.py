"""The file: the same bits back, replaced in one step, and a sentence for everything that is not ours."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import pickle
import stat
import struct

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from linnaeus.errors import MachineError, ModelFileError, UsageError
from linnaeus.store import header as manifests
from linnaeus.store import load, save
from linnaeus.store.blocks import BLOCK, Guarded
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


def test_damage_in_a_large_file_without_digests_of_blocks_is_found_when_asked(tmp_path, monkeypatch):
    path = tmp_path / "a.lin"
    save(path, State({}, {"w": np.arange(100, dtype=np.int32)}))
    path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    monkeypatch.setattr("linnaeus.store.file.VERIFY_LIMIT", 100)
    guard = load(path).guards["w"]
    assert guard.kernel is None
    guard.check()
    with pytest.raises(ModelFileError, match=r"'w'.*digest"):
        load(path, verify=True)
    assert not load(path, verify=False).guards


@pytest.fixture
def large(tmp_path, monkeypatch):
    """A file that counts as large, of 4 blocks and a bit, and how to damage it at a byte of its tensors."""
    monkeypatch.setattr("linnaeus.store.file.VERIFY_LIMIT", 2048)
    path, W = tmp_path / "a.lin", np.arange(4 * BLOCK // 4 + 3, dtype=np.float32)
    save(path, State({"kind": "x"}, {"W": W, "b": np.ones(2, np.float32)}))
    start = path.stat().st_size - W.nbytes - 8

    def damage(at):
        content = bytearray(path.read_bytes())
        content[start + at] ^= 1
        path.write_bytes(content)

    return path, damage


@pytest.mark.parametrize("at", [0, BLOCK - 1, 2 * BLOCK, 4 * BLOCK + 11])
def test_damage_in_a_large_file_is_found_by_the_digests_of_its_blocks(large, at):
    path, damage = large
    assert sorted(load(path).tensors) == ["W", "b"], "digests of blocks are the file's own"
    damage(at)
    with pytest.raises(ModelFileError, match="a block does not match its digest"):
        load(path)
    with pytest.raises(ModelFileError, match=r"'W'.*digest"):
        load(path, verify=True)
    load(path, verify=False)


def test_what_is_left_for_later_is_checked_when_it_is_used(large):
    path, damage = large
    damage(2 * BLOCK)
    state = load(path, later=lambda manifest: ["W"] if manifest["kind"] == "x" else [])
    arrays = Guarded(state.tensors, state.guards)
    assert arrays.raw("W")[0] == 0
    assert arrays["b"].tolist() == [1, 1]
    assert state.guards["W"].kernel.check(0, 2 * BLOCK, 1)
    for use in (lambda: arrays["W"], lambda: dict(arrays), lambda: pickle.dumps(arrays), lambda: {**arrays}):
        with pytest.raises(ModelFileError, match="a block does not match its digest"):
            use()


def test_digests_of_blocks_can_be_written_again_and_be_damaged_too(large):
    path, _ = large
    before = path.read_bytes()
    save(path, load(path))
    assert path.read_bytes() == before
    with pytest.raises(UsageError, match="block_digests"):
        save(path, State({}, {"block_digests": np.zeros(1, np.uint64)}))
    content = bytearray(before)
    content[8 + int.from_bytes(before[:8], "little")] ^= 1  # they stand first: their numbers are the widest
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"'block_digests'.*digest"):
        load(path)


@pytest.mark.skipif(os.name == "nt", reason="there, files are read")
def test_a_large_file_that_is_cut_while_it_is_in_use(large):
    path, _ = large
    guard = load(path, later=lambda _: ["W"]).guards["W"]
    guard.ready()
    os.truncate(path, 4096)
    for use in (guard.ready, guard.check):
        with pytest.raises(ModelFileError, match="was truncated while in use"):
            use()


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
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_device_or_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MachineError, match="a device or a pipe"):
        save(tmp_path / "pipe", example())
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_link_stays_a_link(tmp_path):
    save(tmp_path / "a.lin", State({"n": 1}, {}))
    (tmp_path / "link.lin").symlink_to(tmp_path / "a.lin")
    save(tmp_path / "link.lin", State({"n": 2}, {}))
    assert (tmp_path / "link.lin").is_symlink()
    assert load(tmp_path / "a.lin").manifest == {"n": 2}


def every_type() -> State:
    kinds = [*manifests.DTYPES.values()]
    return State({"kind": "types"}, {f"{kind} ü": np.arange(i % 4).astype(kind) for i, kind in enumerate(kinds)})


@pytest.mark.parametrize("state", [example(), every_type(), State({}, {})], ids=["example", "types", "nothing"])
def test_the_bytes_are_those_of_the_safetensors_library(tmp_path, state):
    save(tmp_path / "a.lin", state)
    with safe_open(tmp_path / "a.lin", framework="numpy") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    assert json.loads(metadata["linnaeus"])["manifest"] == state.manifest
    assert same(State(state.manifest, tensors), state)
    save_file(state.tensors, tmp_path / "b.lin", metadata=metadata)
    assert (tmp_path / "b.lin").read_bytes() == (tmp_path / "a.lin").read_bytes()


def refuse(*_, **__):
    raise OSError(19, "No such device")


@pytest.fixture(params=["read", "mapped", "mapping fails", "no mapping"])
def way(request, monkeypatch):
    """Each way in which a file can come into memory."""
    if request.param != "read":
        monkeypatch.setattr("linnaeus.store.file.VERIFY_LIMIT", 1)
    if request.param == "no mapping":
        monkeypatch.setattr("linnaeus.store.file.CAN_MAP", False)
    if request.param == "mapping fails":
        monkeypatch.setattr("linnaeus.store.file.mmap.mmap", lambda *_, **__: (_ for _ in ()).throw(OSError(19, "no")))
    return request.param


def test_arrays_are_aligned_views_that_cannot_be_written(tmp_path, way):
    for state in (example(), every_type()):
        save(tmp_path / "a.lin", state)
        found = load(tmp_path / "a.lin")
        assert same(found, state)
        assert same(load(tmp_path / "a.lin", verify=True), state)
        for array in found.tensors.values():
            assert array.flags.aligned
            assert array.flags.c_contiguous
            assert not array.flags.writeable
            assert not array.flags.owndata


@pytest.mark.skipif(os.name == "nt", reason="there, files are read")
def test_a_large_file_is_mapped_and_a_small_one_is_not(tmp_path, monkeypatch):
    made = []
    whole = mmap.mmap
    monkeypatch.setattr("linnaeus.store.file.mmap.mmap", lambda *a, **k: made.append(a) or whole(*a, **k))
    save(tmp_path / "a.lin", example())
    load(tmp_path / "a.lin")
    assert not made
    monkeypatch.setattr("linnaeus.store.file.VERIFY_LIMIT", 1)
    load(tmp_path / "a.lin")
    assert len(made) == 1


def test_what_was_loaded_stays_when_the_file_is_replaced(tmp_path, way):
    path = tmp_path / "a.lin"
    save(path, State({}, {"w": np.arange(5000.0)}))
    old = load(path)
    save(path, State({}, {"w": np.arange(5000.0) + 1}))
    again = load(path)
    save(path, State({}, {"w": old.tensors["w"] + again.tensors["w"]}))
    assert old.tensors["w"].tolist() == list(range(5000))
    assert again.tensors["w"].tolist() == list(range(1, 5001))
    assert load(path).tensors["w"][1] == 3


def test_small_tensors_of_large_files_are_checked(tmp_path, monkeypatch):
    path = tmp_path / "a.lin"
    save(path, State({}, {"bias": np.zeros(2, np.int8), "w": np.arange(1000, dtype=np.int32)}))
    path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    monkeypatch.setattr("linnaeus.store.file.VERIFY_LIMIT", 2048)
    with pytest.raises(ModelFileError, match=r"'bias'.*digest"):
        load(path)
    load(path, verify=False)


def test_truth_values_are_zero_or_one(tmp_path):
    odd = np.array([0, 2], np.uint8).view(bool)
    save_file(
        {"m": odd}, tmp_path / "a.lin", metadata={"linnaeus": manifests.seal({}, {"m": manifests.fingerprint(odd)})}
    )
    with pytest.raises(ModelFileError, match="'m'"):
        load(tmp_path / "a.lin")


def test_names_and_axes_that_no_file_takes(tmp_path):
    for tensors in ({"__metadata__": np.ones(1)}, {"\ud800": np.ones(1)}, {"w": np.ones((1,) * 9)}):
        with pytest.raises(UsageError):
            save(tmp_path / "a.lin", State({}, tensors))
    assert not list(tmp_path.iterdir())
