"""The command line in this process, and in one of its own where signals or imports matter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from linnaeus.cli.main import main
from linnaeus.cli.options import TWINS

RUN = "from linnaeus.cli.main import program; program()"


class Answer(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of the test's own: no test writes into that of its user."""
    monkeypatch.setenv("LINNAEUS_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """The command line in this process; what it says once about missing kernels is left out."""

    def call(*args: object) -> Answer:
        code = main([str(arg) for arg in args])
        printed = capsys.readouterr()
        return Answer(code, printed.out, printed.err.replace(f"linnaeus: {TWINS}\n", ""))

    return call


@pytest.fixture
def spawn() -> Callable[..., subprocess.Popen[bytes]]:
    """A process of its own; `env` is added to this one's environment."""

    def start(args: Sequence[object], code: str = RUN, **options: object) -> subprocess.Popen[bytes]:
        env = {**os.environ, **options.pop("env", {})}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([sys.executable, "-c", code, *map(str, args)], env=env, **pipes)

    return start
