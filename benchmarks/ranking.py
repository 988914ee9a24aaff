"""Choices among candidates: reading comprehension, entity linking, what each feature adds, and speed.

    python benchmarks/ranking.py [reading] [linking] [proposing] [speed] [--rows 0:4]

Reading: `mctest_mc500` and `mctest_mc160`, the recipe `reading` trained on train + dev, its strength chosen by
cross-validation over stories. Linking: `aida_conll` with its stored candidates, the recipe `linking` trained on train,
against the most popular candidate. Proposing: the recipe `tree-linking` on the same mentions without their candidates;
all titles of the set are labels of its tree, and `recall` is the share of mentions whose page is proposed. Ablations
leave out one kind of feature at a time; they are judged by cross-validation (reading) and on dev (linking), and the
test figure stands beside them; `--rows` runs some rows of their tables. JSON lines.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from linnaeus import Recipe, kernels
from linnaeus.data.group_reading import read_groups
from linnaeus.data.groups import Groups
from linnaeus.features.pairs import Joined, Measured, Passage
from linnaeus.features.pairs.reading import CLUES
from linnaeus.recipes.cookbook import recipe as named
from measure import clock, data_folder, say, say_machine


def part(name: str, *pieces: str) -> Groups:
    """Some parts of a set together."""
    return read_groups(pa.concat_tables([pq.read_table(data_folder() / name / f"{piece}.parquet") for piece in pieces]))


def readers() -> Iterator[tuple[str, Recipe]]:
    """The whole recipe, then without each clue, then with one alone, then without kinds of questions."""
    whole = named("reading")
    yield "all clues", whole
    for clue in CLUES:
        rest = tuple(name for name in CLUES if name != clue)
        yield f"without {clue}", replace(whole, features=Measured((Passage(clues=rest),), question="text"))
    for clue in CLUES:
        yield f"{clue} alone", replace(whole, features=Measured((Passage(clues=(clue,)),), question="text"))
    yield "no kinds of questions", replace(whole, features=Measured((Passage(),)))


def reading(rows: slice) -> None:
    """Accuracy of the whole recipe on both sets; the ablation on the larger."""
    for name in ("mctest_mc500", "mctest_mc160"):
        known, asked = part(name, "train", "dev"), part(name, "test")
        kinds = asked.columns["kind"].to_pylist()
        for what, recipe in _some(readers(), rows if name == "mctest_mc500" else slice(0, 1 if rows.start == 0 else 0)):
            model = recipe.fit(known)
            right = model.task.choices(model, asked) == asked.answers()
            one = np.array([kind == "one" for kind in kinds])
            by_kind = {"one_sentence": float(right[one].mean()), "several": float(right[~one].mean())}
            held_out = model.facts["held_out"]["accuracy"]
            say(task="reading", set=name, what=what, held_out=held_out, test=float(right.mean()), **by_kind)


def linkers() -> Iterator[tuple[str, Recipe]]:
    """The whole recipe, then without each measure and each block."""
    whole = named("linking")
    parts = whole.features.parts
    yield "whole", whole
    for i, measure in enumerate(parts[0].measures[:-1]):
        rest = (*parts[0].measures[:i], *parts[0].measures[i + 1 :])
        name = f"{type(measure).__name__}{' by document' if getattr(measure, 'by', None) else ''}"
        yield f"without {name}", replace(whole, features=Joined((Measured(rest), *parts[1:])))
    yield "without Described", replace(whole, features=Joined((parts[0], parts[2])))
    yield "without Crossed", replace(whole, features=Joined(parts[:2]))
    yield "measures alone", replace(whole, features=parts[0])


def linking(rows: slice) -> None:
    """Micro accuracy on dev and test beside the most popular candidate."""
    known, dev, test = (part("aida_conll", piece) for piece in ("train", "dev", "test"))
    for name, groups in (("dev", dev), ("test", test)):
        say(task="linking", what="the most popular candidate", part=name, accuracy=float(np.mean(popular(groups))))
    for what, recipe in _some(linkers(), rows):
        model = recipe.fit(known)
        on_dev, on_test = model.evaluate(dev), model.evaluate(test)
        more = {"test_mrr": on_test.value("reciprocal-rank"), "test_recall_3": on_test.value("recall-at-3")}
        say(task="linking", what=what, dev=on_dev.value("accuracy"), test=on_test.value("accuracy"), **more)


def proposing(rows: slice) -> None:
    """The recipe `tree-linking`, without the stored candidates: all titles of the set are labels of its tree."""
    del rows
    known, dev, test = (part("aida_conll", piece) for piece in ("train", "dev", "test"))
    titles = sorted({title for groups in (known, dev, test) for title in groups.candidates.to_pylist()})
    recipe = named("tree-linking")
    began = time.perf_counter()
    model = recipe.fit(known.unlisted(), stages={"titles": [(title, title) for title in titles]})
    seconds = time.perf_counter() - began
    for name, groups in (("dev", dev), ("test", test)):
        shown = model.ready(groups.unlisted())
        say(
            task="proposing",
            part=name,
            titles=len(titles),
            proposed=recipe.task.proposed,
            train_s=seconds,
            recall=float(np.mean(shown.answers() >= 0)),
            accuracy=model.evaluate(groups.unlisted()).value("accuracy"),
        )


def popular(groups: Groups) -> np.ndarray:
    """Whether the candidate with the most links is right, for each example."""
    links = groups.details["in_links"].to_numpy()
    bounds = groups.offsets
    return np.array([groups.gold[a + int(np.argmax(links[a:b]))] for a, b in pairwise(bounds)])


def speed(rows: slice) -> None:
    """Mentions per second from Arrow to scores: the test part, and 10,000 mentions with 30 candidates each."""
    del rows
    known, test = part("aida_conll", "train"), part("aida_conll", "test")
    model = named("linking").changed({"learner.epochs": 30}).fit(known)
    for name, groups in (("test", test), ("10,000 x 30", _wide(known))):
        for threads in (1, 2):
            with kernels.threads(threads):
                found = clock(lambda groups=groups: model.scores(groups), 7)
            say(task="speed", what=name, threads=threads, mentions_per_second=len(groups) / found["seconds"],
                candidates_per_second=len(groups.candidates) / found["seconds"], **found)  # fmt: skip


def _wide(groups: Groups) -> Groups:
    """10,000 mentions of those with at least 30 candidates, cut to 30; mentions return, as in news."""
    many = groups.take(np.resize(np.flatnonzero(np.diff(groups.offsets) >= 30), 10_000))
    kept = pa.array(np.flatnonzero(np.arange(len(many.candidates)) - many.offsets[many.group] < 30))
    details = {name: values.take(kept) for name, values in many.details.items()}
    return Groups(np.arange(10_001) * 30, many.text, many.candidates.take(kept), columns=many.columns, details=details)


def _some(named: Iterator[tuple[str, Recipe]], rows: slice) -> Iterator[tuple[str, Recipe]]:
    return islice(named, rows.start, rows.stop)


TASKS = {"reading": reading, "linking": linking, "proposing": proposing, "speed": speed}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="*", choices=[*TASKS, []])
    parser.add_argument("--rows", default="0:99")
    asked = parser.parse_args()
    say_machine()
    for chosen in asked.tasks or TASKS:
        TASKS[chosen](slice(*map(int, asked.rows.split(":"))))
