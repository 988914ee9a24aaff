"""Write the golden files of the present format: small model files that every later version must read.

    python tools/write_golden.py [FOLDER]

A file that is there is never written again: it shows what a version of the past wrote. When the format gets a new
number (`linnaeus.store.header.FORMAT`), or a new kind of file is added to the table below, run this once and commit
what it wrote. `tests/store/test_golden.py` and `tests/model/test_golden.py` read all of them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np

from linnaeus import Model, Rank, Recipe, Stage, Tag, recipe, store
from linnaeus.data.sentences import Sentences
from linnaeus.features import Affixes, Chars, Columns, Hashed, Shape, Words, save
from linnaeus.features.arcs import Arcs
from linnaeus.learners.dependencies import Dependencies
from linnaeus.learners.label_tree import LabelTree
from linnaeus.learners.linear.learner import Linear
from linnaeus.recipes.tuning import Tuning
from linnaeus.store.header import DTYPES, FORMAT
from linnaeus.types import Json, State

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "golden"
SENTENCES = ["a red apple", "a glass of red wine", "two green pears", "apple juice"]
ROWS = list(zip(SENTENCES * 8, ["fruit", "drink"] * 16, strict=True))
TEXTS = ["Two red apples", "one green apple, two pears", "red wine", ""]


def example() -> State:
    """A state with every type of tensor, and every kind of value in its manifest."""
    numbers = {kind: np.array([[0, 1], [1, 0]]).astype(kind) for kind in DTYPES.values()}
    manifest: Json = {"kind": "example", "values": [None, True, -1, 0.1, "grün", {"a": []}]}
    return State(manifest, {**numbers, "empty": np.zeros((0, 3), np.float32), "one": np.array(7, np.int64)})


def write_state(path: Path) -> None:
    """A plain state; the test knows what is in it."""
    store.save(path, example())


def write_features(path: Path) -> None:
    """Fitted features, and beside them which rows they make of some texts."""
    words = Words(ngrams=(1, 2), values="tfidf", length="l2")
    fitted = (words | Chars(2, 3, terms=Hashed(4)) | Affixes(prefixes=(2,), suffixes=(1,)) | Shape()).fit(TEXTS)
    save(path, fitted)
    rows = [[round(float(value), 5) for value in row] for row in fitted.rows(TEXTS).to_scipy().toarray()]
    text = json.dumps({"texts": TEXTS, "names": list(fitted.names()), "rows": rows}, ensure_ascii=False)
    path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


def trained() -> Model:
    """A classifier with every part that a file can have: counted words, hashed characters, a tuned decision."""
    features = Words(ngrams=(1, 2), values="tfidf", length="l2") | Chars(2, 3, terms=Hashed(4))
    return Recipe(features=features, learner=Linear(loss="squared_hinge"), tuning=Tuning(strengths=(1.0, 0.1))).fit(
        ROWS
    )


def write_classifier(path: Path) -> None:
    """A trained classifier, and beside it what it answers."""
    write_answers(path, trained(), [*SENTENCES, *TEXTS])


def write_tagger(path: Path) -> None:
    """A tagger with a dictionary of words."""
    tagged = [[("a", "D"), ("red", "J"), ("apple", "N")], [("two", "D"), ("pears", "N")]] * 3
    write_answers(path, Recipe(task=Tag(dictionary=2)).fit(tagged), [["a", "red", "pear"], []])


def write_parser(path: Path) -> None:
    """A parser of two passes."""
    rows = [["a", "red", "apple", "falls"], ["pears", "fall"]] * 3
    columns = {
        "heads": [["3", "3", "4", "0"], ["2", "0"]] * 3,
        "relations": [["det", "amod", "nsubj", "root"], ["nsubj", "root"]] * 3,
    }
    features, learner = Arcs(bits=8, relation_bits=6), Dependencies(epochs=2)
    model = Recipe(task="parse", features=features, learner=learner).fit(Sentences.from_lists(rows, columns=columns))
    write_answers(path, model, [["red", "pears", "fall"], []])


def write_lemmas(path: Path) -> None:
    """A tagger whose tags are lemmas."""
    pairs = [[("dogs", "dog"), ("barked", "bark")], [("Cats", "cat"), ("walked", "walk"), ("logs", "log")]] * 3
    write_answers(path, recipe("lemmas").fit(pairs), [["frogs", "talked"], []])


def write_ranker(path: Path) -> None:
    """A ranker that may choose nothing."""
    rows: Json = [
        {"text": text, "candidates": ["fruit", text[-5:]], "answer": i % 2} for i, text in enumerate(SENTENCES)
    ]
    write_answers(path, Recipe(task=Rank(none="option")).fit(rows * 3), rows)


def write_pipeline(path: Path) -> None:
    """A classifier after a classifier."""
    stages = (Stage("first", Recipe(features=Words()), folds=2),)
    features = Words() | Columns(categorical=("first",))
    write_answers(path, Recipe(features=features, before=stages).fit(ROWS, stages={"first": ROWS}), TEXTS)


def labeled() -> Model:
    """A model of many labels, a tree of sets of labels, which was updated."""
    rows = [
        (f"{color} {thing}", [color, thing]) for color in ("red", "green") for thing in ("apple", "pear", "wine", "cup")
    ]
    made = Recipe(task="many", features=Words(), learner=LabelTree(leaf=2, width=2), tuning=Tuning(folds=1))
    return made.fit(rows * 3).updated([("a green glass", ["glass", "green"])], remove=["cup"])


def write_labels(path: Path) -> None:
    """A label tree in few bytes, and beside it the labels that it ranks best."""
    write_ranks(path, labeled())


def write_mapped_labels(path: Path) -> None:
    """A label tree as it lies in memory, which only large ones are else."""
    with patch("linnaeus.learners.label_tree.fitted.MAPPED", 0):
        write_ranks(path, labeled())


def write_ranks(path: Path, model: Model) -> None:
    """A model of many labels, and beside it what it predicts and ranks."""
    model.save(path, force=True)
    asked = [*SENTENCES, *TEXTS]
    answers = [list(labels) for labels in model.predict(asked)]
    found = {"asked": asked, "answers": answers, "ranks": model.rank(asked, 3)}
    path.with_suffix(".json").write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")


def write_compact(path: Path) -> None:
    """The same with int8 weights."""
    write_answers(path, trained().compact(ROWS), [*SENTENCES, *TEXTS])


def write_answers(path: Path, model: Model, asked: Json) -> None:
    """A model, and beside it its answers to some examples, with their scores and probabilities."""
    model.save(path, force=True)
    answers = model.predict(asked)
    found = {
        "asked": asked,
        "answers": answers.tolist() if isinstance(answers, np.ndarray) else answers,
        "scores": model.scores(asked).tolist(),
        "probabilities": model.probabilities(asked).tolist(),
    }
    path.with_suffix(".json").write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")


GOLDEN: dict[str, Callable[[Path], None]] = {
    "state": write_state,
    "features": write_features,
    "classifier": write_classifier,
    "compact": write_compact,
    "tagger": write_tagger,
    "lemmas": write_lemmas,
    "parser": write_parser,
    "ranker": write_ranker,
    "pipeline": write_pipeline,
    "labels": write_labels,
    "labels-mapped": write_mapped_labels,
}
"""What is written for each format."""


def main(folder: Path) -> None:
    """Write what is missing."""
    for name, write in GOLDEN.items():
        path = folder / f"format-{FORMAT}-{name}.lin"
        if path.exists():
            print(f"{path.name} is there and stays as it is.")
        else:
            write(path)
            print(f"{path.name}: {path.stat().st_size:,} bytes.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
