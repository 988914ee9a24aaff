"""Reference optima: the lowest objective anybody reached, what bounds it from below, and who agrees. Cached as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from race.entries import ENTRIES
from race.problems import Problem
from race.turns import Field, Run

CERTAIN = 1e-7
# Tight runs of independent solvers, the cheap ones first. Whoever they are, what certifies a value is the race's own:
# for the smooth losses a bound from the coefficients, for hinge and Crammer-Singer a dual ascent.
REFERENCES: dict[str, tuple[tuple[str, float], ...]] = {
    "l2-logistic": (("liblinear -s 7", 1e-3), ("liblinear -s 0", 1e-8), ("sklearn lbfgs", 1e-8)),
    "l2-hinge": (("linnaeus, 1 thread", 1e-8), ("liblinear -s 3", 1e-4), ("snapml SVM hinge", 1e-8)),
    "l2-squared-hinge": (("liblinear -s 1", 1e-3), ("liblinear -s 2", 1e-8), ("sklearn LinearSVC dual", 1e-7)),
    "l1-logistic": (
        ("linnaeus, 1 thread", 1e-9),
        ("liblinear -s 6", 1e-5),
        ("sklearn liblinear", 1e-7),
        ("skglm SparseLogisticRegression", 1e-8),
    ),
    "multinomial": (("linnaeus, 1 thread", 1e-9), ("sklearn lbfgs", 1e-7), ("cyanure float64, 2 threads", 1e-9)),
    "crammer-singer": (("linnaeus, 1 thread", 1e-7), ("liblinear -s 4", 1e-4)),
}
KINKED = ("l2-hinge", "crammer-singer")


@dataclass(frozen=True)
class Optimum:
    """A value, by whom, and how sure it is: `bound` is below every objective, `seen` is what each reference reached."""

    value: float
    by: str
    bound: float | None = None
    seen: dict[str, float] = field(default_factory=dict)

    @property
    def gap(self) -> float | None:
        """Relative distance to the bound, if there is one."""
        return None if self.bound is None else (self.value - self.bound) / self.value

    @property
    def agreement(self) -> float | None:
        """Relative distance between the two lowest of solvers that share no code."""
        lowest: dict[str, float] = {}
        for name, value in self.seen.items():
            lowest[_kin(name)] = min(value, lowest.get(_kin(name), float("inf")))
        values = sorted(lowest.values())
        return (values[1] - values[0]) / values[0] if len(values) > 1 else None

    @property
    def certified(self) -> str | None:
        """By what, if at all, the optimum is known to a tenth of the tightest target."""
        if self.gap is not None and self.gap <= CERTAIN:
            return "duality gap"
        return "agreement" if self.agreement is not None and self.agreement <= CERTAIN else None

    def with_run(self, name: str, run: Run) -> Optimum:
        """After one more run, which may be lower or bound better."""
        seen = self.seen | {name: min(run.objective, self.seen.get(name, float("inf")))}
        bound = self.bound if run.bound is None else max(run.bound, self.bound or float("-inf"))
        value, by = min((self.value, self.by), (run.objective, name))
        return replace(self, value=value, by=by, bound=bound, seen=seen)


def _kin(name: str) -> str:
    """Whose code it is: scikit-learn carries LIBLINEAR, and agreeing with oneself proves nothing."""
    carried = name.startswith("sklearn") and ("liblinear" in name or "LinearSVC" in name)
    return "liblinear" if carried else name.replace(",", " ").split()[0]


class Optima:
    """The cache, one JSON object from the key of a problem; written after every change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known = self._read()

    def _read(self) -> dict[str, Optimum]:
        known = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
        names = ("value", "by", "bound", "seen")
        return {key: Optimum(**{name: row[name] for name in names}) for key, row in known.items()}

    def get(self, problem: Problem) -> Optimum | None:
        """What is known about a problem."""
        return self.known.get(problem.key)

    def put(self, problem: Problem, optimum: Optimum) -> None:
        """Remember, on disk; what another run has written there meanwhile stays."""
        self.known = self._read() | {problem.key: optimum}
        rows = {key: asdict(o) | {"gap": o.gap, "certified": o.certified} for key, o in self.known.items()}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        fresh.replace(self.path)

    def see(self, problem: Problem, name: str, run: Run) -> None:
        """A run of the race: remembered only if it went lower."""
        known = self.known.get(problem.key)
        if run.ok and (known is None or run.objective < known.value):
            self.put(problem, (known or Optimum(float("inf"), "")).with_run(name, run))

    def find(self, problem: Problem, races: Field, limit: float) -> Iterator[tuple[str, Run]]:
        """Run the references of a problem, as many as it takes to be certain."""
        optimum = self.known.get(problem.key) or Optimum(float("inf"), "")
        for name, run in _references(problem, races, limit):
            solved = run(optimum.value)
            yield name, solved
            if solved.ok:
                optimum = optimum.with_run(name, solved)
                self.put(problem, optimum)
            if optimum.certified:
                return


def _references(problem: Problem, races: Field, limit: float) -> Iterator[tuple[str, Callable[[float], Run]]]:
    """Names and runs; a run is told the lowest value so far."""
    for name, tol in REFERENCES[problem.family]:
        entry = ENTRIES[name]
        yield f"{name} at {tol:g}", lambda _, entry=entry, tol=tol: races.fit(entry, problem, tol, limit, bound=True)
        if problem.family in KINKED and name == REFERENCES[problem.family][0][0]:
            yield "dual ascent of the race", lambda best: races.certify(problem, (CERTAIN / 2.0, best), limit)


def describe(optimum: Optimum) -> dict[str, Any]:
    """For a JSON line."""
    return {"value": optimum.value, "by": optimum.by, "certified": optimum.certified, "gap": optimum.gap}
