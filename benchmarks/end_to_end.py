"""From files on disk to a saved model and its test accuracy, process start included, against the peers.

    python benchmarks/end_to_end.py [--sets imdb,swda] [--recipes fast,default] [--peer-python PYTHON] [--runs 3]

Everybody reads the same CSV files (text, label; written before the clock starts) and uses two threads. fastText and
Vowpal Wabbit get their own formats, shuffled, by a Python loop that counts, because their users need it too. For each
peer the line gives the seconds and the accuracy; Linnaeus must reach the accuracy of the fastest peer in a third of its
time (0.7 on small sets) with any named recipe. Medians of several runs, in turns. Prints JSON lines.
"""

from __future__ import annotations

import argparse
import csv
import json
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
SLOW = 120.0


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
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=SLOW, cwd=Path(__file__).parent, check=True)
    return time.perf_counter() - began, json.loads(done.stdout.strip().splitlines()[-1])


def entry(who: str, files: tuple[Path, Path], folder: Path, peer_python: str) -> tuple[float, float]:
    """One run of one entry: seconds and accuracy."""
    train, test = map(str, files)
    if who.startswith("linnaeus "):
        words = ["train", train, "--test", test, "--recipe", who.removeprefix("linnaeus "), "--force", "--json", "-q"]
        program = "import sys; from linnaeus.cli.main import main; sys.exit(main())"
        seconds, found = timed([sys.executable, "-c", program, *words, "--threads", "2", "-o", str(folder / "m.lin")])
        return seconds, found["test"]["metrics"]["accuracy"]
    script = str(Path(__file__).parent / "race" / "whole.py")
    seconds, found = timed([peer_python, script, who, train, test, str(folder)])
    return seconds, found["accuracy"]


def race(name: str, arguments: argparse.Namespace) -> None:
    """All entries on one set, in turns; those that fail or take too long are named."""
    everybody = [*PEERS, *(f"linnaeus {recipe}" for recipe in arguments.recipes.split(","))]
    times: dict[str, list[float]] = {}
    right: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        files = prepare(name, Path(place))
        for _ in range(arguments.runs):
            for who in list(everybody):
                try:
                    seconds, right[who] = entry(who, files, Path(place), arguments.peer_python)
                except (subprocess.SubprocessError, OSError, ValueError, IndexError) as error:
                    everybody.remove(who)
                    say(what="left out", set=name, who=who, note=str(error)[-200:])
                    continue
                times.setdefault(who, []).append(seconds)
    found = {who: statistics.median(times[who]) for who in everybody}
    for who in everybody:
        say(what="whole", set=name, who=who, seconds=found[who], accuracy=right[who], runs=len(times[who]))
    peers = [who for who in everybody if not who.startswith("linnaeus ")]
    if not peers:
        return
    fastest = min(peers, key=found.__getitem__)
    able = [who for who in everybody if who.startswith("linnaeus ") and right[who] >= right[fastest]]
    best = min(able, key=found.__getitem__, default=None)
    ratio = None if best is None else found[best] / found[fastest]
    say(what="ratio", set=name, peer=fastest, ours=best, ratio=ratio, wanted=SETS[name])


def main() -> int:
    """Race on the sets that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--recipes", default="fast,default")
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    say_machine()
    for name in arguments.sets.split(","):
        race(name, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
