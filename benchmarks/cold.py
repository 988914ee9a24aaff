"""How long a cold process takes to its first prediction: `linnaeus predict MODEL`, one text on standard input.

    python benchmarks/cold.py [--sets banking77 imdb] [--recipes svm default] [--runs 11]

For each model two JSON lines: the whole command, and its phases in a process of their own, in milliseconds: what is
imported (NumPy, Arrow, click, Linnaeus), reading and checking the file, and the answer. The first run of each warms the
system's caches of files and does not count. Sources without byte code are compiled at every start: where they lie in a
checkout and PYTHONDONTWRITEBYTECODE is set, run `python -m compileall src` first, as an installation does.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from measure import say, say_machine
from trained import model_file

COMMAND = str(Path(sys.executable).parent / "linnaeus")
TEXT = b"where is my new card\n"
PHASES = """
import json, sys, time
marks = [("start", time.perf_counter())]
mark = lambda name: marks.append((name, time.perf_counter()))
import numpy; mark("numpy")
import pyarrow; mark("pyarrow")
import click; mark("click")
import linnaeus.cli.main, linnaeus.cli.predict, linnaeus.cli.writers, linnaeus.tasks.classify.answers
import linnaeus.model.file as file; mark("linnaeus")
state = linnaeus.store.load(sys.argv[1]); mark("read")
model = file.model_of(state); mark("check")
model.quick.scores(["where is my new card"]); mark("answer")
print(json.dumps({name: 1e3 * (after - before) for (_, before), (name, after) in zip(marks, marks[1:])}))
"""


def run(command: list[str]) -> tuple[float, float, bytes]:
    """Milliseconds by the clock and of the processor, and what it said."""
    before, started = os.times(), time.perf_counter()
    said = subprocess.run(command, input=TEXT, stdout=subprocess.PIPE, check=True).stdout
    wall, after = time.perf_counter() - started, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return 1e3 * wall, 1e3 * used, said


def measure(model: str, runs: int) -> tuple[dict[str, float], dict[str, float]]:
    """The whole command, and its phases."""
    whole: list[tuple[float, float]] = []
    phases: list[dict[str, Any]] = []
    for _ in range(runs + 1):
        whole.append(run([COMMAND, "predict", model])[:2])
        phases.append(json.loads(run([sys.executable, "-c", PHASES, model])[2]))
    walls, used = zip(*whole[1:], strict=True)
    total = {"median_ms": statistics.median(walls), "min_ms": min(walls), "cpu_ms": statistics.median(used)}
    return total, {name: statistics.median(phase[name] for phase in phases[1:]) for name in phases[0]}


def main() -> None:
    """Every model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["banking77", "imdb"])
    parser.add_argument("--recipes", nargs="+", default=["svm", "default"])
    parser.add_argument("--runs", type=int, default=11)
    given = parser.parse_args()
    say_machine()
    for data in given.sets:
        for recipe in given.recipes:
            path = model_file(data, recipe)
            total, phases = measure(str(path), given.runs)
            say(what="cold predict", data=data, recipe=recipe, mb=path.stat().st_size / 1e6, **total)
            say(what="phases", data=data, recipe=recipe, **phases)


if __name__ == "__main__":
    main()
