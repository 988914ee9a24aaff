"""The solver race: time to bring the objective within 1e-3 and 1e-6 of the optimum, Linnaeus against its peers.

    python benchmarks/solvers.py [--quick] [--problem NAME] [--c 1] [--target 1e-6] [--peers liblinear,snapml]
    python benchmarks/solvers.py --summarize LINES.jsonl

Fixed tf-idf matrices of `imdb` (two classes) and `newsgroups20` (twenty), scikit-learn's own float64 CSR as input to
all; no intercept anywhere. Each entry climbs its ladder of tolerances in the process of its library, under a time
limit; the ones in front then take turns, and the time of an entry is the least median among the settings that reach
the target. The clock runs around the whole call of `fit`, conversion included; the objective is computed afterwards in
float64 from the coefficients. Reference optima are found once, certified, and cached. Prints JSON lines on stdout, the
ratios last, and the table on stderr. Peers: `pip install --group race`; those that are missing are named and skipped.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from measure import data_folder, say, say_machine
from race import matrices, table
from race.entries import ENTRIES, MODULES, OURS, Entry
from race.heats import Heat, Record, Rules
from race.optima import Optima, describe
from race.problems import PROBLEMS, STRENGTHS, TARGETS, Problem
from race.turns import Field

# On a loaded machine the race still runs, but its times say little: everybody is told.
BUSY = 0.5
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "linnaeus" / "race"


def chosen_problems(arguments: argparse.Namespace) -> list[Problem]:
    """By a part of the name, such as `imdb`, `hinge` or `newsgroups20 multinomial`, and by C."""
    strengths = arguments.c or ([1.0] if arguments.quick else STRENGTHS)
    wanted = arguments.problem or [""]
    return [p for p in PROBLEMS if p.C in strengths and any(word in p.key for word in wanted)]


def chosen_entries(arguments: argparse.Namespace, races: Field) -> list[Entry]:
    """Those whose library is there; each library is named with its version, or as missing."""
    words = arguments.peers.split(",") if arguments.peers else [""]
    entries = [e for e in ENTRIES.values() if e.library == OURS or any(word in e.name for word in words)]
    if arguments.peers_only:
        entries = [e for e in entries if e.library != OURS]
    here = set()
    for library in [name for name in MODULES if any(e.library == name for e in entries)]:
        answer = races.hello(library)
        say(what="library", library=library, version=answer.get("version"), note=answer.get("error"))
        here |= set() if "error" in answer else {library}
    return [e for e in entries if e.library in here]


def find_optimum(problem: Problem, optima: Optima, races: Field, limit: float) -> None:
    """Once per problem and cache; a line for each reference and one for the result."""
    known = optima.get(problem)
    if known is None or not known.certified:
        for name, run in optima.find(problem, races, limit):
            say(what="reference", problem=problem.key, who=name, seconds=run.seconds, value=f"{run.objective:.12g}",
                note=run.error)  # fmt: skip
    if (found := optima.get(problem)) is not None:
        say(what="optimum", problem=problem.key, **describe(found) | {"value": f"{found.value:.12g}"})


def run_heat(heat: Heat, entries: list[Entry]) -> list[dict[str, Any]]:
    """All of one problem; its ratios are said and returned."""
    for entry in entries:
        if heat.problem.family in entry.families:
            for record, note in heat.scout(entry):
                say_record("first", heat, record, note)
    rows = []
    for target in heat.rules.targets:
        for record in heat.refine(target):
            say_record("refined", heat, record)
        heat.clock(target)
        for record in heat.contenders(target):
            say_record("clock", heat, record, target=target)
        rows.append(ratio(heat, target))
        say(**rows[-1])
    return rows


def say_record(what: str, heat: Heat, record: Record, note: str | None = None, **extra: Any) -> None:
    """One line of an entry at a tolerance."""
    failed = record.first.error is not None
    conversion = [run.conversion for run in record.runs if run.conversion is not None]
    say(what=what, problem=heat.problem.key, who=record.entry.name, threads=record.entry.threads, tol=record.tol,
        seconds=record.seconds, cpu=statistics.median(run.cpu for run in record.runs),
        conversion=statistics.median(conversion) if conversion else None, runs=len(record.runs),
        best=min(run.seconds for run in record.runs), gap=None if failed else record.gap(heat.optimum), note=note,
        **extra)  # fmt: skip


def ratio(heat: Heat, target: float) -> dict[str, Any]:
    """The line of the table: the best peer, Linnaeus on one and two threads, and whether that is what is wanted."""
    peer = heat.best_peer(target)
    row: dict[str, Any] = {
        "what": "ratio", "problem": f"{heat.problem.data} {heat.problem.family}", "C": heat.problem.C, "target": target,
        "peer": f"{peer.entry.name} at {peer.tol:g}" if peer else None, "peer_s": peer.seconds if peer else None,
    }  # fmt: skip
    if (
        heat.races.clock == "wall"
        and peer
        and (conversion := [run.conversion for run in peer.runs if run.conversion is not None])
    ):
        row["peer_without_conversion_s"] = peer.seconds - statistics.median(conversion)
    for n, wanted in table.WANTED.items():
        name = next(e.name for e in ENTRIES.values() if e.library == OURS and e.threads == n)
        mine = heat.best_of(name, target)
        row[f"linnaeus_{n}_s"] = mine.seconds if mine else None
        row[f"ratio_{n}"] = mine.seconds / peer.seconds if mine and peer else None
        row[f"pass_{n}"] = bool(mine and (peer is None or mine.seconds / peer.seconds <= wanted))
    return row


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="C = 1 and one turn for the clock")
    add("--problem", action="append", help="a part of a problem's name; may be repeated")
    add("--c", type=float, action="append", choices=STRENGTHS)
    add("--target", type=float, action="append", choices=TARGETS)
    add("--peers", help="libraries or entries, by parts of their names, with commas between")
    add("--peers-only", action="store_true", help="without Linnaeus")
    add("--optima-only", action="store_true", help="find and cache the reference optima, then stop")
    add("--optima-limit", type=float, default=300.0, help="seconds for a reference run")
    add("--limit", type=float, default=30.0, help="seconds for a run")
    add("--clock", choices=("wall", "cpu"), default="wall", help="cpu: for one thread on a busy machine")
    add("--runs", type=int, default=3, help="turns for the clock; the best peer and Linnaeus get four more")
    add("--cache", type=Path, default=CACHE, help="folder of the matrices and optima")
    add("--peer-python", default=sys.executable, help="an interpreter that has the peers")
    add("--summarize", type=Path, help="only print the table of a run's JSON lines")
    return parser.parse_args()


def main() -> None:
    """Run the problems that were chosen."""
    arguments = parse()
    if arguments.summarize:
        print(table.markdown(table.ratios(arguments.summarize.read_text(encoding="utf-8").splitlines())))
        return
    # A race that is asked to end takes its processes along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    say_machine()
    if hasattr(os, "getloadavg") and os.getloadavg()[0] > BUSY:
        say(what="warning", note=f"the machine is busy (load {os.getloadavg()[0]:.1f}): wall times mean little")
    problems = chosen_problems(arguments)
    paths = {name: matrices.ensure(name, data_folder(), arguments.cache) for name in {p.data for p in problems}}
    races = Field(sys.executable, arguments.peer_python, paths, arguments.clock)
    optima = Optima(arguments.cache / "optima.json")
    once = arguments.quick
    rules = Rules(tuple(arguments.target or TARGETS), arguments.limit, 1 if once else arguments.runs, 0 if once else 4)
    start, rows = time.perf_counter(), []
    try:
        entries = [] if arguments.optima_only else chosen_entries(arguments, races)
        for problem in problems:
            find_optimum(problem, optima, races, arguments.optima_limit)
            if not arguments.optima_only:
                rows += run_heat(Heat(problem, optima, races, rules), entries)
    finally:
        races.close()
    say(what="end", seconds=time.perf_counter() - start)
    if rows:
        print(table.markdown(rows), file=sys.stderr)


if __name__ == "__main__":
    main()
