"""Whether what a model says of its own doubts is true: coverage of label sets, calibration, what is out of scope.

    python benchmarks/uncertain.py [--recipe default] [--sets trec,mr] [--splits 20] [--rounds coverage,scope]

- `coverage`: label sets at 90 %, averaged over random splits of the train part (a fifth is held out), beside the
  official test part.
- `calibration`: the expected calibration error of the most probable label, 15 bins of equal width, and the log loss, on
  a random fifth of all rows of each set with 1,000 or more test rows.
- `scope`: `clinc150`, trained without its out-of-scope rows: the area under the ROC curve of `out_of_scope` on the test
  part, where 1,000 of 5,500 rows are out of scope.

Prints JSON lines.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from accuracy import SETS, load
from linnaeus.evaluation import Outcome, evaluate, lookup
from linnaeus.model.model import Model
from linnaeus.recipes.cookbook import recipe as named
from measure import data_folder, say, say_machine

COVERAGE = 0.9
FOUR = ("trec", "mr", "sms_spam", "ag_news_small")
ENOUGH = 1000
"""Test rows from which the calibration of a set is measured."""
Rows = tuple[list[str], list[str]]


def cut(rows: Rows, seed: int) -> tuple[Rows, Rows]:
    """Four fifths and one fifth, at random."""
    order = np.random.default_rng(seed).permutation(len(rows[0]))
    here = len(order) // 5
    first, second = ([[part[i] for i in some] for part in rows] for some in (order[here:], order[:here]))
    return (first[0], first[1]), (second[0], second[1])


def fit(recipe: str, rows: Rows) -> Model:
    """Trained with the recipe as it stands."""
    return named(recipe).fit(list(zip(*rows, strict=True)))


def covered(model: Model, rows: Rows) -> dict[str, float]:
    """How often the sets hold the truth, how large they are, and how many are empty."""
    sets = model.predict(rows[0], abstain=f"coverage={COVERAGE}")
    sizes = np.array([len(labels) for labels in sets])
    inside = np.mean([label in labels for labels, label in zip(sets, rows[1], strict=True)])
    return {"coverage": 100.0 * float(inside), "size": float(sizes.mean()), "empty": float((sizes == 0).mean())}


def coverage(name: str, arguments: argparse.Namespace) -> None:
    """The mean over random splits, its standard error, and the official test part."""
    rows = load(name, "train")
    found = []
    for seed in range(arguments.splits):
        here, there = cut(rows, seed)
        found.append(covered(fit(arguments.recipe, here), there))
    table = {key: [one[key] for one in found] for key in found[0]}
    error = float(np.std(table["coverage"], ddof=1) / np.sqrt(len(found))) if len(found) > 1 else None
    mean = {key: float(np.mean(values)) for key, values in table.items()}
    official = covered(fit(arguments.recipe, rows), load(name, "test"))
    say(what="coverage", set=name, splits=len(found), **mean, error=error, official=official["coverage"])


def calibration(name: str, arguments: argparse.Namespace) -> None:
    """One random split of all rows, and the official one."""
    parts = load(name, "train"), load(name, "test")
    if len(parts[1][0]) < ENOUGH:
        return
    here, there = cut((parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]), 0)
    say(what="calibration", set=name, rows=len(there[0]), **_honesty(fit(arguments.recipe, here), there))


def _honesty(model: Model, rows: Rows) -> dict[str, Any]:
    names = [str(label) for label in model.classes.tolist()] if model.classes is not None else []
    P = model.probabilities(rows[0])
    outcome = Outcome(lookup(rows[1], names), P.argmax(axis=1), names, P)
    metrics = evaluate(outcome, rounds=0).metrics
    return {"ece": metrics["ece"], "log_loss": metrics["log_loss"]}


def scope(arguments: argparse.Namespace) -> None:
    """How well the out-of-scope score tells the two kinds of test rows apart."""
    model = fit(arguments.recipe, load("clinc150", "train"))
    table = pq.read_table(data_folder() / "clinc150" / "test.parquet", columns=["text", "label"])
    outside = np.array([label == "oos" for label in table["label"].to_pylist()])
    score = model.out_of_scope(table["text"].to_pylist())
    say(
        what="scope",
        set="clinc150",
        inside=int((~outside).sum()),
        outside=int(outside.sum()),
        auroc=area(score, outside),
    )


def area(score: np.ndarray, positive: np.ndarray) -> float:
    """The chance that a positive row scores higher than another, ties counted half."""
    values, place = np.unique(score, return_inverse=True)
    counts = np.bincount(place, minlength=len(values)).astype(float)
    ranks = (np.cumsum(counts) - 0.5 * counts + 0.5)[place]
    n, m = int(positive.sum()), int((~positive).sum())
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m))


def main() -> int:
    """Run the rounds that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--sets", default="")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--rounds", default="scope,coverage,calibration")
    arguments = parser.parse_args()
    sets = [name for name in arguments.sets.split(",") if name]
    say_machine()
    for kind in arguments.rounds.split(","):
        if kind == "scope":
            scope(arguments)
        for name in sets or (FOUR if kind == "coverage" else SETS):
            if kind == "coverage":
                coverage(name, arguments)
            elif kind == "calibration":
                calibration(name, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
