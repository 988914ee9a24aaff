"""Lemmas: how many are right, how fast, and what they add to the classification of texts.

    python benchmarks/lemmas.py               # all of it, JSON lines
    python benchmarks/lemmas.py --only lemmas --part dev

Settings were chosen on the dev part. Texts are lemmatized by a pipeline that is trained on a treebank: parts of speech,
then lemmas. The effect is reported, whatever it is.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from linnaeus import Model, Recipe, Stage, read
from linnaeus.data.sentence_reading import read_sentences
from linnaeus.data.sentences import Sentences
from linnaeus.features import Field, Union, Weighted, Words
from linnaeus.learners.linear.learner import Linear
from linnaeus.recipes.cookbook import recipe as named
from linnaeus.recipes.tuning import Tuning

DATA = Path(os.environ.get("LINNAEUS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
TREES = DATA / "ud_english_ewt_trees"
SETS = ("trec", "mr", "r8")
ROUNDS = 3
"""Predictions of which the fastest counts."""


def sentences(part: str, tags: str) -> Sentences:
    """A part of the treebank with these tags."""
    return read_sentences(TREES / f"{part}.parquet", tags=tags)


def stage(name: str, recipe: str) -> Stage:
    """A stage that is not evaluated by itself."""
    return Stage(name, named(recipe).changed({"tuning": None}))


def plain(found: Sentences, columns: tuple[str, ...]) -> Sentences:
    """The sentences with only these columns beside the tokens."""
    return replace(found, columns={name: found.columns[name] for name in columns})


def lemma_rows(part: str) -> Iterator[dict[str, Any]]:
    """Lemmas with the tags of the treebank, with fewer, with none, and after taggers."""
    train, test = sentences("train", "lemmas"), sentences(part, "lemmas")
    recipe = named("lemmas").changed({"tuning": None})
    for columns in (("upos", "xpos", "feats"), ("xpos",), ("upos",), ()):
        began = time.perf_counter()
        model = recipe.fit(plain(train, columns))
        seconds = time.perf_counter() - began
        yield judged(", ".join(columns) or "none", model, plain(test, columns), seconds)
    for names in (("upos",), ("upos", "xpos")):
        began = time.perf_counter()
        whole = replace(recipe, before=tuple(stage(name, "pos") for name in names))
        model = whole.fit(plain(train, ()), stages={name: sentences("train", name) for name in names})
        seconds = time.perf_counter() - began
        yield judged(f"predicted {', '.join(names)}", model, plain(test, ()), seconds)


def judged(tags: str, model: Model, test: Sentences, seconds: float) -> dict[str, Any]:
    """Shares of right lemmas, the time of training, and tokens per second."""
    found = model.evaluate(test, rounds=0)
    names = ("accuracy", "known_accuracy", "unknown_accuracy", "sentence_accuracy")
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        model.predict(test)
        times.append(time.perf_counter() - began)
    shares = {name: round(100 * found.value(name), 2) for name in names}
    return {"tags": tags, **shares, "seconds": round(seconds, 1), "tokens_per_second": round(test.count / min(times))}


def topic(*blocks: Words | Field) -> Recipe:
    """A squared hinge over tf-idf values of these features."""
    weighted = tuple(Weighted(block, "tfidf", "l2") for block in blocks)
    tuning = Tuning(strengths=(3.0, 1.0, 0.3, 0.1))
    return Recipe(features=Union(weighted), learner=Linear(loss="squared_hinge"), tuning=tuning)


def text_rows() -> Iterator[dict[str, Any]]:
    """The accuracy on text sets: words and pairs of words, of their stems, of their lemmas, of both."""
    stages = {name: sentences("train", tags) for name, tags in (("upos", "upos"), ("lemma", "lemmas"))}
    before = (stage("upos", "pos"), stage("lemma", "lemmas"))
    words = Words(ngrams=(1, 2))
    lemmas = Field("lemma.tags", words)
    cases = {
        "words": topic(words),
        "stems": topic(replace(words, stem="english")),
        "lemmas": replace(topic(lemmas), before=before),
        "words, lemmas": replace(topic(words, lemmas), before=before),
    }
    for name in SETS:
        train, test = (read(DATA / name / f"{part}.parquet").load() for part in ("train", "test"))
        for said, recipe in cases.items():
            began = time.perf_counter()
            model = recipe.fit(train, stages=stages if recipe.before else {})
            seconds = round(time.perf_counter() - began, 1)
            shares = {
                "cross_validation": round(100 * model.account.value("accuracy"), 2),
                "test": round(100 * model.evaluate(test, rounds=0).value("accuracy"), 2),
            }
            yield {"set": name, "features": said, **shares, "seconds": seconds}


def main() -> None:
    """Print every row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("lemmas", "texts"))
    parser.add_argument("--part", choices=("dev", "test"), default="test")
    asked = parser.parse_args()
    for name, rows in (("lemmas", lambda: lemma_rows(asked.part)), ("texts", text_rows)):
        if asked.only in (None, name):
            for row in rows():
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
