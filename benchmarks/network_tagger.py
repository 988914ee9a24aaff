"""The tagger that is a network beside linear chains: accuracy on `ud_english_ewt` (UPOS) over seeds.

    python benchmarks/network_tagger.py [--seeds 5] [--dev] [--recipes pos-cnn,pos,pos-crf] [--set learner.width=64]

Trained on the train part only; `held_out` sentences of it, by which the network stops, are not learned from. Settings
were chosen with `--dev`. `--set` changes settings of the network. JSON lines: one for each training, and then means
with 95 % intervals (t) over the seeds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

from scipy.stats import t as student

from linnaeus.data.sentences import Sentences
from linnaeus.kernels import thread_count
from linnaeus.recipes.cookbook import recipe as named
from measure import data_folder, say, say_machine
from race.tags_data import load

NAME, COLUMN = "ud_english_ewt", "upos"


def sentences(part: str) -> Sentences:
    """A part of the treebank."""
    return Sentences.from_lists(*load(data_folder() / NAME, part, COLUMN))


def measure(recipe: Any, train: Sentences, test: Sentences, seed: int) -> dict[str, float]:
    """One training, and the tags of the test part."""
    began = time.perf_counter()
    model = recipe.changed({"tuning": None, "seed": seed}).fit(train)
    fit = time.perf_counter() - began
    began = time.perf_counter()
    accuracy = model.evaluate(test, rounds=0).value("accuracy")
    return {"accuracy": accuracy, "fit_s": fit, "test_s": time.perf_counter() - began}


def interval(values: list[float]) -> dict[str, float | None]:
    """The mean, and half the width of its 95 % interval."""
    mean, n = statistics.fmean(values), len(values)
    half = None if n < 2 else float(student.ppf(0.975, n - 1)) * statistics.stdev(values) / n**0.5
    return {"mean": mean, "plus_minus": half, "lowest": min(values)}


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--dev", action="store_true")
    parser.add_argument("--recipes", default="pos-cnn,pos,pos-crf")
    parser.add_argument("--set", action="append", default=[])
    given = parser.parse_args()
    say_machine()
    train, test = sentences("train"), sentences("dev" if given.dev else "test")
    for name in given.recipes.split(","):
        recipe = named(name)
        if name == "pos-cnn" and given.set:
            recipe = recipe.changed(
                {path: json.loads(value) for path, value in (part.split("=", 1) for part in given.set)}
            )
        found = [measure(recipe, train, test, seed) for seed in range(given.seeds)]
        for seed, one in enumerate(found):
            say(recipe=name, part="dev" if given.dev else "test", seed=seed, threads=thread_count(), **one)
        seconds = statistics.median(one["fit_s"] for one in found)
        say(recipe=name, seeds=given.seeds, fit_s=seconds, **interval([one["accuracy"] for one in found]))


if __name__ == "__main__":
    main()
