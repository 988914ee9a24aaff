"""Is this version as fast as another one? Both do the same work in turns; what counts is processor time.

    python benchmarks/versions.py BEFORE [--pairs 11] [--only "cold start;latency"]

BEFORE is the interpreter of an environment with the other version of Linnaeus. A row is a job in a process of its own:
`train` from a CSV file to a saved model, single texts, a cold `predict`, training and use of taggers, and the problems
of `solvers.py --quick`, each to a tolerance. A pair is one run of each version, which of them first in turns. A line
gives the median seconds of both, the geometric mean of the ratios (this version by the other), and its 95 % interval by
the bootstrap over pairs. The exit code is 1 if an interval lies wholly above 1.05. Prints JSON lines.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from end_to_end import prepare
from measure import data_folder, say, say_machine
from race import matrices
from race.entries.linnaeus import make
from race.problems import PROBLEMS

PROGRAM = "from linnaeus.cli.main import program; program()"
LIMIT = 1.05
TRAINED = {"words": ("swda", "banking77", "dbpedia_14k"), "fast": ("newsgroups20", "imdb"), "default": ("trec",)}
ASKED = (("svm", "banking77"), ("default", "trec"))
TAGGERS = (("pos", "ud_english_ewt", "upos", 4000), ("entities", "conll2003", "ner", 4000))


def used(command: list[str], stdin: bytes = b"") -> float:
    """Processor seconds of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input=stdin, capture_output=True)
    if done.returncode:
        sys.exit(done.stderr.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def train(recipe: str, name: str, folder: Path) -> float:
    """From a CSV file to a saved model."""
    target = ["-o", str(folder / "m.lin"), "--force", "-q", "--threads", "2", "--recipe", recipe]
    return used([sys.executable, "-c", PROGRAM, "train", str(folder / name / "train.csv"), *target])


def model_file(recipe: str, name: str, folder: Path) -> Path:
    """A model of this version, trained once."""
    path = folder / "models" / f"{name}-{recipe}.lin"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        rows = str(data_folder() / name / "train.parquet")
        used([sys.executable, "-c", PROGRAM, "train", rows, "-o", str(path), "-q", "--recipe", recipe])
    return path


def single_texts(recipe: str, name: str, folder: Path) -> float:
    """A thousand texts, one by one, fifty times."""
    import pyarrow.parquet as pq

    import linnaeus

    model = linnaeus.load(model_file(recipe, name, folder))
    texts = pq.read_table(data_folder() / name / "test.parquet")["text"].to_pylist()[:1000]
    answer = model.classify
    for text in texts:
        answer(text)
    return timed(lambda: [answer(text) for _ in range(50) for text in texts])


def cold_start(recipe: str, name: str, folder: Path) -> float:
    """A command for one text, three times."""
    command = [sys.executable, "-c", PROGRAM, "predict", str(model_file(recipe, name, folder))]
    return sum(used(command, b"where is my new card\n") for _ in range(3))


def tagger(recipe: str, name: str, column: str, count: int, folder: Path, tag: bool) -> float:
    """The training of a tagger from sentences in memory, or its use on the test part."""
    import linnaeus
    from linnaeus.data.sentences import Sentences
    from race.tags_data import load
    from same_bits import named, predict

    tokens, tags = load(data_folder() / name, "train", column)
    known = Sentences.from_lists(tokens[:count], tags[:count])
    if not tag:
        made = named(recipe)
        if getattr(made, "tuning", None) is not None:  # older versions held nothing out in Python
            made = made.changed({"tuning": None})
        return timed(lambda: made.fit(known))
    path = folder / "models" / f"{name}-{recipe}.lin"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        named(recipe).fit(known).save(path)
    model = linnaeus.load(path)
    asked = load(data_folder() / name, "test", column)[0]
    predict(model, asked[:10], "tags")
    return timed(lambda: [predict(model, asked, "tags") for _ in range(10)])


def solve(data: str, family: str, C: float, tol: float, folder: Path) -> float:
    """One objective to a tolerance, on one thread."""
    import linnaeus

    X, y = matrices.load(matrices.ensure(data, data_folder(), folder))
    model = make(family, C, tol, len(np.unique(y)))
    with linnaeus.threads(1):
        return timed(lambda: model.fit(X, y))


def timed(work: Callable[[], Any]) -> float:
    """Processor seconds of work in this process."""
    began = time.process_time()
    work()
    return time.process_time() - began


ROWS: dict[str, Callable[..., float]] = {
    **{f"train {recipe} {name}": partial(train, recipe, name) for recipe in TRAINED for name in TRAINED[recipe]},
    **{f"latency {recipe} {name}": partial(single_texts, recipe, name) for recipe, name in ASKED},
    **{f"cold start {recipe} {name}": partial(cold_start, recipe, name) for recipe, name in ASKED},
    **{f"tagging train {row[0]}": partial(tagger, *row, tag=False) for row in TAGGERS},
    **{f"tagging tag {row[0]}": partial(tagger, *row, tag=True) for row in TAGGERS},
    **{f"solvers {p.key} {tol:g}": partial(solve, p.data, p.family, p.C, tol) for p in PROBLEMS if p.C == 1
       for tol in (1e-2, 1e-5)},
}  # fmt: skip


def run(python: str, row: str, folder: Path) -> float:
    """One run of a row by a version, in a new process."""
    own = folder / ("this" if python == sys.executable else "before")
    command = [python, __file__, python, "--row", row, "--folder", str(own)]
    setting = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=setting)
    if done.returncode:
        sys.exit(f"{row} with {python} ended with {done.returncode}")
    return float(done.stdout.splitlines()[-1])


def compare(row: str, before: str, pairs: int, folder: Path) -> bool:
    """The line of a row; True where its interval is not wholly above the limit."""
    versions = (before, sys.executable)
    for python in versions:
        run(python, row, folder)
    found: dict[str, list[float]] = {python: [] for python in versions}
    for pair in range(pairs):
        for python in versions if pair % 2 else versions[::-1]:
            found[python].append(run(python, row, folder))
    logs = np.log(found[sys.executable]) - np.log(found[before])
    draws = np.random.default_rng(0).integers(0, pairs, (10_000, pairs))
    low, high = np.exp(np.quantile(logs[draws].mean(axis=1), [0.025, 0.975]))
    medians = [statistics.median(found[python]) for python in versions]
    say(row=row, before_s=medians[0], now_s=medians[1], ratio=float(np.exp(logs.mean())), low=low, high=high)
    return bool(low <= LIMIT)


def main() -> int:
    """Compare the rows that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", metavar="BEFORE")
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--only", default="", help="beginnings of rows, separated by semicolons")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        print(ROWS[options.row](folder=options.folder))
        return 0
    say_machine()
    rows = [row for row in ROWS if row.startswith(tuple(options.only.split(";")))]
    with tempfile.TemporaryDirectory() as place:
        for version in ("this", "before"):
            for name in {name for names in TRAINED.values() for name in names}:
                (Path(place) / version / name).mkdir(parents=True)
                prepare(name, Path(place) / version / name)
        kept = [compare(row, options.before, options.pairs, Path(place)) for row in rows]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
