"""How long it takes to start: a bare interpreter, `import linnaeus`, `linnaeus --help`, `linnaeus --version`.

    python benchmarks/startup.py [RUNS]

One JSON line for each: the median of 15 runs, after one that warms the caches. The runs take turns, so that a busy
moment of the machine falls on all of them.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

COMMAND = str(Path(sys.executable).parent / "linnaeus")
STARTS = {
    "bare interpreter": [sys.executable, "-c", ""],
    "import linnaeus": [sys.executable, "-c", "import linnaeus"],
    "linnaeus --help": [COMMAND, "--help"],
    "linnaeus --version": [COMMAND, "--version"],
}


def seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def main(runs: int = 15) -> None:
    times = {name: [seconds(command)] for name, command in STARTS.items()}
    for _ in range(runs):
        for name, command in STARTS.items():
            times[name].append(seconds(command))
    bare = statistics.median(times["bare interpreter"][1:])
    for name, found in times.items():
        median = statistics.median(found[1:])
        line = {"start": name, "runs": runs, "median_ms": round(1e3 * median, 1), "min_ms": round(1e3 * min(found), 1)}
        print(json.dumps({**line, "above_bare_ms": round(1e3 * (median - bare), 1)}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
