"""One process of the race: it holds a matrix, fits what it is asked to and says how long that took.

    cd benchmarks && python -m race.worker

Requests and answers are JSON lines. What the libraries print goes nowhere. The clock runs around the call of `fit` and
nothing else; the objective is computed afterwards, in float64, from the coefficients that came back.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from race import certify, matrices
from race.entries import ENTRIES, MODULES, Entry, Task
from race.problems import Problem, lower_bound, objective

PACKAGES = {"liblinear": "liblinear-official", "sklearn": "scikit-learn"}


class Room:
    """The matrix at hand, and which entries have been warmed up on which family."""

    def __init__(self, speak: Any) -> None:
        self.speak = speak
        self.warm: set[tuple[str, str, str]] = set()
        self.path, self.X, self.y = "", None, None

    def load(self, path: str) -> None:
        """Read a matrix, once."""
        if path != self.path:
            self.path, (self.X, self.y) = path, matrices.load(Path(path))

    def hello(self, request: dict[str, Any]) -> dict[str, Any]:
        """Whether a library is here, and its version."""
        library = request["library"]
        importlib.import_module(MODULES[library])
        return {"version": importlib.metadata.version(PACKAGES.get(library, library))}

    def fit(self, request: dict[str, Any]) -> dict[str, Any]:
        """Time one fit, say so, then say what it is worth."""
        self.load(request["matrix"])
        entry, problem = ENTRIES[request["entry"]], Problem(**request["problem"])
        task = Task(self.X, self.y, problem.family, problem.C, request["tol"])
        self._warm_up(entry, problem)
        self.speak({"ready": True})
        wall, cpu = time.perf_counter(), time.process_time()
        model = entry.fit(task)
        seconds, cpu = time.perf_counter() - wall, time.process_time() - cpu
        self.speak({"seconds": seconds, "cpu": cpu})
        coef = entry.coef(model)
        answer = {"objective": objective(problem, self.X, self.y, coef), **entry.remark(model)}
        if request.get("bound"):
            answer["bound"] = lower_bound(problem, self.X, self.y, coef)
        return answer

    def certify(self, request: dict[str, Any]) -> dict[str, Any]:
        """Solve the dual of a loss with a kink until value and bound meet."""
        self.load(request["matrix"])
        self.speak({"ready": True})
        goal = certify.Goal(request["gap"], request["best"], request["limit"])
        found = certify.solve(Problem(**request["problem"]), self.X, self.y, goal)
        self.speak({"seconds": found.seconds, "cpu": found.seconds})
        return {"objective": found.value, "bound": found.bound}

    def _warm_up(self, entry: Entry, problem: Problem) -> None:
        """Imports, compilers and first touches, on a few rows of every class; the same ones for everybody."""
        key = (entry.name, problem.family, problem.data)
        if key in self.warm:
            return
        rows = np.concatenate([np.flatnonzero(self.y == label)[:20] for label in range(int(self.y.max()) + 1)])
        entry.coef(entry.fit(Task(self.X[rows], self.y[rows], problem.family, 1.0, entry.ladder[0])))
        self.warm.add(key)


def main() -> None:
    """Answer until the requests end."""
    warnings.simplefilter("ignore")
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)

    def speak(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=channel, flush=True)

    room = Room(speak)
    answers = {"hello": room.hello, "fit": room.fit, "certify": room.certify}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            speak({"done": True, **answers[request["do"]](request)})
        except Exception as error:  # any failure of a peer is a result, not the end of the race
            speak({"done": True, "error": f"{type(error).__name__}: {error}"[:300]})


if __name__ == "__main__":
    main()
