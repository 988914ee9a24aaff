"""Opening a label tree of 1 GB: how long it takes, and how much of the file is in memory then and after some answers.

    python benchmarks/many_labels_open.py [--bytes 1000000000] [--runs 7]

The tree is made, not learned: nodes of 64 children with some thousand weights each, over a million hashed columns. It
is opened in processes of their own; the file has been written just before, so it is in the cache of the system. Prints
JSON lines: the opening, the first answer (which reads and checks the nodes on its way), how much more memory there is
after these and after 1,000 more answers, and how long it takes to check all of the file.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from linnaeus.features import Hashed, Words
from linnaeus.learners.label_tree import LabelTree
from linnaeus.learners.label_tree.chunks import Chunks
from linnaeus.learners.label_tree.fitted import by_frequency
from linnaeus.learners.label_tree.names import LabelNames
from linnaeus.recipes.recipe import Recipe
from measure import say, say_machine

CHILDREN, COLUMNS = 64, 4096
"""Children of a node, and its columns, of which each has one weight."""
OPEN = """
import json, sys, time
from pathlib import Path
import linnaeus, linnaeus.model.file, linnaeus.tasks.many.answers, linnaeus.features

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return {l.split(":")[0]: int(l.split()[1]) / 1024 for l in lines if l.startswith(("RssAnon", "RssFile"))}

linnaeus.load(sys.argv[2])  # a small model of the same kind: modules are loaded
before, began = resident(), time.perf_counter()
model = linnaeus.load(sys.argv[1])
opened, at_open = 1000 * (time.perf_counter() - began), resident()
texts = [f"word{i} thing{i * 7 % 1000} of{i % 13}" for i in range(1001)]
began = time.perf_counter()
model.rank(texts[:1], 5)
first, after_one = 1000 * (time.perf_counter() - began), resident()
model.rank(texts[1:], 5)
after = resident()
grown = {name: {part: round(now[part] - before[part], 1) for part in now} for name, now in
         {"opened": at_open, "after 1": after_one, "after 1001": after}.items()}
print(json.dumps({"open_ms": opened, "first_ms": first, "mb_more": grown}))
"""
VERIFY = """
import sys, time, linnaeus
began = time.perf_counter()
linnaeus.load(sys.argv[1], verify=True)
print(time.perf_counter() - began)
"""


def tree_of(nodes: int, width: int, rng: np.random.Generator) -> Chunks:
    """A root whose children are so many nodes, which have the labels."""
    inner = CHILDREN * nodes
    root = np.arange(nodes, dtype=np.int64)
    starts = np.concatenate([[0], nodes + CHILDREN * np.arange(nodes + 1)]).astype(np.int64)
    gaps = rng.integers(1, 2 * width // COLUMNS - 1, size=(nodes, COLUMNS))
    columns = np.cumsum(gaps, axis=1).astype(np.int64) % width
    columns.sort(axis=1)
    columns = np.maximum.accumulate(columns + np.arange(COLUMNS), axis=1)
    columns = np.minimum(columns, width - COLUMNS + np.arange(COLUMNS))
    own = np.sort(rng.choice(width, size=width // 4, replace=False))
    count = len(own) + nodes * COLUMNS
    firsts = np.concatenate([[0], len(own) + COLUMNS * np.arange(nodes + 1)]).astype(np.int64)
    lanes = np.concatenate([rng.integers(nodes, size=len(own)), np.tile(np.arange(COLUMNS) % CHILDREN, nodes)])
    return Chunks(
        starts=starts,
        targets=np.concatenate([root + 1, ~np.arange(inner)]).astype(np.int32),
        biases=np.full(nodes + inner, -1, np.float32),
        firsts=firsts,
        columns=np.concatenate([own, columns.ravel()]).astype(np.int32),
        spots=np.concatenate([np.arange(len(own)), np.tile(np.arange(COLUMNS), nodes)]).astype(np.uint32),
        begins=firsts,
        lanes=lanes.astype(np.uint16),
        values=rng.integers(-127, 128, size=count).astype(np.int8),
        scales=np.full(nodes + 1, 0.01, np.float32),
        labels=inner,
        width=width,
        share=0.5,
        digests=np.zeros(0, np.uint64),
    )


def main() -> None:
    """Make the file, and open it several times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    say_machine()
    recipe = Recipe(task="many", features=Words(terms=Hashed(20)), learner=LabelTree())
    small = recipe.fit([(f"word{i} thing{i % 5}", str(i % 50)) for i in range(200)])
    nodes = given.bytes // (COLUMNS * 11 + CHILDREN * 24)
    tree = tree_of(nodes, small.features.width, np.random.default_rng(0))
    counts = np.ones(tree.labels, np.int32)
    names = LabelNames.of(np.array([f"label {i:08d}" for i in range(tree.labels)]))
    body = replace(small.body, trees=(tree,), numbers=by_frequency(counts), names=names, counts=counts)
    with tempfile.TemporaryDirectory() as folder:
        large, little = Path(folder) / "large.lin", Path(folder) / "small.lin"
        replace(small, body=body).save(large)
        small.save(little)
        rows = [json.loads(ask(OPEN, large, little)) for _ in range(given.runs)]
        say(
            what="open",
            bytes=large.stat().st_size,
            labels=tree.labels,
            open_ms=statistics.median(row["open_ms"] for row in rows),
            first_ms=statistics.median(row["first_ms"] for row in rows),
            mb_more=rows[-1]["mb_more"],
            verify_s=float(ask(VERIFY, large)),
        )


def ask(code: str, *paths: Path) -> str:
    """What a process of its own prints."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, paths)], capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    main()
