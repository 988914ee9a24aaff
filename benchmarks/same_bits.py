"""Do two versions, and any number of threads, give the same answers to the bit?

    python benchmarks/same_bits.py [--threads 1,2,5] [--only "default;pos"] [--against PYTHON]

Two dozen recipes over all tasks, trained on parts of real data sets and asked about rows they have not seen. Each line
has the SHA-256 of the predictions and of the probabilities (scores for numbers), or the error where a model refuses.
They must be equal for any number of threads, and after saving and loading. PYTHON is the interpreter of an environment
with another version of Linnaeus: the same script runs there, and what differs is reported. JSON lines; the exit code is
1 if anything differs. The functions at the end know how the version before recipes had a task was called.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import linnaeus
from linnaeus import Recipe, errors, read
from linnaeus.features import Field, Words
from measure import data_folder, say


class Case(NamedTuple):
    """A recipe by name, a data set, its columns, and how many of its rows to learn from."""

    recipe: str
    data: str
    rows: int
    columns: dict[str, str] = {"text": "text", "label": "label"}  # noqa: RUF012
    task: str = "text"


TAGS = {"tokens": "tokens"}
SETS = {"text": "text", "labels": "labels"}
CHOICES = {"text": "mention", "candidates": "candidates", "answer": "answer"}

CASES = {
    "default": Case("default", "trec", 2000),
    "default, many classes": Case("default", "banking77", 800),
    "fast": Case("fast", "r8", 2000),
    "words": Case("words", "sms_spam", 4000),
    "logistic": Case("logistic", "trec", 2000),
    "svm": Case("svm", "trec", 2000),
    "multiclass-svm": Case("multiclass-svm", "trec", 2000),
    "nb-svm": Case("nb-svm", "mr", 2000),
    "naive-bayes": Case("naive-bayes", "r8", 2000),
    "lda": Case("lda", "trec", 1500),
    "knn": Case("knn", "trec", 1500),
    "knn-metric": Case("knn-metric", "trec", 1000),
    "nearest-centroid": Case("nearest-centroid", "banking77", 2000),
    "decision-tree": Case("decision-tree", "sms_spam", 1500),
    "adaboost": Case("adaboost", "sms_spam", 1500),
    "kernel-ridge": Case("kernel-ridge", "trec", 800),
    "ridge, numbers": Case("ridge", "sst5", 2000, task="numbers"),
    "default, label sets": Case("default", "goemotions", 1500, SETS, "sets"),
    "logistic, label sets": Case("logistic", "reuters90", 1000, SETS, "sets"),
    "pos": Case("pos", "ud_english_ewt", 2000, {**TAGS, "tags": "upos"}, "tags"),
    "pos-crf": Case("pos-crf", "ud_english_ewt", 800, {**TAGS, "tags": "upos"}, "tags"),
    "entities": Case("entities", "conll2003", 1500, {**TAGS, "tags": "ner"}, "tags"),
    "plain": Case(
        "plain", "aida_conll", 400, {"text": "mention", "candidates": "candidates", "answer": "answer"}, "groups"
    ),
    "reading": Case("reading", "mctest_mc160", 280, {}, "groups"),
    "linking": Case("linking", "aida_conll", 2000, {}, "groups"),
    "pipeline": Case("pos", "trec", 1500, task="pipeline"),
}
"""What is trained, on what."""

ASKED = 500
"""Rows that each model is asked about."""


def part(case: Case, name: str, rows: int) -> pa.Table:
    """Some rows of a part of a data set, in an order that is always the same; sorted files are mixed."""
    table = pq.read_table(data_folder() / case.data / f"{name}.parquet")
    if case.task == "groups":  # rows of one story or document stay together
        table = table.slice(0, rows)
    else:
        table = table.take(np.random.default_rng(0).permutation(len(table))[:rows])
    if case.columns:
        table = pa.table({new: table[old] for new, old in case.columns.items()})
    if case.task == "numbers":
        grades = {grade: float(i) for i, grade in enumerate(sorted(set(table["label"].to_pylist())))}
        table = table.set_column(1, "label", pa.array([grades[grade] for grade in table["label"].to_pylist()]))
    return table


def parts(case: Case, folder: Path) -> tuple[Any, Any]:
    """What the case learns from and what it is asked, as its task reads them."""
    files = folder / "train.parquet", folder / "test.parquet"
    for file, name, rows in zip(files, ("train", "test"), (case.rows, ASKED), strict=True):
        pq.write_table(part(case, name, rows), file)
    if case.task == "tags":
        return linnaeus.read_sentences(files[0]), linnaeus.read_sentences(files[1])
    if case.task == "groups":
        return linnaeus.read_groups(files[0]), linnaeus.read_groups(files[1])
    kinds = {"sets": {"label_kind": "many"}, "numbers": {"label_kind": "numeric"}}
    options = kinds.get(case.task, {})
    return read(files[0], **options).load(), read(files[1], **options).load().batch()


def topics() -> Recipe:
    """Words, and the words with their parts of speech that the stage before tells."""
    return named("logistic").changed({"features": Words() | Field("pos.words", Words(tokenizer="whitespace"))})


def answers(model: Any, asked: Any, task: str) -> dict[str, str]:
    """Digests of what a model says about rows."""
    found = {"predictions": digest(lambda: plain(predict(model, asked, task)))}
    found["probabilities"] = digest(lambda: numbers(probabilities(model, asked, task)))
    return found


def digest(make: Callable[[], bytes]) -> str:
    """The SHA-256 of what is said, shortened; the first words of the refusal where a model has no answer."""
    try:
        return hashlib.sha256(make()).hexdigest()[:16]
    except (errors.LinnaeusError, AttributeError) as error:
        return f"refused: {type(error).__name__}"


def plain(said: Any) -> bytes:
    """Labels, sets of labels or tags as JSON."""
    return json.dumps([_listed(answer) for answer in said]).encode()


def _listed(answer: Any) -> Any:
    if isinstance(answer, np.generic):
        return answer.item()
    return answer if isinstance(answer, str | float | int | None) else [_listed(part) for part in answer]


def numbers(found: Any) -> bytes:
    """The bytes of an array of doubles."""
    return np.ascontiguousarray(found, np.float64).tobytes()


def run(name: str, threads: int) -> dict[str, Any]:
    """Train one case, ask it, save it, load it, ask again."""
    case = CASES[name]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as place, linnaeus.threads(threads):
        known, asked = parts(case, Path(place))
        model = trained(case, known, Path(place))
        found = answers(model, asked, case.task)
        model.save(Path(place) / "model.lin")
        again = answers(linnaeus.load(Path(place) / "model.lin"), asked, case.task)
    return {"case": name, "threads": threads, **found, "loaded_same": again == found, "s": time.perf_counter() - began}


def compare(rows: list[dict[str, Any]], other: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What differs between threads, after loading, and from the other version."""
    before = {row["case"]: row for row in other}
    for name in dict.fromkeys(row["case"] for row in rows):
        mine = [row for row in rows if row["case"] == name]
        found: dict[str, Any] = {"case": name, "loaded_same": all(row["loaded_same"] for row in mine)}
        for what in ("predictions", "probabilities"):
            found[f"{what}_same_for_threads"] = len({row[what] for row in mine}) == 1
            if name in before:
                found[f"{what}_same_as_before"] = mine[0][what] == before[name][what]
        yield found


def main() -> int:
    """Run the cases here, and with another version if there is one; say what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2,5")
    parser.add_argument("--only", default="", help="cases, separated by semicolons")
    parser.add_argument("--against", metavar="PYTHON")
    options = parser.parse_args()
    names = options.only.split(";") if options.only else list(CASES)
    say(package=linnaeus.__file__)
    rows, other = [], []
    for name in names:
        for threads in map(int, options.threads.split(",")):
            rows.append(run(name, threads))
            say(**rows[-1])
    if options.against:
        command = [options.against, __file__, "--threads", "1", "--only", ";".join(names)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        say(against=lines[0]["package"])
        other = [row for row in lines if "threads" in row]
    found = list(compare(rows, other))
    for row in found:
        say(**row)
    return 0 if all(row[key] for row in found for key in row if "same" in key) else 1


# How this version and the one before are called.

BEFORE = not (Path(linnaeus.__file__).parent / "tasks").is_dir()


def named(name: str) -> Any:
    """A recipe by name."""
    if not BEFORE:
        from linnaeus.recipes.cookbook import recipe

        return recipe(name)
    from linnaeus.pipeline.cookbook import RECIPES
    from linnaeus.pipeline.ranking import RANKERS
    from linnaeus.pipeline.tagging import TAGGERS

    return {**RECIPES, **TAGGERS}[name].make() if name not in RANKERS else RANKERS[name]()


def trained(case: Case, known: Any, folder: Path) -> Any:
    """The model of a case."""
    if case.task != "pipeline":
        return named(case.recipe).fit(known)
    tags = CASES["pos"]._replace(rows=1000)
    pq.write_table(part(tags, "train", tags.rows), folder / "tags.parquet")
    sentences = linnaeus.read_sentences(folder / "tags.parquet")
    if not BEFORE:
        stage = linnaeus.Stage("pos", named(case.recipe))
        return replace(topics(), before=(stage,)).fit(known, stages={"pos": sentences})
    from linnaeus.pipeline.stack import StackRecipe, Stage

    stages = Stage("pos", named(case.recipe)), Stage("topic", topics())
    return StackRecipe(stages).fit({"pos": sentences, "topic": known})


def predict(model: Any, asked: Any, task: str) -> Any:
    """The answers."""
    return model.tag(asked) if BEFORE and task == "tags" else model.predict(asked)


def probabilities(model: Any, asked: Any, task: str) -> Any:
    """Probabilities, or scores of numbers."""
    if task == "numbers":
        return model.scores(asked)
    if not BEFORE:
        return model.probabilities(asked)
    if task == "tags":
        return model.marginals(asked)
    if task == "groups":
        return model.probabilities(asked)[0]
    return model.last.probabilities(model.ready(asked)) if task == "pipeline" else model.probabilities(asked)


if __name__ == "__main__":
    sys.exit(main())
