"""One peer from files to a saved model and its test accuracy: `python race/whole.py PEER TRAIN.csv TEST.csv FOLDER`.

Prints one JSON line with the accuracy. Whoever calls it holds the clock: process start, reading, conversion, training,
saving and testing all count.
"""

from __future__ import annotations

import csv
import json
import pickle
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

csv.field_size_limit(1 << 30)


def load(path: str) -> tuple[list[str], list[str]]:
    """Texts and labels of a CSV file."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return [row[0] for row in rows], [row[1] for row in rows]


def plain(text: str) -> str:
    """Lower case, punctuation apart."""
    return re.sub(r"([.!?,'/()\"])", r" \1 ", text.lower()).replace("\n", " ")


def by_matrix(train: str, test: str, folder: Path, make: Callable[[], Any]) -> float:
    """scikit-learn's TF-IDF of words 1-2, then a model of scikit-learn."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, labels = load(train)
    vectorizer = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2)
    model = make().fit(vectorizer.fit_transform(texts), labels)
    (folder / "model.pkl").write_bytes(pickle.dumps((vectorizer, model)))
    texts, truth = load(test)
    return float((model.predict(vectorizer.transform(texts)) == truth).mean())


def svc(train: str, test: str, folder: Path) -> float:
    """LinearSVC."""
    from sklearn.svm import LinearSVC

    return by_matrix(train, test, folder, LinearSVC)


def bayes(train: str, test: str, folder: Path) -> float:
    """MultinomialNB."""
    from sklearn.naive_bayes import MultinomialNB

    return by_matrix(train, test, folder, lambda: MultinomialNB(alpha=0.1))


def crammer(train: str, test: str, folder: Path) -> float:
    """LIBLINEAR's Crammer-Singer on the same matrix."""
    from liblinear.liblinearutil import parameter, predict, problem, save_model
    from liblinear.liblinearutil import train as fit
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, labels = load(train)
    names = sorted(set(labels))
    number = {label: i for i, label in enumerate(names)}
    vectorizer = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2)
    X = vectorizer.fit_transform(texts)
    model = fit(problem([number[label] for label in labels], X), parameter("-s 4 -c 1 -q"))
    save_model(str(folder / "model.txt"), model)
    (folder / "words.pkl").write_bytes(pickle.dumps(vectorizer))
    texts, truth = load(test)
    found, _, _ = predict([], vectorizer.transform(texts), model, "-q")
    return sum(names[int(i)] == label for i, label in zip(found, truth, strict=True)) / len(truth)


def fasttext(setting: dict[str, Any]) -> Callable[[str, str, Path], float]:
    """FastText with these settings, two threads, on a shuffled file."""

    def run(train: str, test: str, folder: Path) -> float:
        import fasttext as library

        texts, labels = load(train)
        names = sorted(set(labels))
        number = {label: i for i, label in enumerate(names)}
        lines = [f"__label__{number[label]} {plain(text)}\n" for text, label in zip(texts, labels, strict=True)]
        random.Random(0).shuffle(lines)
        (folder / "train.txt").write_text("".join(lines), encoding="utf-8")
        model = library.train_supervised(str(folder / "train.txt"), thread=2, verbose=0, **setting)
        model.save_model(str(folder / "model.bin"))
        texts, truth = load(test)
        found = model.predict([plain(text) for text in texts])[0]
        right = (names[int(row[0].removeprefix("__label__"))] == label for row, label in zip(found, truth, strict=True))
        return sum(right) / len(truth)

    return run


def vowpal(passes: int) -> Callable[[str, str, Path], float]:
    """Vowpal Wabbit, one against all, words 1-2, on a shuffled file; it reads and answers files by itself."""

    def run(train: str, test: str, folder: Path) -> float:
        import vowpalwabbit

        texts, labels = load(train)
        names = sorted(set(labels))
        number = {label: i + 1 for i, label in enumerate(names)}
        lines = [f"{number[label]} | {_vw(text)}\n" for text, label in zip(texts, labels, strict=True)]
        random.Random(0).shuffle(lines)
        (folder / "train.vw").write_text("".join(lines), encoding="utf-8")
        given = f"--oaa {len(names)} --ngram 2 -b 22 --loss_function logistic --quiet"
        given += f" -d {folder}/train.vw -f {folder}/model.vw"
        given += f" --passes {passes} -k -c --cache_file {folder}/cache --holdout_off" if passes > 1 else ""
        vowpalwabbit.Workspace(given).finish()
        texts, truth = load(test)
        (folder / "test.vw").write_text("".join(f"| {_vw(text)}\n" for text in texts), encoding="utf-8")
        answers = folder / "answers.txt"
        vowpalwabbit.Workspace(f"-i {folder}/model.vw -t -d {folder}/test.vw -p {answers} --quiet").finish()
        found = answers.read_text("utf-8").split()
        return sum(names[int(i) - 1] == label for i, label in zip(found, truth, strict=True)) / len(truth)

    return run


def _vw(text: str) -> str:
    return plain(text).replace("|", " ").replace(":", " ")


PEERS: dict[str, Callable[[str, str, Path], float]] = {
    "VW 1 pass": vowpal(1),
    "VW 5 passes": vowpal(5),
    "fastText paper": fasttext({"lr": 0.5, "epoch": 5, "wordNgrams": 2, "dim": 10}),
    "fastText tuned": fasttext({"lr": 0.5, "epoch": 25, "wordNgrams": 2, "dim": 50}),
    "LinearSVC": svc,
    "MultinomialNB": bayes,
    "LIBLINEAR -s 4": crammer,
}


if __name__ == "__main__":
    who, *files, folder = sys.argv[1:]
    print(json.dumps({"accuracy": PEERS[who](files[0], files[1], Path(folder))}))
