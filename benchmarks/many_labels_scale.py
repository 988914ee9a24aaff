"""Label trees from a thousand to 4.5 million labels, on generated texts: hits, times, memory and bytes.

    python benchmarks/many_labels_scale.py [--labels 1000,10000,100000,1000000,4500000] [--svg FILE] [--set SETTINGS]

- **Labels**: each is of one of 1,000 topics and has five words of its own; a topic has 200. All of these are drawn
  uniformly from the same million words.
- **Texts**: 20 words: 8 of the five of its label, 4 of the 200 of its topic, and 8 of the background, the million words
  by Zipf's law (1 / rank). As features, tf-idf of the words ((1 + log tf) (1 + log((1 + n) / (1 + df)))), length 1.
- **Training**: one text for every label and as many again whose labels are drawn by Zipf's law, so that at every size a
  label has two texts on average, and most have one. Test: 20,000 new texts, half with labels drawn uniformly (`macro`),
  half by Zipf's law (`micro`).

Each size runs in a process of its own. `cluster_s` is the part of `train_s` before the first level is learned;
`generate_mb` and `peak_mb` are the most memory until the matrices and until the model are there. A prediction gives the
five best labels on one thread: `p50_us` and `p99_us` are of 2,000 calls for one text each, `batch_us` is the mean of a
call for all (the median of three), and `first_us` that of the first such call, which also checks every node that it
opens. `bytes` are the weights of the model without names and counts of labels. JSON lines; `--svg` draws P@1 and the
times.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import linnaeus
from linnaeus.arrays import CSR
from linnaeus.erm.progress import Phase
from linnaeus.learners.label_tree import FittedLabels, LabelTree
from linnaeus.learners.run import Run
from linnaeus.render.picture import Lines, Points
from linnaeus.render.svg import Axis, draw_layer, ticks
from linnaeus.render.svg_parts import END, MIDDLE, STYLE, color, text
from linnaeus.types import Lesson
from measure import say, say_machine

WORDS, TOPICS, OWN, SHARED = 1_000_000, 1000, 5, 200
DRAWN = (8, 4, 8)
"""Words of a text: of its label, of its topic, of the background."""
LENGTH = sum(DRAWN)
BLOCK = 1 << 17
TESTS, CALLS, TOP = 20_000, 2000, 5


def zipf(count: int) -> Any:
    """The distribution function of numbers from 0 on whose chances are proportional to 1 / (number + 1)."""
    sums = np.cumsum(1 / np.arange(1, count + 1))
    return sums / sums[-1]


def drawn(by: Any, size: int | tuple[int, int], rng: np.random.Generator) -> Any:
    """Numbers of a distribution function."""
    return np.minimum(np.searchsorted(by, rng.random(size), side="right"), len(by) - 1).astype(np.int32)


@dataclass(frozen=True)
class World:
    """The words of each label (k, 5), its topic, the words of each topic (1000, 200), and how frequent words are."""

    own: Any
    topic: Any
    shared: Any
    background: Any

    @classmethod
    def of(cls, k: int, rng: np.random.Generator) -> World:
        """So many labels."""
        own = rng.integers(WORDS, size=(k, OWN), dtype=np.int32)
        topic = rng.integers(TOPICS, size=k, dtype=np.int32)
        return cls(own, topic, rng.integers(WORDS, size=(TOPICS, SHARED), dtype=np.int32), zipf(WORDS))

    def words(self, y: Any, rng: np.random.Generator) -> Any:
        """The words of texts with these labels (n, 20), sorted."""
        n = len(y)
        ours, topics, rest = DRAWN
        found = np.empty((n, LENGTH), np.int32)
        found[:, :ours] = self.own[y[:, None], rng.integers(OWN, size=(n, ours))]
        found[:, ours : ours + topics] = self.shared[self.topic[y][:, None], rng.integers(SHARED, size=(n, topics))]
        found[:, ours + topics :] = drawn(self.background, (n, rest), rng)
        found.sort(axis=1)
        return found


def counted(world: World, y: Any, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Texts with these labels as offsets, different words, and how often each is there; block by block."""
    offsets = np.zeros(len(y) + 1, np.int64)
    columns, counts = np.empty(len(y) * LENGTH, np.int32), np.empty(len(y) * LENGTH, np.uint8)
    end = 0
    for start in range(0, len(y), BLOCK):
        words = world.words(y[start : start + BLOCK], rng)
        new = np.ones(words.shape, bool)
        np.not_equal(words[:, 1:], words[:, :-1], out=new[:, 1:])
        at = np.flatnonzero(new)
        columns[end : end + len(at)] = words.ravel()[at]
        counts[end : end + len(at)] = np.diff(at, append=words.size)
        offsets[start + 1 : start + len(words) + 1] = end + np.cumsum(new.sum(axis=1))
        end += len(at)
    # What was not written takes no memory: the system gives pages when they are touched.
    return offsets, columns[:end], counts[:end]


def weighed(texts: tuple[Any, Any, Any], idf: Any) -> CSR:
    """Texts as rows of tf-idf of length 1, without words that no training text has."""
    offsets, columns, counts = texts
    if (unknown := idf[columns] == 0).any():
        offsets = np.concatenate([[0], np.cumsum(~unknown)])[offsets]
        columns, counts = columns[~unknown], counts[~unknown]
    tf = (1 + np.log(np.arange(1, LENGTH + 1))).astype(np.float32)
    data = np.empty(len(columns), np.float32)
    for start in range(0, len(offsets) - 1, BLOCK):
        ends = offsets[start : start + BLOCK + 1]
        part = slice(ends[0], ends[-1])
        values = tf[counts[part] - 1] * idf[columns[part]]
        rows = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        data[part] = values / np.sqrt(np.bincount(rows, values * values, len(ends) - 1))[rows]
    return CSR(offsets, columns, data, WORDS)


def texts_of(k: int, seed: int, asked: Any = None) -> tuple[Lesson, CSR, Any]:
    """What is learned, the test rows and their labels: the first half drawn uniformly, the second by Zipf's law."""
    rng = np.random.default_rng([seed, k])
    world, often = World.of(k, rng), zipf(k)
    y = rng.permutation(np.concatenate([np.arange(k, dtype=np.int32), drawn(often, k, rng)]))
    if asked is None:
        asked = np.concatenate([rng.integers(k, size=TESTS // 2, dtype=np.int32), drawn(often, TESTS // 2, rng)])
    train = counted(world, y, rng)
    df = np.zeros(WORDS, np.int64)
    for start in range(0, len(train[1]), 1 << 22):
        df += np.bincount(train[1][start : start + (1 << 22)], minlength=WORDS)
    idf = np.where(df > 0, 1 + np.log((1 + len(y)) / (1 + df)), 0).astype(np.float32)
    test = weighed(counted(world, asked, rng), idf)
    return Lesson(weighed(train, idf), y, np.ones(len(y)), k), test, asked


def peak_mb() -> float:
    """The most memory of this process so far."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e6 if sys.platform == "darwin" else 1e6 / 1024)


def timed(model: FittedLabels, test: CSR) -> tuple[Any, dict[str, float]]:
    """The best labels, and microseconds of a prediction on one thread."""
    with linnaeus.threads(1):
        step = TESTS // CALLS  # of both halves
        rows = [test.rows_slice(at, at + 1) for at in range(0, TESTS, step)]
        times, batches = [], []
        for _ in range(4):
            began = time.perf_counter()
            best, _ = model.best(test, TOP)
            batches.append(time.perf_counter() - began)
        for row in [*rows[:200], *rows]:
            began = time.perf_counter()
            model.best(row, TOP)
            times.append(time.perf_counter() - began)
    first, *others = (1e6 * seconds / TESTS for seconds in batches)
    middle, high = 1e6 * np.quantile(times[200:], [0.5, 0.99])
    return best, {"p50_us": middle, "p99_us": high, "batch_us": statistics.median(others), "first_us": first}


def bytes_of(model: FittedLabels) -> int:
    """Bytes of the stored weights: all but the names and the counts of labels."""
    tensors = model.state().tensors
    return sum(a.nbytes for name, a in tensors.items() if not name.startswith("names") and name != "counts")


def measured(k: int, given: argparse.Namespace) -> dict[str, float]:
    """One size, in this process."""
    began = time.perf_counter()
    lesson, test, asked = texts_of(k, given.seed)
    found = {"labels": k, "texts": len(lesson.y), "nonzeros": lesson.X.nnz}
    found |= {"generate_s": time.perf_counter() - began, "generate_mb": peak_mb()}
    first: list[float] = []

    def told(_: Phase) -> None:
        first.append(time.perf_counter())

    lesson = Lesson(lesson.X, lesson.y, lesson.weights, k, run=Run(told))
    with linnaeus.threads(given.threads):
        began = time.perf_counter()
        model = LabelTree(**json.loads(given.set)).learn(lesson)
        found["train_s"] = time.perf_counter() - began
    found |= {"cluster_s": first[0] - began} if first else {}
    found["peak_mb"] = peak_mb()
    best, times = timed(model, test)
    hits = best[:, 0] == asked
    found |= {"P@1 macro": 100 * float(hits[: TESTS // 2].mean()), "P@1 micro": 100 * float(hits[TESTS // 2 :].mean())}
    return found | times | {"bytes": bytes_of(model)}


LEFT, BETWEEN, SIDE, HEAD, BOTTOM = 56, 76, 300, 52, 352
"""Pixels: left of the first panel, between both, of a side; where the panels begin and end."""
PANELS = (
    ("P@1, in per cent", False, {"P@1 micro": "labels by Zipf's law", "P@1 macro": "labels drawn uniformly"}),
    ("µs of a prediction", True, {"p50_us": "one text, median", "p99_us": "one text, 99 %", "batch_us": "in a batch"}),
)


def drawing(rows: list[dict[str, float]]) -> str:
    """Both curves as an SVG image; labels on a logarithmic axis, and times on another."""
    wide, high = LEFT + 2 * SIDE + BETWEEN + 16, BOTTOM + 96
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" role="img" '
        f'font-family="sans-serif" font-size="12">{STYLE}<title>Label trees by number of labels</title>'
    )
    bold = 'font-size="15" font-weight="bold"'
    drawn = [head, text(12, 22, "Label trees by number of labels, two training texts for each", bold)]
    for number, (title, log, names) in enumerate(PANELS):
        left = LEFT + number * (SIDE + BETWEEN)
        values = [row[key] for row in rows for key in names]
        limits = (10 ** np.floor(np.log10(min(values))), 10 ** np.ceil(np.log10(max(values)))) if log else (0.0, 100.0)
        sizes = [row["labels"] for row in rows]
        across = Axis(min(sizes) / 1.3, max(sizes) * 1.3, left, left + SIDE, log=True)
        up = Axis(float(limits[0]), float(limits[1]), BOTTOM, HEAD, log)
        drawn += framed(title, across, up)
        for kind, (key, name) in enumerate(names.items()):
            path = [(row["labels"], row[key]) for row in rows]
            layers = Lines([path], kind + 1), Points(path, kind)
            drawn += [draw_layer(layer, (across, up)) for layer in layers]
            drawn.append(text(left + 8, BOTTOM + 54 + 16 * kind, f"■ {name}", f'style="fill:{color(kind + 1)}"'))
    return "\n".join([*drawn, "</svg>\n"])


def framed(title: str, across: Axis, up: Axis) -> list[str]:
    """The frame of a panel with its title and the numbers of its axes."""
    place = f'x="{across.start}" y="{up.end}" width="{SIDE}" height="{up.start - up.end}"'
    drawn = [f'<rect {place} fill="none" stroke="currentColor" stroke-opacity="0.5"/>']
    drawn += [text(across.start, up.end - 8, title), text(across.start + SIDE / 2, up.start + 33, "labels", MIDDLE)]
    drawn += [text(across.at(value), up.start + 16, f"{value:,.0f}", MIDDLE) for value in ticks(across)]
    return drawn + [text(across.start - 5, up.at(value) + 4, f"{value:,g}", END) for value in ticks(up)]


def main() -> None:
    """All sizes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--labels", default="1000,10000,100000,1000000,4500000")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", default="{}", help="settings of the label tree, as JSON")
    parser.add_argument("--svg", type=Path, default=None)
    parser.add_argument("--child", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(measured(given.child, given)), flush=True)
        return
    say_machine()
    say(what="settings", learner=repr(LabelTree(**json.loads(given.set))), threads=given.threads, seed=given.seed)
    rows: list[dict[str, float]] = []
    for k in given.labels.split(","):
        asked = ["--child", k, "--threads", str(given.threads), "--seed", str(given.seed), "--set", given.set]
        done = subprocess.run([sys.executable, __file__, *asked], capture_output=True, text=True, check=False)
        if done.returncode:
            say(what="failed", labels=int(k), why=(done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
            continue
        rows.append(json.loads(done.stdout))
        say(what="scale", **rows[-1])
    if given.svg is not None and rows:
        given.svg.write_text(drawing(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
