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

from linnaeus import Classifier

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

KILLS = 200
SECONDS = 170.0
"""After so long it is enough, on a machine that is busy with other things."""


def _data(path: Path) -> Path:
    trees, parts = ["oak", "elm", "ash", "fir", "yew", "bay"], ["leaf", "root", "bark"]
    rows = [(f"the {tree} {part} number {i}", part) for i in range(15) for tree in trees for part in parts]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    return path


def _train(data: Path, model: Path, seed: int) -> list[str]:
    program = "import sys; from linnaeus.cli.main import main; sys.exit(main(sys.argv[1:]))"
    recipe = ["--recipe", "svm", "--seed", str(seed), "--threads", "1"]
    return [sys.executable, "-c", program, "train", str(data), "-o", str(model), "--force", "--quiet", *recipe]


def _killed(command: list[str], after: float) -> bool:
    """Start it, and kill it after so many seconds; whether it was still at work."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child.wait(after)
    except subprocess.TimeoutExpired:
        child.kill()
    return child.wait() != 0


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed otherwise there")
def test_killed_trainings_leave_the_old_model_the_new_one_or_none(tmp_path: Path) -> None:
    data, began = _data(tmp_path / "trees.csv"), time.monotonic()
    whole, took = {}, 0.0
    for seed in (1, 2):
        started = time.monotonic()
        subprocess.run(_train(data, tmp_path / f"{seed}.lin", seed), check=True, stdout=subprocess.DEVNULL)
        took = time.monotonic() - started
        whole[seed] = (tmp_path / f"{seed}.lin").read_bytes()
    assert whole[1] != whole[2]

    def worker(number: int) -> list[str]:
        """Train with the other seed over the model of the last one, or over none, and see what is there."""
        rng, folder, seen = random.Random(number), tmp_path / f"folder{number}", []
        folder.mkdir()
        model, old = folder / "m.lin", None
        for round_ in range(KILLS // 2):
            if time.monotonic() - began > SECONDS:
                break
            seed = 1 + round_ % 2
            if round_ % 5 == 0:
                model.unlink(missing_ok=True)
                old = None
            # Half of the kills fall into the last part of the run, where the file is written.
            share = rng.uniform(0.75, 1.1) if rng.random() < 0.5 else rng.random()
            killed = _killed(_train(data, model, seed), share * took)
            found = model.read_bytes() if model.exists() else None
            assert found in (old, whole[seed]), "the model is neither the old one nor the new one"
            assert killed or found == whole[seed]
            if found is not None:
                Classifier.load(model, verify=True).predict(["the oak leaf"])
            seen.append("none" if found is None else "new" if found == whole[seed] else "old")
            old = found
            strays = [path for path in folder.iterdir() if path != model]
            assert all(path.name.startswith(".m.lin.") and path.suffix == ".tmp" for path in strays), strays
            for path in strays:
                path.unlink()
        return seen

    with ThreadPoolExecutor(2) as pool:
        seen = [kind for kinds in pool.map(worker, range(2)) for kind in kinds]
    assert len(seen) >= 50
    assert {"new", "none"} <= set(seen)
