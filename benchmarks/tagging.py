"""Taggers beside CRFsuite: accuracy, seconds from lists of tokens to a trained model, tokens tagged per second.

    python benchmarks/tagging.py --peer-python PYTHON [--sets ud_english_ewt,conll2003,brown] [--runs 3]

`ud_english_ewt` (UPOS, accuracy), `conll2003` (F1 of entities), and `brown` (tags as stored, every tenth document held
out; no peer). PYTHON has python-crfsuite and pyarrow. CRFsuite gets the plain templates, written as its users write
them; L-BFGS with c1 0.1, c2 0.05 and 60 iterations, the averaged perceptron with 10. Everything runs on one thread, in
turns; medians. Settings were chosen on the development parts. Prints JSON lines.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import linnaeus
from linnaeus import Recipe, Tag
from linnaeus.data.sentences import Sentences
from linnaeus.evaluation import evaluate, observe_tags
from linnaeus.learners.chain.learner import Chain, Greedy
from linnaeus.recipes.cookbook import RECIPES
from linnaeus.recipes.cookbook import recipe as named
from measure import data_folder, say, say_machine
from race.tags_data import load

SETS = {"ud_english_ewt": "upos", "conll2003": "ner", "brown": "tags"}
PERCEPTRON = Chain(loss="perceptron", rule="sgd", rate=1.0, epochs=10)


def ours(column: str) -> dict[str, Recipe]:
    """What is measured: the templates of the peer with both learners, and the recipes with names."""
    encoding = "bio" if column == "ner" else "plain"
    same = {
        "same templates, CRF": Recipe(task=Tag(encoding=encoding)),
        "same templates, perceptron": Recipe(task=Tag(encoding=encoding), learner=PERCEPTRON),
    }
    if column == "tags":  # hundreds of tags: a search over all pairs of them at every token takes long
        greedy = Greedy(loss="perceptron", rule="sgd", rate=1.0, epochs=3)
        return {"greedy, features seen three times": Recipe(task="tag", learner=greedy).changed({"min_count": 3})}
    wanted = "entities" if column == "ner" else "pos"
    names = [name for name, row in RECIPES.items() if row.task == "tag" and name not in ("pos-exact", "pos-cnn")]
    return same | {name: named(name).changed({"tuning": None}) for name in names if name.startswith(wanted)}


def measure(name: str, recipe: Recipe, column: str, test: tuple[Any, Any]) -> dict[str, Any]:
    """One training from lists of tokens, and the tagging of the test part, also from lists."""
    tokens, tags = load(data_folder() / name, "train", column)
    began = time.perf_counter()
    model = recipe.fit(Sentences.from_lists(tokens, tags))
    fit = time.perf_counter() - began
    model.predict(test[0][:10])
    began = time.perf_counter()
    found = model.predict(test[0])
    return {"fit_s": fit, "tag_s": time.perf_counter() - began, "tags": found}


def crfsuite(name: str, algorithm: str, column: str, python: str) -> dict[str, Any] | None:
    """The same by the peer, in its own process."""
    command = [python, str(Path(__file__).parent / "race" / "tags.py"), str(data_folder() / name), column, algorithm]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        say(set=name, peer=f"CRFsuite {algorithm}", skipped=str(error)[:200])
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def judged(test: tuple[Any, Any], found: list[list[str]]) -> float:
    """The headline: accuracy, or F1 of entities."""
    sentences = Sentences.from_lists(*test)
    facts = observe_tags(sentences.offsets, sentences.tags, [tag for tags in found for tag in tags])
    return evaluate(facts, rounds=0).value()


def summed(test: tuple[Any, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians of several runs."""
    tokens = sum(map(len, test[0]))
    tag = statistics.median(row["tag_s"] for row in rows)
    fit = statistics.median(row["fit_s"] for row in rows)
    return {"score": judged(test, rows[0]["tags"]), "fit_s": fit, "tokens_per_s": tokens / tag}


def race(name: str, column: str, arguments: argparse.Namespace) -> None:
    """One set: the peer and ours in turns."""
    test = load(data_folder() / name, "test", column)
    entries = ours(column)
    rows: dict[str, list[dict[str, Any]]] = {}
    for run in range(arguments.runs):
        for algorithm in ("lbfgs", "ap") if name != "brown" else ():
            if (run == 0 or arguments.again) and arguments.peer_python:
                found = crfsuite(name, algorithm, column, arguments.peer_python)
                if found is not None:
                    rows.setdefault(f"CRFsuite {algorithm}", []).append(found)
        for entry, recipe in entries.items():
            rows.setdefault(entry, []).append(measure(name, recipe, column, test))
    medians = {entry: summed(test, found) for entry, found in rows.items()}
    for entry, found in medians.items():
        quick = "perceptron" in entry or entry in ("pos", "entities-fast")
        peer = medians.get("CRFsuite ap" if quick else "CRFsuite lbfgs")
        if peer is not None and not entry.startswith("CRFsuite"):
            found["of_peers_time"] = found["fit_s"] / peer["fit_s"]
        say(set=name, entry=entry, **found)


def main() -> None:
    """All sets."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--peer-python", default="")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--again", action="store_true", help="run the peer as often as ours")
    arguments = parser.parse_args()
    say_machine()
    with linnaeus.threads(1):
        for name in arguments.sets.split(","):
            race(name, SETS[name], arguments)


if __name__ == "__main__":
    sys.exit(main())
