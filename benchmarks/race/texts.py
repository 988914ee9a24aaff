"""One peer on one data set of texts: `python race/texts.py SET PEER OUT.json`, in the peer's own environment."""

from __future__ import annotations

import json
import os
import random
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

FOLDER = Path(os.environ.get("LINNAEUS_DATA") or Path(__file__).resolve().parents[2] / ".." / "shared" / "data")
BY_CHARACTER = ("langid75", "wiki_person_ja")
SETTINGS = {
    "default": {},
    "paper": {"lr": 0.5, "epoch": 5, "wordNgrams": 2, "dim": 10},
    "tuned": {"lr": 0.5, "epoch": 25, "wordNgrams": 2, "dim": 50},
}
"""Of fastText: its own, those of Joulin et al. 2016, and many epochs."""


def load(name: str, part: str) -> tuple[list[str], list[str]]:
    """As benchmarks/accuracy.py does."""
    folder, column = ("trec", "fine_label") if name == "trec_fine" else (name, "label")
    table = pq.read_table(FOLDER / folder / f"{part}.parquet", columns=["text", column])
    texts, labels = table["text"].to_pylist(), table[column].to_pylist()
    kept = [i for i, label in enumerate(labels) if label != "oos" or name != "clinc150"]
    return [texts[i] for i in kept], [labels[i] for i in kept]


def by_matrix(name: str, who: str) -> tuple[list[str], float]:
    """TF-IDF, then a linear model."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, labels = load(name, "train")
    words, characters = {"ngram_range": (1, 2)}, {"analyzer": "char", "ngram_range": (1, 3)}
    unit: dict[str, Any] = characters if name in BY_CHARACTER else words
    began = time.perf_counter()
    vectorizer = TfidfVectorizer(sublinear_tf=True, **unit)
    X = vectorizer.fit_transform(texts)
    if who == "LIBLINEAR -s 4":
        return crammer(X, labels, vectorizer, name, began)
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    model = LinearSVC() if who == "LinearSVC" else LogisticRegression(C=10, max_iter=1000)
    model.fit(X, labels)
    seconds = time.perf_counter() - began
    return list(model.predict(vectorizer.transform(load(name, "test")[0]))), seconds


def crammer(X: Any, labels: list[str], vectorizer: Any, name: str, began: float) -> tuple[list[str], float]:
    """LIBLINEAR's Crammer-Singer, which it does with a bias only where one is asked for."""
    from liblinear.liblinearutil import parameter, predict, problem, train

    names = sorted(set(labels))
    number = {label: i for i, label in enumerate(names)}
    model = train(problem([number[label] for label in labels], X), parameter("-s 4 -c 1 -q"))
    seconds = time.perf_counter() - began
    found, _, _ = predict([], vectorizer.transform(load(name, "test")[0]), model, "-q")
    return [names[int(i)] for i in found], seconds


def plain(text: str) -> str:
    """As fastText's own examples do: lower case, punctuation apart."""
    return re.sub(r"([.!?,'/()\"])", r" \1 ", text.lower()).replace("\n", " ")


def by_fasttext(name: str, setting: str) -> tuple[list[str], float]:
    """FastText on a shuffled file of lines, two threads."""
    import fasttext

    texts, labels = load(name, "train")
    names = sorted(set(labels))
    number = {label: i for i, label in enumerate(names)}
    rows = list(zip(texts, labels, strict=True))
    random.Random(0).shuffle(rows)
    began = time.perf_counter()
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.writelines(f"__label__{number[label]} {plain(text)}\n" for text, label in rows)
        file.flush()
        units = {"minn": 2, "maxn": 5} if name in BY_CHARACTER else {}
        model = fasttext.train_supervised(file.name, thread=2, verbose=0, **{**SETTINGS[setting], **units})
    seconds = time.perf_counter() - began
    found = model.predict([plain(text) for text in load(name, "test")[0]])[0]
    return [names[int(row[0].removeprefix("__label__"))] for row in found], seconds


def main() -> None:
    """Train, predict, and write which rows are right."""
    name, who, path = sys.argv[1:]
    family, _, setting = who.partition(" ")
    found, seconds = by_fasttext(name, setting) if family == "fastText" else by_matrix(name, who)
    truth = load(name, "test")[1]
    right = [int(a == b) for a, b in zip(found, truth, strict=True)]
    Path(path).write_text(json.dumps({"right": right, "seconds": seconds}), encoding="utf-8")


if __name__ == "__main__":
    main()
