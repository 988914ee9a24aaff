"""Two threads against one on twenty classes, and the memory of the default multinomial solver.

    python benchmarks/threads.py [--quick] [--cache FOLDER]

The tf-idf matrix of `newsgroups20` from `benchmarks/solvers.py`, C = 1. Each solver in a fresh process, one and two
threads in turns; the coefficients must have the same bits. Memory: how far the peak rises above the level before
`fit`, as a multiple of (matrix + weights), each number of threads in a fresh process. JSON lines.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import linnaeus
from measure import data_folder, say, say_machine
from race import matrices
from race.entries.linnaeus import make
from solvers import CACHE

# name: family, optimizer
SOLVERS = {
    "one-vs-rest logistic": ("l2-logistic", "auto"),
    "one-vs-rest hinge": ("l2-hinge", "auto"),
    "one-vs-rest squared hinge": ("l2-squared-hinge", "auto"),
    "one-vs-rest L1 logistic": ("l1-logistic", "auto"),
    "multinomial": ("multinomial", "auto"),
    "multinomial, L-BFGS": ("multinomial", "lbfgs"),
}
TOL = 1e-4
WANTED_SPEED, WANTED_MEMORY = 1.6, 3.0


def measure_speed(path: Path, solver: str, runs: int) -> dict[str, Any]:
    """One and two threads in turns, after one fit that does not count."""
    X, y = matrices.load(path)
    family, optimizer = SOLVERS[solver]
    times: dict[int, list[float]] = {1: [], 2: []}
    bits = set()
    for turn in range(1 + runs):
        for n in (1, 2):
            with linnaeus.threads(n):
                start = time.perf_counter()
                model = make(family, 1.0, TOL, 20, optimizer).fit(X, y)
                times[n] += [time.perf_counter() - start] if turn else []
            bits.add(hashlib.sha256(model.coef_.tobytes()).hexdigest())
    one, two = statistics.median(times[1]), statistics.median(times[2])
    return {"one_s": one, "two_s": two, "ratio": one / two, "wanted": WANTED_SPEED, "same_bits": len(bits) == 1}


def measure_memory(path: Path, threads: int) -> dict[str, Any]:
    """Peak of the process above its level before `fit`, after a fit on a few rows has imported everything."""
    X, y = matrices.load(path)
    classifier = make("multinomial", 1.0, TOL, 20)
    with linnaeus.threads(threads):
        classifier.fit(X[::30], y[::30])
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        before = _status("VmRSS")
        weights = make("multinomial", 1.0, TOL, 20).fit(X, y).coef_
    raised = _status("VmHWM") - before
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + weights.nbytes
    return {"threads": threads, "raised_mb": raised / 1e6, "matrix_and_weights_mb": size / 1e6, "ratio": raised / size,
            "wanted": WANTED_MEMORY}  # fmt: skip


def _status(name: str) -> int:
    """Not ru_maxrss: Linux lets a new process start with that of the one it came from."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise LookupError(name)


def in_fresh_process(*arguments: object) -> dict[str, Any]:
    """This program again, for one measurement; its failure is a result."""
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"note": done.stderr.strip().splitlines()[-1][:300]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """All measurements, or the one a fresh process is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="each once")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of the matrix")
    parser.add_argument("--speed", choices=SOLVERS, help=argparse.SUPPRESS)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    path = matrices.ensure("newsgroups20", data_folder(), arguments.cache)
    runs = 1 if arguments.quick else 5
    if arguments.speed:
        print(json.dumps(measure_speed(path, arguments.speed, runs)))
        return
    if arguments.memory:
        print(json.dumps(measure_memory(path, arguments.memory)))
        return
    say_machine(linnaeus=linnaeus.__version__)
    same = ["--cache", arguments.cache, *(["--quick"] if arguments.quick else [])]
    for solver in SOLVERS:
        say(what="two threads to one", solver=solver, **in_fresh_process("--speed", solver, *same))
    for n in (1, 2):
        say(what="memory", solver="multinomial", **in_fresh_process("--memory", n, *same))


if __name__ == "__main__":
    main()
