"""Processes that take turns: one for each library, asked for one fit at a time, stopped when it takes too long."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from race.entries import OURS, Entry
from race.problems import Problem

FOLDER = Path(__file__).resolve().parents[1]
PATIENCE = 600.0  # seconds for what is not timed: reading a matrix, compiling, computing an objective


@dataclass(frozen=True)
class Run:
    """One fit: the answer of a worker, or the reason there is none."""

    seconds: float
    objective: float
    cpu: float = 0.0
    bound: float | None = None
    conversion: float | None = None
    error: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it came to an end."""
        return self.error is None


class Worker:
    """A process that answers; a new one is started after one had to be stopped."""

    def __init__(self, python: str, clock: str) -> None:
        self.python, self.clock = python, clock
        self.process: subprocess.Popen[str] | None = None
        self.lines: queue.Queue[str] = queue.Queue()

    def ask(self, request: dict[str, Any], limit: float) -> dict[str, Any]:
        """Everything it says up to `done`, merged; `limit` runs from `ready` to the time that was measured."""
        process = self._start()
        assert process.stdin is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer: dict[str, Any] = {}
        while "done" not in answer:
            timed = "ready" in answer and "seconds" not in answer
            line = self._hear(limit if timed else PATIENCE)
            if line is None:
                self.stop()
                return {**answer, "error": f"stopped after {limit:g} s"}
            if not line:
                self.stop()
                return {**answer, "error": "the process ended"}
            answer |= json.loads(line)
        return answer

    def _hear(self, limit: float) -> str | None:
        """The next line, "" when the process has ended, None when it has used up its time."""
        end = self._now() + limit
        while (left := end - self._now()) > 0.0:
            with suppress(queue.Empty):
                return self.lines.get(timeout=min(left, 1.0))
        return None

    def _now(self) -> float:
        """Seconds, of the wall or of the process (user and system, fields 14 and 15 of its line in /proc)."""
        if self.clock == "wall" or self.process is None:
            return time.monotonic()
        path = Path(f"/proc/{self.process.pid}/stat")
        fields = path.read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _start(self) -> subprocess.Popen[str]:
        if self.process is None:
            self.lines = queue.Queue()
            # One BLAS thread for all: SciPy's and NumPy's OpenBLAS lose by more of them on these shapes.
            self.process = subprocess.Popen(
                [self.python, "-m", "race.worker"], cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                text=True, stderr=subprocess.DEVNULL, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )  # fmt: skip
            threading.Thread(target=_pump, args=(self.process, self.lines), daemon=True).start()
        return self.process

    def stop(self) -> None:
        """End the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def _pump(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")


class Field:
    """All who take part, each library in its own process, and the matrices they read."""

    def __init__(self, ours: str, peers: str, matrices: dict[str, Path], clock: str = "wall") -> None:
        self.pythons = {OURS: ours}
        self.peers, self.matrices, self.clock = peers, matrices, clock
        self.workers: dict[str, Worker] = {}

    def hello(self, library: str) -> dict[str, Any]:
        """Version, or error."""
        return self._worker(library).ask({"do": "hello", "library": library}, PATIENCE)

    def fit(self, entry: Entry, problem: Problem, tol: float, limit: float, bound: bool = False) -> Run:
        """One fit of one entry at one tolerance."""
        request = {"do": "fit", "entry": entry.name, "tol": tol, "bound": bound, **self._about(problem)}
        run = _run(self._worker(entry.library).ask(request, limit), limit)
        return replace(run, seconds=run.cpu) if self.clock == "cpu" and run.ok else run

    def certify(self, problem: Problem, goal: tuple[float, float], limit: float) -> Run:
        """The dual of a loss with a kink, solved for its own sake. Goal: the gap wanted, the lowest value known."""
        request = {"do": "certify", "gap": goal[0], "best": min(goal[1], 1e300), "limit": limit, **self._about(problem)}
        return _run(self._worker("skglm").ask(request, limit + PATIENCE), limit)

    def close(self) -> None:
        """End all processes."""
        for worker in self.workers.values():
            worker.stop()

    def _about(self, problem: Problem) -> dict[str, Any]:
        return {"problem": asdict(problem), "matrix": str(self.matrices[problem.data])}

    def _worker(self, library: str) -> Worker:
        if library not in self.workers:
            self.workers[library] = Worker(self.pythons.get(library, self.peers), self.clock)
        return self.workers[library]


def _run(answer: dict[str, Any], limit: float) -> Run:
    known = {key: answer[key] for key in ("cpu", "bound", "conversion", "error") if key in answer}
    return Run(seconds=answer.get("seconds", limit), objective=answer.get("objective", float("inf")), **known)
