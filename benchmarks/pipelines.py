"""What the stages of a pipeline add: parts of speech to entities, and both to the topic of texts.

    python benchmarks/pipelines.py            # all of it, JSON lines

Every row is one training with one set of features; the effect is reported, whatever it is.
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

from linnaeus import Recipe, Stage, read
from linnaeus.data.sentence_reading import read_sentences
from linnaeus.features import Field, Union, Weighted, Words
from linnaeus.features.tokens import Window
from linnaeus.learners.linear.learner import Linear
from linnaeus.recipes.cookbook import recipe as named
from linnaeus.recipes.tuning import Tuning

DATA = Path(os.environ.get("LINNAEUS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SETS = ("ag_news_small", "trec", "dbpedia_14k")


def entities(with_tags: bool) -> Recipe:
    """The recipe for entities, with or without what the stage before says."""
    recipe = named("entities-fast").changed({"tuning": None})
    if not with_tags:
        return recipe
    items = (*recipe.features.items, Window(("word",), (-1, 0, 1), "pos"))
    return recipe.changed({"features.items": items})


def tagger() -> Stage:
    """The stage that tells parts of speech."""
    return Stage("pos", named("pos").changed({"tuning": None}))


def topic(*columns: str) -> Recipe:
    """Words and pairs of words, and the words of these further columns."""
    blocks = [Weighted(Words(ngrams=(1, 2)), "tfidf", "l2")]
    blocks += [Field(column, Weighted(Words(tokenizer="whitespace"), "tfidf", "l2")) for column in columns]
    tuning = Tuning(strengths=(3.0, 1.0, 0.3, 0.1))
    return Recipe(features=Union(tuple(blocks)), learner=Linear(loss="squared_hinge"), tuning=tuning)


def entity_rows() -> Iterator[dict[str, Any]]:
    """Entities of conll2003: alone, after tags of another corpus, and after tags learned from the same sentences."""
    train, test = (read_sentences(DATA / "conll2003" / f"{part}.parquet", tags="ner") for part in ("train", "test"))
    same = read_sentences(DATA / "conll2003" / "train.parquet", tags="pos")
    other = read_sentences(DATA / "ud_english_ewt" / "train.parquet", tags="upos")
    both = replace(entities(True), before=(tagger(),))
    cases: dict[str, tuple[Recipe, dict[str, Any]]] = {
        "alone": (entities(False), {}),
        "after tags of ud_english_ewt": (both, {"pos": other}),
        "after tags of the same sentences, out of fold": (both, {"pos": same}),
    }
    for name, (recipe, stages) in cases.items():
        began = time.perf_counter()
        model = recipe.fit(train, stages=stages)
        found = model.evaluate(test, rounds=0)
        facts = {"seconds": round(time.perf_counter() - began, 1), "trained": model.facts.get("stages", {})}
        yield {"set": "conll2003", "stages": name, "f1": round(100 * found.value("f1"), 2), **facts}


def topic_rows() -> Iterator[dict[str, Any]]:
    """Topics of texts: words alone, and with what taggers trained elsewhere say."""
    tags = read_sentences(DATA / "ud_english_ewt" / "train.parquet", tags="upos")
    names = read_sentences(DATA / "conll2003" / "train.parquet", tags="ner")
    stages = (tagger(), Stage("ner", entities(True)))
    cases = {"words": (), "words, entities": ("ner.entities",), "words, tagged words": ("pos.words",)}
    cases["words, tagged words, entities"] = ("pos.words", "ner.entities")
    for name in SETS:
        train, test = (read(DATA / name / f"{part}.parquet").load() for part in ("train", "test"))
        for said, columns in cases.items():
            recipe = replace(topic(*columns), before=stages if columns else ())
            began = time.perf_counter()
            model = recipe.fit(train, stages={"pos": tags, "ner": names} if columns else {})
            batch = test.batch()
            right = model.predict(batch.take(range(len(batch)))) == batch.labels.to_numpy(zero_copy_only=False)
            seconds = round(time.perf_counter() - began, 1)
            yield {"set": name, "features": said, "accuracy": round(100 * float(right.mean()), 2), "seconds": seconds}


def main() -> None:
    """Print every row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("entities", "topics"))
    only = parser.parse_args().only
    for name, rows in (("entities", entity_rows), ("topics", topic_rows)):
        if only in (None, name):
            for row in rows():
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
