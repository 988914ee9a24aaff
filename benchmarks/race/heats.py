"""One problem of the race: all climb their ladder of tolerances once, then those in front take turns for the clock."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field

from race.entries import OURS, Entry
from race.optima import Optima
from race.problems import Problem
from race.turns import Field, Run

STUCK = 7  # steps, three and a half powers of ten, at the very same objective


@dataclass(frozen=True)
class Rules:
    """How long, how often, how close: see the options of `benchmarks/solvers.py`."""

    targets: tuple[float, ...]
    limit: float = 30.0
    runs: int = 3
    final: int = 4
    behind: float = 4.0  # a peer this many times slower than the best one so far is left where it is
    halvings: int = 2
    near: float = 1.5  # contenders: within this factor of the best peer's first time


@dataclass
class Record:
    """All runs of one entry at one tolerance; those of the clock count once there are any."""

    entry: Entry
    tol: float
    first: Run
    again: list[Run] = field(default_factory=list)

    @property
    def runs(self) -> list[Run]:
        """The runs that count."""
        return self.again or [self.first]

    @property
    def seconds(self) -> float:
        """Median."""
        return statistics.median(run.seconds for run in self.runs)

    def gap(self, optimum: float) -> float:
        """Relative, of the median objective: a solver that is not deterministic may miss now and then."""
        return statistics.median(run.objective for run in self.runs) / optimum - 1.0

    @property
    def ours(self) -> bool:
        """Whether it is Linnaeus."""
        return self.entry.library == OURS


class Heat:
    """The records of one problem."""

    def __init__(self, problem: Problem, optima: Optima, races: Field, rules: Rules) -> None:
        self.problem, self.optima, self.races, self.rules = problem, optima, races, rules
        self.records: list[Record] = []

    @property
    def optimum(self) -> float:
        """As known by now."""
        found = self.optima.get(self.problem)
        return found.value if found else float("inf")

    def reached(self, target: float) -> list[Record]:
        """Who got there, fastest first."""
        there = [r for r in self.records if all(run.ok for run in r.runs) and r.gap(self.optimum) <= target]
        return sorted(there, key=lambda record: record.seconds)

    def best_peer(self, target: float) -> Record | None:
        """The peer to beat, whatever its threads."""
        return next((record for record in self.reached(target) if not record.ours), None)

    def best_of(self, entry_name: str, target: float) -> Record | None:
        """The best setting of one entry."""
        return next((record for record in self.reached(target) if record.entry.name == entry_name), None)

    def scout(self, entry: Entry) -> Iterator[tuple[Record, str | None]]:
        """Climb from loose to tight, one step beyond the tightest target; the note says why an entry went no further.

        One beyond, because a solver that is not deterministic (LIBLINEAR goes on drawing) may have been lucky.
        """
        tightest, reached = min(self.rules.targets), 0
        for tol in entry.ladder:
            limit = self._limit(entry)
            run = self.races.fit(entry, self.problem, tol, limit)
            self.optima.see(self.problem, entry.name, run)
            record = Record(entry, tol, run)
            self.records.append(record)
            reached += run.ok and record.gap(self.optimum) <= tightest
            stuck = sum(r.entry is entry and r.first.objective == run.objective for r in self.records) > STUCK
            if not run.ok or reached == 2 or run.seconds > limit or stuck:
                yield record, None if reached else run.error or ("moves no more" if stuck else "left behind")
                return
            yield record, "tightest setting" if tol == entry.ladder[-1] and not reached else None

    def _limit(self, entry: Entry) -> float:
        best = self.best_peer(min(self.rules.targets))
        if best is None or entry.library == OURS:
            return self.rules.limit
        return min(self.rules.limit, max(2.0, self.rules.behind * best.seconds))

    def refine(self, target: float) -> Iterator[Record]:
        """Between the loosest step that reached the target and the one before, where those in front may be faster."""
        for name in {record.entry.name: None for record in self.contenders(target)}:
            for _ in range(self.rules.halvings):
                mine = [record for record in self.records if record.entry.name == name]
                there = [record for record in self.reached(target) if record in mine]
                enough = max(record.tol for record in there)
                short = [record.tol for record in mine if record.tol > enough]
                if not short:
                    break
                tol = float(f"{(enough * min(short)) ** 0.5:.2g}")
                run = self.races.fit(there[0].entry, self.problem, tol, 2.0 * self.rules.limit)
                self.optima.see(self.problem, name, run)
                self.records.append(Record(there[0].entry, tol, run))
                yield self.records[-1]

    def clock(self, target: float) -> None:
        """Those in front take turns, until all who lead are ones that did; then they run some more."""
        for _ in range(6):
            self._turns([record for record in self.contenders(target) if not record.again], self.rules.runs)
            if all(record.again for record in self.leaders(target)):
                break
        self._turns(self.leaders(target), self.rules.final)

    def leaders(self, target: float) -> list[Record]:
        """The best peer, and the best setting of Linnaeus for each number of threads."""
        names = {record.entry.name: None for record in self.records if record.ours}
        found = [self.best_peer(target), *(self.best_of(name, target) for name in names)]
        return [record for record in found if record is not None]

    def contenders(self, target: float) -> list[Record]:
        """Linnaeus and the peers near the best one; of each entry its two fastest settings."""
        best = self.best_peer(target)
        limit = self.rules.near * best.seconds if best else float("inf")
        chosen: list[Record] = []
        for record in self.reached(target):
            same = [other for other in chosen if other.entry.name == record.entry.name]
            if len(same) < 2 and (record.seconds <= limit or (record.ours and not same)):
                chosen.append(record)
        return chosen

    def _turns(self, records: list[Record], runs: int) -> None:
        for _ in range(runs):
            for record in records:
                run = self.races.fit(record.entry, self.problem, record.tol, 2.0 * self.rules.limit)
                self.optima.see(self.problem, record.entry.name, run)
                record.again.append(run)
