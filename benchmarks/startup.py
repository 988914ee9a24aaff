"""How long it takes to start: a bare interpreter, `import linnaeus`, `linnaeus --help`, `--version`, one prediction.

    python benchmarks/startup.py [RUNS]

One JSON line for each: the median of 15 runs, after one that warms the caches. The runs take turns, so that a busy
moment of the machine falls on all of them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

MODEL = str(Path(__file__).resolve().parents[1] / "tests" / "golden" / "format-1-classifier.lin")
COMMAND = str(Path(sys.executable).parent / "linnaeus")
STARTS = {
    "bare interpreter": [sys.executable, "-c", ""],
    "import linnaeus": [sys.executable, "-c", "import linnaeus"],
    "linnaeus --help": [COMMAND, "--help"],
    "linnaeus --version": [COMMAND, "--version"],
    "linnaeus predict, one text": [COMMAND, "predict", MODEL],
}


def seconds(command: list[str]) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""
    before, started = os.times(), time.perf_counter()
    subprocess.run(command, input=b"green apple\n", stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - started, used


def main(runs: int = 15) -> None:
    times = {name: [seconds(command)] for name, command in STARTS.items()}
    for _ in range(runs):
        for name, command in STARTS.items():
            times[name].append(seconds(command))
    bare = statistics.median(wall for wall, _ in times["bare interpreter"][1:])
    for name, found in times.items():
        median = statistics.median(wall for wall, _ in found[1:])
        least = min(wall for wall, _ in found)
        line = {"start": name, "runs": runs, "median_ms": round(1e3 * median, 1), "min_ms": round(1e3 * least, 1)}
        cpu = round(1e3 * statistics.median(used for _, used in found[1:]))
        print(json.dumps({**line, "above_bare_ms": round(1e3 * (median - bare), 1), "cpu_ms": cpu}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
