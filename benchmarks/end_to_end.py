"""From files on disk to a saved model and its test accuracy, process start included, against the peers.

    python benchmarks/end_to_end.py [--sets imdb,swda] [--recipes words,fast,default] [--peers "VW 1 pass,LinearSVC"]
                                    [--peer-python PYTHON] [--runs 3] [--slow SECONDS]

Everybody reads the same CSV files (text, label; written before the clock starts) and uses two threads. fastText and
Vowpal Wabbit get their own formats, shuffled, by a Python loop that counts, because their users need it too. For each
peer the line gives the seconds, the accuracy, and the time of the quickest recipe that reaches that accuracy as a part
of the peer's; the last line is that of the fastest peer: a third is wanted there (0.7 on small sets). Medians of
several runs, in turns, after one that fills caches and is not counted. Whoever once takes longer than `--slow` seconds
does not run again. Prints JSON lines.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from measure import data_folder, say, say_machine

SETS = {
    "imdb": 1 / 3,
    "newsgroups20": 1 / 3,
    "swda": 1 / 3,
    "debian_section": 1 / 3,
    "banking77": 0.7,
    "dbpedia_14k": 0.7,
}
"""The part of the fastest peer's time that is allowed."""
PEERS = ("VW 1 pass", "VW 5 passes", "fastText paper", "fastText tuned", "LinearSVC", "MultinomialNB", "LIBLINEAR -s 4")
LONGEST = 300.0


def prepare(name: str, folder: Path) -> tuple[Path, Path]:
    """The two parts of a set as CSV."""
    found = []
    for part in ("train", "test"):
        table = pq.read_table(data_folder() / name / f"{part}.parquet", columns=["text", "label"])
        path = folder / f"{part}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = zip(table["text"].to_pylist(), table["label"].to_pylist(), strict=True)
            csv.writer(file).writerows([("text", "label"), *rows])
        found.append(path)
    return found[0], found[1]


def timed(command: list[str]) -> tuple[float, dict[str, Any]]:
    """Wall seconds of a process, and the JSON of its last line."""
    # As installed programs have it: bytecode is kept.
    setting = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    where = {"cwd": Path(__file__).parent, "env": setting}
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True, **where)  # type: ignore[call-overload]
    return time.perf_counter() - began, json.loads(done.stdout.strip().splitlines()[-1])


def entry(who: str, files: tuple[Path, Path], folder: Path, peer_python: str) -> tuple[float, float]:
    """One run of one entry: seconds and accuracy."""
    train, test = map(str, files)
    if who.startswith("linnaeus "):
        words = ["train", train, "--test", test, "--recipe", who.removeprefix("linnaeus "), "--force", "--json", "-q"]
        program = "from linnaeus.cli.main import program; program()"
        seconds, found = timed([sys.executable, "-c", program, *words, "--threads", "2", "-o", str(folder / "m.lin")])
        return seconds, found["test"]["metrics"]["accuracy"]
    script = str(Path(__file__).parent / "race" / "whole.py")
    seconds, found = timed([peer_python, script, who, train, test, str(folder)])
    return seconds, found["accuracy"]


def race(name: str, arguments: argparse.Namespace) -> None:
    """All entries on one set, in turns; those that fail are named, those that take long run once."""
    everybody = [*arguments.peers.split(","), *(f"linnaeus {recipe}" for recipe in arguments.recipes.split(","))]
    times: dict[str, list[float]] = {}
    right: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        files = prepare(name, Path(place))
        for turn in range(arguments.runs + 1):
            for who in everybody:
                if turn and not arguments.slow > min(times.get(who, [arguments.slow])):
                    continue
                try:
                    seconds, right[who] = entry(who, files, Path(place), arguments.peer_python)
                except (subprocess.SubprocessError, OSError, ValueError, IndexError) as error:
                    say(what="left out", set=name, who=who, note=str(error)[-200:])
                    continue
                times[who] = [*(times[who] if turn > 1 else []), seconds]
    summarize(name, {who: statistics.median(found) for who, found in times.items()}, right)


def summarize(name: str, seconds: dict[str, float], right: dict[str, float]) -> None:
    """A line for everybody, beside each peer the quickest recipe that is as accurate; the fastest peer last."""
    ours = [who for who in seconds if who.startswith("linnaeus ")]
    for who in ours:
        say(what="whole", set=name, who=who, seconds=seconds[who], accuracy=right[who])
    for peer in sorted((who for who in seconds if who not in ours), key=seconds.__getitem__, reverse=True):
        able = [who for who in ours if right[who] >= right[peer]]
        best = min(able, key=seconds.__getitem__, default=None)
        ratio = None if best is None else seconds[best] / seconds[peer]
        said = {"seconds": seconds[peer], "accuracy": right[peer], "ours": best, "ratio": ratio}
        say(what="whole", set=name, who=peer, **said, wanted=SETS[name])


def main() -> int:
    """Race on the sets that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--recipes", default="words,fast,default")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--slow", type=float, default=20.0)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    say_machine()
    for name in arguments.sets.split(","):
        race(name, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
