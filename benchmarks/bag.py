"""Embedding bags beside fastText: from the start of a process to a saved model, seconds an epoch, and accuracy.

    python benchmarks/bag.py --peer-python PYTHON [--data NAMES] [--seeds 5] [--threads 2] [--dev] [--quantized]

Both learn vectors of the same width for the same kinds of n-grams, with as many buckets (2^21), epochs and threads.
PYTHON has fasttext-wheel, in an environment of its own (it needs NumPy below 2). fastText gets the texts as its
tutorial prepares them: in lower case, punctuation apart (the file is written before the clock starts); Linnaeus reads
the Parquet file. Rates and epochs were chosen for each of the two by `--dev`: the last fifth of the shuffled training
part is asked about, and the test part is not read. Seconds from start to saved are those of the whole process up to the
moment when the model is in its file; `epoch_s` is the difference of two trainings, one of which has one epoch, divided
by the other epochs. Seconds are medians of the seeds, accuracies means. `--quantized`: tables in a few bytes a row, of
both. JSON lines.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from measure import data_folder, say, say_machine

BITS = 21  # as in bag_ours.py
PUNCTUATION = re.compile(r"([.!?,'/()\"])")
SETTINGS: dict[str, dict[str, Any]] = {
    "imdb": {"width": 10, "epochs": 5, "ngrams": 2},
    "newsgroups20": {"width": 50, "epochs": 20, "ngrams": 2},
    "banking77": {"width": 50, "epochs": 50, "ngrams": 2},
    "dbpedia_14k": {"width": 10, "epochs": 10, "ngrams": 2},
    "langid75": {"width": 16, "epochs": 10, "parts": [1, 4]},
    "ag_news_small": {"width": 10, "epochs": 20, "ngrams": 2},
}
"""What both share, by data set."""
OURS: dict[str, dict[str, Any]] = {"banking77": {"smoothing": 1e-4}, "ag_news_small": {"rate": 0.5, "smoothing": 1e-4}}
THEIRS: dict[str, dict[str, Any]] = {name: {"lr": 1.0} for name in SETTINGS}
"""What was best on the development parts: of smoothing 1e-5, 1e-4, 1e-3 and rates 0.2, 0.3, 0.5; of lr 0.1 to 1.0."""
QUANTIZED = {"most": 100_000, "quantized": 2}


def write_parts(name: str, folder: Path, dev: bool) -> None:
    """Training and test files of both."""
    train = pq.read_table(data_folder() / name / "train.parquet", columns=["text", "label"])
    order = np.random.default_rng(0).permutation(len(train))
    if dev:
        cut = len(train) * 4 // 5
        parts = {"train": train.take(pa.array(order[:cut])), "test": train.take(pa.array(order[cut:]))}
    else:
        test = pq.read_table(data_folder() / name / "test.parquet", columns=["text", "label"])
        parts = {"train": train.take(pa.array(order)), "test": test}
    for part, table in parts.items():
        pq.write_table(table, folder / f"{part}.parquet")
        rows = zip(table.column("label").to_pylist(), table.column("text").to_pylist(), strict=True)
        with (folder / f"{part}.txt").open("w", encoding="utf-8") as file:
            for label, text in rows:
                spread = PUNCTUATION.sub(r" \1 ", text.lower().replace("<br />", " ")).split()
                file.write(f"__label__{'_'.join(label.split())} {' '.join(spread)}\n")


def run(command: list[str]) -> dict[str, float]:
    """The figures of a child: when its model was saved, and what it says."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found: dict[str, float] = json.loads(process.stdout.readline() or "{}")
        found["saved_s"] = time.perf_counter() - began
        found |= json.loads(process.stdout.readline() or "{}")
        process.wait()
        if process.returncode:
            assert process.stderr is not None
            sys.exit(process.stderr.read()[-2000:])
    return found


def one(who: str, name: str, folder: Path, given: argparse.Namespace, changes: dict[str, Any]) -> dict[str, float]:
    """One training of one of the two."""
    shared = {**SETTINGS[name], **{key: changes.pop(key) for key in ("epochs",) if key in changes}}
    if who == "linnaeus":
        told = {**shared, **OURS.get(name, {}), "threads": given.threads, **changes}
        return run([sys.executable, str(Path(__file__).with_name("bag_ours.py")), str(folder), json.dumps(told)])
    low, high = shared.get("parts", (0, 0))
    told = {"dim": shared["width"], "epoch": shared["epochs"], "wordNgrams": shared.get("ngrams", 1)}
    told |= {"minn": low, "maxn": high, "bucket": 1 << BITS, "thread": given.threads, **THEIRS[name], **changes}
    files = [str(folder / part) for part in ("train.txt", "test.txt", "model.bin")]
    return run([given.peer_python, str(Path(__file__).with_name("bag_peers.py")), *files, json.dumps(told)])


def compare(name: str, given: argparse.Namespace) -> None:
    """Both on one data set: seed by seed, then means and ratios."""
    whos = ["linnaeus", *(["fasttext"] if given.peer_python else [])]
    rows: dict[str, list[dict[str, float]]] = {who: [] for who in whos}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_parts(name, folder, given.dev)
        for seed in range(given.seeds):
            for who in whos:
                small = {} if not given.quantized else QUANTIZED if who == "linnaeus" else {"cutoff": QUANTIZED["most"]}
                for _ in range(2):  # the first one finds the memory as the other's processes left it
                    short = one(who, name, folder, given, {"seed": seed, "epochs": 1})
                found = one(who, name, folder, given, {"seed": seed, **small, **json.loads(given.set)})
                more = json.loads(given.set).get("epochs", SETTINGS[name]["epochs"]) - 1
                found["epoch_s"] = (found["train_s"] - short["train_s"]) / max(more, 1)
                rows[who].append(found)
                say(data=name, who=who, seed=seed, **found)
    means = {
        who: {
            key: (statistics.median if key.endswith("_s") else statistics.mean)(row[key] for row in some)
            for key in some[0]
        }
        for who, some in rows.items()
    }
    ratios = {}
    if len(whos) == 2:
        ours, theirs = means["linnaeus"], means["fasttext"]
        ratios = {f"times_{key}": theirs[key] / max(ours[key], 1e-9) for key in ("saved_s", "epoch_s", "bytes")}
        ratios["points_ahead"] = 100 * (ours["accuracy"] - theirs["accuracy"])
    for who, mean in means.items():
        say(what="mean", data=name, who=who, seeds=given.seeds, **mean, **(ratios if who == "linnaeus" else {}))


def main() -> None:
    """All data sets."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer-python", default="")
    parser.add_argument("--data", default=",".join(SETTINGS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dev", action="store_true")
    parser.add_argument("--quantized", action="store_true")
    parser.add_argument("--set", default="{}", help="settings of both, as JSON")
    given = parser.parse_args()
    say_machine()
    for name in given.data.split(","):
        compare(name, given)


if __name__ == "__main__":
    main()
