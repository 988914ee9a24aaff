"""Dependency trees and their speed: attachment scores, seconds of training, tokens parsed per second, on one thread.

    python benchmarks/parsing.py [--recipes parse,parse-fast] [--part dev] [--tagged] [--seeds 1]

Reads `ud_english_ewt_trees`: gold words, tags and morphology; punctuation counts, and so do subtypes of relations.
Settings were chosen on the development part; `--part test` measures the other one. `--tagged` also measures the parser
with tags by our own tagger: the tags that the parser learns from are out of fold. Prints JSON lines.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import linnaeus
from linnaeus import Recipe, Stage
from linnaeus.data.sentence_reading import read_sentences
from linnaeus.data.sentences import Sentences
from linnaeus.recipes.cookbook import recipe as named
from measure import data_folder, say, say_machine

SHOWN = ("las", "uas", "uas_root", "uas_1", "uas_2", "uas_3_to_6", "uas_7_up", "sentence_accuracy")


def load(part: str) -> Sentences:
    """The sentences of a part with all of their columns."""
    return read_sentences(data_folder() / "ud_english_ewt_trees" / f"{part}.parquet", tags="")


def measure(name: str, recipe: Recipe, part: str) -> None:
    """One training, its file, and the trees of a part."""
    train, test = load("train"), load(part)
    began = time.perf_counter()
    model = recipe.fit(train)
    fit = time.perf_counter() - began
    model.predict(test.slice(0, 10))
    began = time.perf_counter()
    model.predict(test)
    seconds = time.perf_counter() - began
    found = model.evaluate(test)
    with tempfile.TemporaryDirectory() as folder:
        model.save(path := Path(folder) / "parser.lin")
        size = path.stat().st_size
    say(
        recipe=name,
        part=part,
        seed=recipe.seed,
        fit_s=fit,
        tokens_per_s=test.count / seconds,
        **{"bytes": size, **{metric: found.value(metric) for metric in SHOWN}},
        intervals={metric: found.intervals[metric] for metric in ("las", "uas")},
    )


def main() -> None:
    """Every recipe, then the pipeline."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--recipes", default="parse")
    parser.add_argument("--part", default="dev", choices=("dev", "test"))
    parser.add_argument("--tagged", action="store_true")
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    say_machine()
    with linnaeus.threads(1):
        for name in arguments.recipes.split(","):
            for seed in range(arguments.seeds):
                measure(name, named(name).changed({"tuning": None, "seed": seed}), arguments.part)
        if arguments.tagged:
            source = str(data_folder() / "ud_english_ewt_trees" / "train.parquet")
            tagger = Stage("upos", named("pos-crf").changed({"tuning": None}), data=source, truth="upos")
            measure("upos, then parse", named("parse").changed({"tuning": None, "before": (tagger,)}), arguments.part)


if __name__ == "__main__":
    sys.exit(main())
