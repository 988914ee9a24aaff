"""New labels for a tree that is there: the time, how well they are found, and how many other answers change.

    python benchmarks/many_labels_update.py [--labels 100000] [--new 1000] [--threads 2] [--seed 0] [--runs 3]

The generated texts of `many_labels_scale.py`, of old and new labels. A tree is trained on the rows of the old labels,
then learns the rows of the new ones; another is trained on all rows. `update` is the time of the update over that of
the first training (medians of the runs); `P@1 new` is measured on 20,000 new texts with new labels; `changed` is the
share of new texts with old labels whose answer the update changes. JSON lines.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from typing import Any

import numpy as np

import linnaeus
from linnaeus.arrays import CSR
from linnaeus.learners.label_tree import FittedLabels, LabelTree
from linnaeus.learners.label_tree.updating import News, extended
from linnaeus.types import LabelSets, Lesson
from many_labels_scale import texts_of
from measure import say, say_machine

TESTS = 20_000


def some(lesson: Lesson, rows: Any, k: int) -> Lesson:
    """Some rows of what is learned, with so many labels."""
    return replace(lesson, X=lesson.X.take(rows), y=lesson.y[rows], weights=lesson.weights[rows], k=k)


def hits(model: FittedLabels, X: CSR, y: Any) -> float:
    """The share of rows whose best label is right, in percent."""
    return 100 * float((model.best(X, 1)[0][:, 0] == y).mean())


def main() -> None:
    """Trains, updates, trains on all, and compares."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--labels", type=int, default=100_000)
    parser.add_argument("--new", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    say_machine()
    known, k = given.labels, given.labels + given.new
    rng = np.random.default_rng(given.seed)
    numbers = rng.permutation(k)  # the new labels, from `known` on, are as frequent as the others
    asked = np.concatenate([rng.integers(k, size=TESTS), np.argsort(numbers)[rng.integers(known, k, TESTS)]])
    lesson, test, asked = texts_of(k, given.seed, asked)
    lesson, asked = replace(lesson, y=numbers[lesson.y].astype(np.int32)), numbers[asked]
    ours = test.rows_slice(TESTS, 2 * TESTS), asked[TESTS:]
    test, asked = test.rows_slice(0, TESTS), asked[:TESTS]
    test, asked = test.take(np.flatnonzero(asked < known)), asked[asked < known]
    old = np.flatnonzero(lesson.y < known)
    fresh = np.flatnonzero(lesson.y >= known)
    learner = LabelTree()
    times: dict[str, list[float]] = {"train_s": [], "update_s": []}
    with linnaeus.threads(given.threads):
        for _ in range(given.runs):
            began = time.perf_counter()
            before = learner.learn(some(lesson, old, known))
            times["train_s"].append(time.perf_counter() - began)
            rows = some(lesson, fresh, k)
            labels = LabelSets(np.arange(len(fresh) + 1), rows.y.astype(np.int32))
            began = time.perf_counter()
            after = extended(learner, before, News(rows.X, labels, rows.weights, known, k))
            times["update_s"].append(time.perf_counter() - began)
        whole = learner.learn(lesson)
    middle = {name: statistics.median(values) for name, values in times.items()}
    say(
        what="update",
        labels=known,
        new=given.new,
        rows=len(fresh),
        **middle,
        update=middle["update_s"] / middle["train_s"],
    )
    changed = before.best(test, 1)[0] != after.best(test, 1)[0]
    figures = {"P@1 new": hits(after, *ours), "P@1 new, trained on all": hits(whole, *ours)}
    figures |= {"P@1 old": hits(after, test, asked), "P@1 old, before": hits(before, test, asked)}
    say(**{"what": "answers", **figures, "changed": 100 * float(changed.mean())})


if __name__ == "__main__":
    main()
