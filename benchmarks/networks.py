"""Networks on short texts: Kim's convolutional network beside linear recipes, and one factor at a time.

    python benchmarks/networks.py --vectors VECTORS [--sets mr sst2 trec] [--seeds 5] [--factors] [--dev] [--device cpu]

VECTORS are trained on the shared text, which has no text of these sets:

    python benchmarks/shared_text.py shared.txt
    linnaeus vectors train shared.txt --format lines --keep-case --width 300 -o shared.lin

The network is the recipe `cnn` with words as they are written, those that occur once included, and dropout 0.5. Every
entry is trained on the training part and judged on the test part, with each seed; `--dev` judges on a tenth of the
training part instead, by which settings are chosen. A tenth of the rows a network learns from tells it when to stop.
The interval is that of the mean, by Student's t. `--factors` changes one thing at a time, with 3 seeds: the tables
(random, static, started, both), the pool (max, mean, attention), and the depth. JSON lines.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from linnaeus.features import WordSequence
from linnaeus.learners.networks import Convolution, DeepConvolution, SequenceNetwork
from linnaeus.recipes.cookbook import recipe
from linnaeus.recipes.recipe import Recipe
from linnaeus.text.normalize import Normalize
from measure import data_folder, say, say_machine

SETS = ("mr", "sst2", "trec")
T95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}
"""The factor of the standard error for a 95 % interval of the mean of so many seeds."""

Rows = list[tuple[str, str]]


def part(name: str, which: str) -> Rows:
    """The texts and labels of a part of a data set."""
    table = pq.read_table(data_folder() / name / f"{which}.parquet").to_pydict()
    return list(zip(table["text"], map(str, table["label"]), strict=True))


def split(name: str, dev: bool) -> tuple[Rows, Rows]:
    """What is learned from, and what is judged on."""
    rows = part(name, "train")
    if not dev:
        return rows, part(name, "test")
    order = np.random.default_rng(7).permutation(len(rows))
    cut = len(rows) // 10
    return [rows[i] for i in order[cut:]], [rows[i] for i in order[:cut]]


def network(device: str, encoder: Any) -> Recipe:
    """The recipe of a network, without cross-fitting: only its answers are wanted."""
    base = recipe("cnn")
    learner = replace(base.learner, encoder=encoder, dropout=0.5, device=device)
    assert isinstance(learner, SequenceNetwork)
    return replace(base, features=WordSequence(normalize=Normalize(case=None)), learner=learner, tuning=None)


def entries(vectors: str, device: str) -> dict[str, Recipe]:
    """What stands in the first table."""
    return {
        "cnn": network(device, Convolution(vectors=vectors)),
        "default": recipe("default"),
        "nb-svm": recipe("nb-svm"),
    }


def factors(vectors: str, device: str) -> dict[str, Recipe]:
    """One factor at a time: the tables, the pool, the depth."""
    tables = {
        "random": Convolution(width=100),
        **{name: Convolution(vectors=vectors, lookup=name) for name in ("static", "started", "both")},
    }
    pools = {name: Convolution(vectors=vectors, pool=name) for name in ("max", "mean", "attention")}
    depths = {"shallow": Convolution(vectors=vectors), "deep": DeepConvolution(vectors=vectors)}
    named = {"table": tables, "pool": pools, "depth": depths}
    return {f"{kind}={name}": network(device, one) for kind, group in named.items() for name, one in group.items()}


def judge(what: str, data: str, chosen: Recipe, seeds: int, dev: bool) -> None:
    """The accuracy of a recipe on a data set with each seed, its mean and interval."""
    learned, asked = split(data, dev)
    found, seconds, epochs = [], [], []
    truth = np.array([label for _, label in asked])
    for seed in range(seeds):
        start = time.perf_counter()
        model = replace(chosen, seed=seed).fit(learned)
        seconds.append(time.perf_counter() - start)
        found.append(100 * float(np.mean(model.predict([text for text, _ in asked]) == truth)))
        if model.body is not None:
            epochs.append(model.body.facts["epochs"])
    mean = statistics.fmean(found)
    half = T95[seeds] * statistics.stdev(found) / seeds**0.5 if seeds in T95 else 0.0
    more = {"epochs": statistics.fmean(epochs)} if epochs else {}
    told = {"accuracy": mean, "low": mean - half, "high": mean + half, "seconds": statistics.median(seconds)}
    say(what=what, data=data, part="dev" if dev else "test", seeds=seeds, **told, each=found, **more)


def main() -> None:
    """Every entry on every data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--factors", action="store_true")
    parser.add_argument("--dev", action="store_true")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--entries", nargs="+", help="only these entries")
    asked = parser.parse_args()
    say_machine()
    made = factors if asked.factors else entries
    for data in asked.sets:
        for name, chosen in made(asked.vectors, asked.device).items():
            if asked.entries is None or name in asked.entries:
                linear = chosen.tuning is not None
                seeds = 1 if linear else min(3, asked.seeds) if asked.factors else asked.seeds
                judge(name, data, chosen, seeds, asked.dev)


if __name__ == "__main__":
    main()
