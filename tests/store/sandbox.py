"""A room without doors: model files opened in a process of their own, with limits on memory and time.

`open_all` tells what became of each file: loaded, refused with a sentence, or failed. `events` tells what Python's
audit hooks saw while one file was opened: files, sockets, processes, imports, compiled code.

A loader is named "module:function"; it takes a path. It may do more than load, such as predicting with what it loaded.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Outcome:
    """What became of a file: "loaded", "refused" or "failed"; its sentence, or the digest of the state it held.

    `path` is where it lay.
    """

    name: str
    kind: str
    text: str
    path: Path


def open_all(
    files: Iterable[tuple[str, bytes]], sound: Path, loader: str, megabytes: int = 500, seconds: int = 240
) -> list[Outcome]:
    """Open each of these files in one process that may not grow by more than so many megabytes.

    `sound` is opened first, without the limit, so that what is imported at the first use does not count.
    """
    with tempfile.TemporaryDirectory() as folder:
        names = []
        shutil.copy(sound, Path(folder, "sound"))
        for number, (name, content) in enumerate(files):
            Path(folder, str(number)).write_bytes(content)
            names.append(name)
        lines = _run(["open", loader, folder, str(len(names)), str(megabytes)], seconds)
    found = [json.loads(line) for line in lines]
    outcomes = [
        Outcome(name, kind, text, Path(folder, str(number)))
        for number, (name, (kind, text)) in enumerate(zip(names, found[:-1], strict=False))
    ]
    if len(found) != len(names) + 1:
        raise AssertionError(f"the process died over {names[len(found)]!r}")
    peak = int(found[-1])
    assert peak < megabytes * MEGABYTE, f"it took {peak:,} bytes"
    return outcomes


def events(path: Path, loader: str, seconds: int = 60) -> list[tuple[str, str]]:
    """Name and arguments of each audit event while a file is opened, from the first call on."""
    return [tuple(json.loads(line)) for line in _run(["watch", loader, str(path)], seconds)]


def _run(arguments: list[str], seconds: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "LINNAEUS_NUM_THREADS": "2"},
    )
    assert done.returncode in (0, -9, -11) or not done.stderr, done.stderr
    return done.stdout.splitlines()


def _find(loader: str) -> Any:
    module, name = loader.split(":")
    return getattr(importlib.import_module(module), name)


def _memory(name: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise AssertionError(name)


def _digest(result: Any) -> str:
    """The same for the same state; other results count by their kind."""
    if not hasattr(result, "tensors"):
        return type(result).__name__
    digest = hashlib.sha256(json.dumps(result.manifest, sort_keys=True).encode())
    for name, array in sorted(result.tensors.items()):
        digest.update(f"{name} {array.dtype} {array.shape} ".encode() + array.tobytes())
    return digest.hexdigest()


def outcome(load: Any, path: Path) -> tuple[str, str]:
    """What becomes of a file in this process: "loaded", "refused" or "failed", and what there is to say."""
    from linnaeus.errors import LinnaeusError, MachineError

    try:
        return "loaded", _digest(load(path))
    except MachineError as error:
        return "failed", repr(error)  # too little memory is no reason to refuse a file
    except LinnaeusError as error:
        return "refused", str(error)
    except BaseException as error:
        return "failed", repr(error)


def _open(loader: str, folder: str, count: str, megabytes: str) -> None:
    import resource

    load = _find(loader)
    load(Path(folder, "sound"))
    limit = _memory("VmSize") + int(megabytes) * MEGABYTE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for number in range(int(count)):
        print(json.dumps(outcome(load, Path(folder, str(number)))), flush=True)
    print(_memory("VmHWM"))


def _watch(loader: str, path: str) -> None:
    load, seen, watching = _find(loader), [], [True]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if watching[0]:
            seen.append((event, repr(arguments)))

    sys.addaudithook(hook)
    load(path)
    watching[0] = False
    for event in seen:
        print(json.dumps(event))


if __name__ == "__main__":
    {"open": _open, "watch": _watch}[sys.argv[1]](*sys.argv[2:])
