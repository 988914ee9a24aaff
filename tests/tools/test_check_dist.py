from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

dist = pytest.importorskip("tools.check_dist", reason="the tests run outside the source tree")


def _write(folder: Path, sdist: list[str], wheel: list[str]) -> None:
    with tarfile.open(folder / "a-1.tar.gz", "w:gz") as archive:
        for name in sdist:
            archive.addfile(tarfile.TarInfo(f"a-1/{name}"), io.BytesIO())
    with zipfile.ZipFile(folder / "a-1.whl", "w") as archive:
        for name in wheel:
            archive.writestr(name, "")


WHEEL = [
    *(n for n in dist.WHEEL_NEEDS if n[-1] not in "./"),
    "linnaeus/kernels/_native.abi.so",
    "linnaeus/datasets/a.csv",
]


def test_complete_distributions_pass(tmp_path: Path) -> None:
    _write(tmp_path, [*dist.SDIST_NEEDS, "src/linnaeus/kernels/native/word_cache.hpp"], WHEEL)
    assert dist.main([str(tmp_path)]) == 0


def test_what_is_missing_or_too_much_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(tmp_path, [*dist.SDIST_NEEDS, ".venv/bin/python"], [*WHEEL[1:], "linnaeus/kernels/native/a.cpp"])
    assert dist.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "a-1.tar.gz: .venv/bin/python does not belong there",
        "a-1.whl: linnaeus/__init__.py is missing",
        "a-1.whl: linnaeus/kernels/native/a.cpp does not belong there",
    ]
