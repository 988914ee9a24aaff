"""Label trees beside PECOS and omikuji, on the same features: hits, seconds of training, time of a prediction, bytes.

    pip install --group many                                        (into an environment of its own)
    python benchmarks/many_labels.py --peer-python PYTHON [--sets NAMES] [--runs 3] [--development] [--set SETTINGS]

Peers: PECOS XR-Linear with the tree of its PIFA embedding (`pecos-tree`) and without a tree (`pecos-flat`), omikuji's
Parabel and Bonsai (three trees each). PYTHON has them, in an environment of its own (they need NumPy below 2).

- **Features**: words and pairs (`words()` of the cookbook), made once for each data set and given to all as the same
  float32 matrices. A label of the test part that training does not have is never found.
- **Training**: from matrices in memory to a trained model, on `--threads` (2). Omikuji learns from a file only;
  `train_s` is its training alone, and writing and reading the file are apart (`write_s`, `load_s`).
- **Prediction**: the five best labels with a beam of 10, on one thread, in microseconds for each text. Ours and PECOS
  predict in one batch, omikuji text by text, as its API has it; `call_us` is its function without the Python code
  around it, and `call_us` of ours is a call for each text.
- **Bytes**: the weights, without the vocabulary. Ours are the tensors of the model without names and counts of labels;
  those of the peers are their saved folders.
- **Runs**: each in a process of its own, in turns; medians. A peer that trains for more than a minute runs once; one
  that takes longer than `--limit` (300 s, all of its process) is named and skipped.

For each data set: differences to the best peer of each figure, in points, with 95 % intervals of a paired bootstrap
over texts. `training` is our time over that of the fastest peer whose P@1 is within 0.5 points of the best peer's,
`prediction` our time over that of the fastest peer (the smaller of its two), `bytes` ours over the smallest peer's, and
`ours_near` says whether our P@1 is within those 0.5 points, too. Who is within them may depend on chance (omikuji draws
its clusters anew in each run), so `training_any` is the ratio to the fastest peer of all. `--development` holds out a
tenth of the training part and never reads the test part: for choosing settings. JSON lines, then a table.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

import linnaeus
from linnaeus.arrays import CSR
from linnaeus.learners.label_tree import FittedLabels, LabelTree
from linnaeus.recipes.cookbook import RECIPES, recipe, words
from linnaeus.types import LabelSets, Lesson
from measure import data_folder, say, say_machine

SETS = ("wordnet_hypernym", "wordnet_ancestors", "icd10cm_category", "debian_tags", "goemotions", "reuters90")
PEERS = ("pecos-tree", "pecos-flat", "parabel", "bonsai")
OURS = "linnaeus"
TOP, ASKED = 5, (1, 3, 5)
SLOW = 60.0
"""Seconds of training from which a peer runs once."""
NEAR = 0.005
"""How much lower the P@1 of a peer may be than the best one for its time of training to count."""
DRAWS = 10_000

Found = dict[str, float]


def labels_of(table: pa.Table) -> list[list[str]]:
    """The labels of each text, without repetitions."""
    if "label" in table.column_names:
        return [[label] for label in table.column("label").to_pylist()]
    return [sorted(set(labels)) for labels in table.column("labels").to_pylist()]


def parts_of(name: str, development: bool) -> tuple[pa.Table, pa.Table]:
    """Training and test part; in development nine tenths of the training part, and the last tenth."""
    train = pq.read_table(data_folder() / name / "train.parquet")
    if not development:
        return train, pq.read_table(data_folder() / name / "test.parquet")
    order = np.random.default_rng(0).permutation(len(train))
    cut = len(train) * 9 // 10
    return train.take(pa.array(order[:cut])), train.take(pa.array(order[cut:]))


def prepare(name: str, folder: Path, development: bool) -> None:
    """The matrices of a data set as files that all programs read."""
    train, test = parts_of(name, development)
    features, rows = words().fit_rows(linnaeus.read(train.column("text").to_pylist()))
    answers, asked = labels_of(train), labels_of(test)
    numbers = {label: at for at, label in enumerate(sorted({label for labels in answers for label in labels}))}
    matrices = {
        "rows": rows.to_csr(),
        "test_rows": features.rows(linnaeus.read(test.column("text").to_pylist())).to_csr(),
        "labels": [[numbers[label] for label in labels] for labels in answers],
        "test_labels": [[numbers[label] for label in labels if label in numbers] for labels in asked],
    }
    for file, given in matrices.items():
        found = as_scipy(given) if isinstance(given, CSR) else as_sets(given, len(numbers))
        sp.save_npz(folder / f"{file}.npz", found, compressed=False)


def as_scipy(rows: CSR) -> Any:
    """Our rows as SciPy's."""
    data = rows.data[: rows.nnz].astype(np.float32)
    return sp.csr_matrix((data, rows.indices[: rows.nnz], rows.indptr), shape=rows.shape)


def as_sets(rows: list[list[int]], k: int) -> Any:
    """Label sets as a matrix of ones."""
    offsets = np.cumsum([0] + [len(row) for row in rows])
    labels = np.array([label for row in rows for label in row], np.int32)
    return sp.csr_matrix((np.ones(len(labels), np.float32), labels, offsets), shape=(len(rows), k))


def learner_of(name: str, changes: str) -> LabelTree:
    """The label tree of a recipe, or the usual one where there is no such recipe, with changed settings."""
    learner: Any = recipe(name).learner if name in RECIPES else LabelTree()
    while not isinstance(learner, LabelTree):
        learner = learner.learner
    return replace(learner, **json.loads(changes))


def ours(learner: LabelTree, folder: Path, threads: int) -> tuple[Any, Found]:
    """One training of ours: the five best labels of each test row, and the figures."""
    lesson, test = lesson_of(folder), rows_of(folder / "test_rows.npz")
    with linnaeus.threads(threads):
        replace(learner, leaf=2).learn(small())
        began = time.perf_counter()
        model = learner.learn(lesson)
        found = {"train_s": time.perf_counter() - began}
    with linnaeus.threads(1):
        model.best(test.rows_slice(0, 100), TOP)
        times: list[float] = []
        while len(times) < 3 and sum(times) < 10:
            began = time.perf_counter()
            best, _ = model.best(test, TOP)
            times.append(time.perf_counter() - began)
        found["predict_us"] = 1e6 * statistics.median(times) / len(test)
        singles = [test.rows_slice(at, at + 1) for at in range(min(2000, len(test)))]
        began = time.perf_counter()
        for one in singles:
            model.best(one, TOP)
        found["call_us"] = 1e6 * (time.perf_counter() - began) / len(singles)
    found["bytes"] = bytes_of(model)
    wide = np.full((len(test), TOP), -1, np.int32)
    wide[:, : best.shape[1]] = best
    return wide, found


def bytes_of(model: FittedLabels) -> int:
    """Bytes of the stored weights: all but the names and the counts of labels."""
    tensors = model.state().tensors
    return sum(a.nbytes for name, a in tensors.items() if not name.startswith("names") and name != "counts")


def small() -> Lesson:
    """A lesson that warms up what a training uses."""
    X = np.eye(16, dtype=np.float32)
    rows = CSR(np.arange(17), np.arange(16, dtype=np.int32), X.diagonal().copy(), 16)
    return Lesson(rows, np.arange(16) // 2, np.ones(16), 8)


def rows_of(path: Path) -> CSR:
    """Rows of a file."""
    X = sp.load_npz(path)
    return CSR(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, X.shape[1])


def lesson_of(folder: Path) -> Lesson:
    """What is learned."""
    rows, Y = rows_of(folder / "rows.npz"), sp.load_npz(folder / "labels.npz")
    sets = LabelSets(Y.indptr.astype(np.int64), Y.indices.astype(np.int32))
    singles = bool((np.diff(Y.indptr) == 1).all())
    return Lesson(rows, sets.labels if singles else sets, np.ones(len(rows)), Y.shape[1])


def run(command: list[str], limit: float | None) -> Found | str:
    """The figures of a child, or why there are none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"more than {limit:g} s"
    said = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not said:
        return (done.stderr.strip().splitlines() or ["no output"])[-1][-300:]
    found: Found = json.loads(said[-1])
    return found


def one(who: str, folder: Path, given: argparse.Namespace) -> Found | str:
    """One training of one of them."""
    rest = [str(folder), str(folder / f"{who}.npy"), str(given.threads)]
    if who == OURS:
        return run([sys.executable, __file__, "--child", *rest, "--recipe", given.recipe, "--set", given.set], None)
    return run([given.peer_python, str(Path(__file__).with_name("many_labels_peers.py")), who, *rest], given.limit)


def child(given: argparse.Namespace) -> None:
    """Ours, in a process of its own."""
    folder, out, threads = given.child
    best, found = ours(learner_of(given.recipe, given.set), Path(folder), int(threads))
    np.save(out, best)
    print(json.dumps(found), flush=True)


def values_of(best: Any, truth: Any) -> dict[str, Any]:
    """P@k of each text, and hit@k where each has one label."""
    keys = np.repeat(np.arange(truth.shape[0], dtype=np.int64), np.diff(truth.indptr)) * truth.shape[1] + truth.indices
    asked = np.arange(len(best))[:, None] * truth.shape[1] + best
    hits = (np.isin(asked, keys) & (best >= 0)).cumsum(axis=1)
    found = {f"P@{k}": hits[:, k - 1] / k for k in ASKED}
    single = np.diff(truth.indptr).max(initial=0) <= 1
    return found | ({f"hit@{k}": (hits[:, k - 1] > 0) * 1.0 for k in ASKED} if single else {})


def interval(differences: Any) -> tuple[float, float]:
    """The 95 % interval of the mean by the bootstrap; texts with the same difference are drawn together."""
    values, counts = np.unique(differences.round(9), return_counts=True)
    drawn = np.random.default_rng(0).multinomial(counts.sum(), counts / counts.sum(), size=DRAWS)
    low, high = np.quantile(drawn @ values / counts.sum(), [0.025, 0.975])
    return float(low), float(high)


def race(folder: Path, name: str, given: argparse.Namespace) -> tuple[dict[str, Found], dict[str, dict[str, Any]]]:
    """All in turns: medians of each, and the values of each text."""
    truth = sp.load_npz(folder / "test_labels.npz").tocsr()
    asked = [OURS, *(given.peers.split(",") if given.peer_python and given.peers else [])]
    every: dict[str, list[Found]] = {who: [] for who in asked}
    values: dict[str, dict[str, Any]] = {}
    for number in range(given.runs):
        for who in list(asked):
            if number and who != OURS and every[who][0]["train_s"] > SLOW:
                continue
            found = one(who, folder, given)
            if isinstance(found, str):
                if who == OURS:
                    sys.exit(found)
                say(what="skipped", data=name, who=who, why=found)
                asked.remove(who)
                continue
            every[who].append(found)
            if who not in values:
                values[who] = values_of(np.load(folder / f"{who}.npy"), truth)
            say(what="run", data=name, who=who, run=number, **found)
    medians = {
        who: {key: statistics.median(row[key] for row in rows) for key in rows[0]}
        for who, rows in every.items()
        if rows
    }
    for who, found in medians.items():
        means = {key: 100 * float(one.mean()) for key, one in values[who].items()}
        medians[who] = {**means, **found, "bytes": round(found["bytes"])}
        say(what="median", data=name, who=who, runs=len(every[who]), **medians[who])
    return medians, values


def compare(name: str, medians: dict[str, Found], values: dict[str, dict[str, Any]]) -> None:
    """Ours beside the best peer: of each figure, of time and of size."""
    peers = {who: found for who, found in medians.items() if who != OURS}
    if not peers:
        return
    mine = medians[OURS]
    for key, own in values[OURS].items():
        best = max(peers, key=lambda who: peers[who][key])
        low, high = interval(own - values[best][key])
        rest = {"points": mine[key] - peers[best][key], "low": 100 * low, "high": 100 * high}
        say(what="difference", data=name, figure=key, ours=mine[key], peer=best, theirs=peers[best][key], **rest)
    enough = max(found["P@1"] for found in peers.values()) - 100 * NEAR
    quick = {who: min(found["predict_us"], found.get("call_us", np.inf)) for who, found in peers.items()}
    costs = {
        "training": {who: found["train_s"] for who, found in peers.items() if found["P@1"] >= enough},
        "training_any": {who: found["train_s"] for who, found in peers.items()},
        "prediction": quick,
        "bytes": {who: found["bytes"] for who, found in peers.items()},
    }
    told: dict[str, Any] = {"ours_near": mine["P@1"] >= enough}
    keys = {"training": "train_s", "training_any": "train_s", "prediction": "predict_us", "bytes": "bytes"}
    for what, key in keys.items():
        rival = min(costs[what], key=lambda who, of=costs[what]: of[who])
        told |= {what: mine[key] / costs[what][rival], f"{what}_peer": rival}
    say(what="ratios", data=name, **told)


def table(rows: Sequence[tuple[str, str, Found]]) -> None:
    """All medians as a table."""
    print("\n| data | who | P@1 | P@3 | P@5 | hit@3 | hit@5 | training | prediction | MB |\n|---|---|" + "---:|" * 8)
    for name, who, found in rows:
        hits = [f"{found[key]:.2f}" if key in found else "" for key in ("P@1", "P@3", "P@5", "hit@3", "hit@5")]
        costs = f"{found['train_s']:.3g} s | {found['predict_us']:.1f} µs | {found['bytes'] / 1e6:.2f}"
        print(f"| {name} | {who} | {' | '.join(hits)} | {costs} |")


def main() -> None:
    """All data sets."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer-python", default="")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300.0)
    parser.add_argument("--recipe", default="label-tree")
    parser.add_argument("--set", default="{}", help="settings of the label tree, as JSON")
    parser.add_argument("--development", action="store_true")
    parser.add_argument("--child", nargs=3, default=None, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return child(given)
    say_machine()
    say(what="settings", learner=repr(learner_of(given.recipe, given.set)), recipe=given.recipe in RECIPES)
    rows: list[tuple[str, str, Found]] = []
    for name in given.sets.split(","):
        with tempfile.TemporaryDirectory() as place:
            prepare(name, Path(place), given.development)
            medians, values = race(Path(place), name, given)
            compare(name, medians, values)
        rows += [(name, who, found) for who, found in medians.items()]
    table(rows)
    return None


if __name__ == "__main__":
    main()
