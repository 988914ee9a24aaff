"""A killed `linnaeus train` leaves the old model, the new one or none: never a wrong one."""

from __future__ import annotations

import csv
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from linnaeus import Model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

KILLS = 200
SECONDS = 240.0
"""After so long it is enough, on a machine that is busy with other things."""


def _data(path: Path) -> Path:
    trees, parts = ["oak", "elm", "ash", "fir", "yew", "bay"], ["leaf", "root", "bark"]
    rows = [(f"the {tree} {part} number {i}", part) for i in range(15) for tree in trees for part in parts]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    return path


def _train(data: Path, model: Path, seed: int) -> list[str]:
    program = "import sys; from linnaeus.cli.main import main; sys.exit(main(sys.argv[1:]))"
    recipe = ["--recipe", "fast", "--seed", str(seed), "--threads", "1"]
    return [sys.executable, "-c", program, "train", str(data), "-o", str(model), "--force", "--quiet", *recipe]


def _killed(command: list[str], folder: Path, rng: random.Random, took: float) -> bool:
    """Start it, and kill it at a random moment; half of them while the file is written. Whether it was at work still.

    While it trains nothing is in the folder that was not there before: a new name says that writing has begun.
    """
    before, started = set(folder.iterdir()), time.monotonic()
    writing, after = rng.random() < 0.5, rng.random() * 1.5 * took
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None:
        if writing and set(folder.iterdir()) - before:
            time.sleep(rng.random() * 0.01)
            break
        if not writing and time.monotonic() - started > after:
            break
        time.sleep(0.0005 if writing else 0.01)
    child.kill()
    return child.wait() != 0


def _leave(folder: Path, old: bytes | None) -> Path:
    """A folder with this model, or with none, and nothing else in it."""
    for path in folder.iterdir():
        path.unlink()
    if old is not None:
        (folder / "m.lin").write_bytes(old)
    return folder / "m.lin"


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed otherwise there")
def test_killed_trainings_leave_the_old_model_the_new_one_or_none(tmp_path: Path) -> None:
    data, began, whole, took = _data(tmp_path / "trees.csv"), time.monotonic(), {}, 0.0
    for seed in (1, 2):
        started = time.monotonic()
        subprocess.run(_train(data, tmp_path / f"{seed}.lin", seed), check=True, stdout=subprocess.DEVNULL)
        took = time.monotonic() - started
        whole[seed] = (tmp_path / f"{seed}.lin").read_bytes()
    assert whole[1] != whole[2]

    def worker(number: int) -> list[tuple[str, bool, int]]:
        """Train over a model of the other seed, or over none, and see what is there: which model, killed, strays."""
        rng, folder, seen = random.Random(number), tmp_path / f"folder{number}", []
        folder.mkdir()
        while sum(one[1] for one in seen) < KILLS // 2 and time.monotonic() - began < SECONDS:
            seed, old = 1 + len(seen) % 2, None if len(seen) % 4 == 0 else whole[2 - len(seen) % 2]
            model = _leave(folder, old)
            killed = _killed(_train(data, model, seed), folder, rng, took)
            found = model.read_bytes() if model.exists() else None
            assert found in (old, whole[seed]), "the model is neither the old one nor the new one"
            assert killed or found == whole[seed]
            if found is not None:
                Model.load(model, verify=True).predict(["the oak leaf"])
            strays = [path.name for path in folder.iterdir() if path != model]
            assert all(name.startswith(".m.lin.") and name.endswith(".tmp") for name in strays), strays
            seen.append(("new" if found == whole[seed] else "none" if found is None else "old", killed, len(strays)))
        return seen

    with ThreadPoolExecutor(2) as pool:
        seen = [one for part in pool.map(worker, range(2)) for one in part]
    kills = [one for one in seen if one[1]]
    assert len(kills) >= KILLS or time.monotonic() - began > SECONDS
    assert len(kills) >= 50
    assert {kind for kind, _, _ in kills} == {"old", "new", "none"}
    assert any(strays for _, _, strays in kills), "none was killed while it wrote"
