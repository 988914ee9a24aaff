"""Damaged files through every reader: rows or one sentence, in little time and memory, and never a crash."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from tests.data.damaged import READERS, Damage, files
from tests.hostile import MEGABYTE, assert_harmless, try_all

from linnaeus.errors import LinnaeusError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured through /proc")


def warm(folder: Path) -> None:
    """Read a sound file with each reader, so that workers have all they need."""
    for reader, found in files().items():
        for name, data in found.items():
            (folder / name).write_bytes(data)
            with nullcontext() if name not in ("a.csv.xz", "u16.csv") else pytest.raises(LinnaeusError):
                READERS[reader](folder / name, {})


def damage(folder: Path, seeds: range) -> None:
    warm(folder)
    outcomes = try_all([Damage(seed) for seed in seeds], lambda one: one.read(folder))
    assert_harmless(outcomes, lambda one: 200 * MEGABYTE + 20 * one.size)
    assert {one.kind for one in outcomes} == {"done", "refused"}


def test_some_damaged_files_are_harmless(tmp_path):
    damage(tmp_path, range(150))


@pytest.mark.slow
def test_2000_damaged_files_are_harmless(tmp_path):
    damage(tmp_path, range(1000, 3000))
