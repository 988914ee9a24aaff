"""Naive Bayes from raw text to a model against scikit-learn, and what NB-SVM is worth.

    python benchmarks/counting.py [--runs 5] [--only speed,accuracy]

Speed, on `imdb`: a list of texts and a list of labels in memory; at the end, a fitted model. scikit-learn:
CountVectorizer and MultinomialNB; Linnaeus (wanted: 30 times as fast): `TextClassifier` of a recipe with the same
tokens, counts and smoothing, on two threads, everything included that a training does (the fingerprint of the data, the
decision). Runs are in turns, medians are compared; the two models must give the same probabilities. Further lines: the
default tokens, the same from an Arrow table, and both with words and pairs.

Accuracy, on the test parts: NB-SVM with 1-3-grams on `imdb` (wanted: 91.5 %), and on `mr` beside naive Bayes and an SVM
on the same n-grams, with the held-out accuracy of the training part, which has nine times as many texts. JSON lines.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import linnaeus
from linnaeus import Recipe, TextClassifier
from linnaeus.features import Words
from linnaeus.learners.bayes import Multinomial
from linnaeus.recipes.cookbook import recipe
from linnaeus.text import Normalize
from measure import data_folder, say, say_machine

SAME = Words(tokenizer="scikit", normalize=Normalize(form=None, case="lower"))
"""The tokens of CountVectorizer."""
WORDS = "scikit-learn CountVectorizer + MultinomialNB"
PAIRS = "scikit-learn, words and pairs"


def bayes(features: Words) -> Recipe:
    """Multinomial naive Bayes with the smoothing of scikit-learn, nothing held out."""
    return Recipe(features=features, learner=Multinomial())


def theirs(texts: list[str], labels: list[str], ngrams: tuple[int, int] = (1, 1)) -> Any:
    """scikit-learn from texts to a model."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    vectorizer = CountVectorizer(ngram_range=ngrams)
    return vectorizer, MultinomialNB().fit(vectorizer.fit_transform(texts), labels)


def speed(runs: int) -> None:
    """Medians in turns, and that the models are the same."""
    table = pq.read_table(data_folder() / "imdb" / "train.parquet", columns=["text", "label"])
    texts, labels = table["text"].to_pylist(), table["label"].to_pylist()
    pairs = replace(SAME, ngrams=(1, 2))
    entries = {
        WORDS: lambda: theirs(texts, labels),
        "linnaeus, the same tokens, from lists": lambda: TextClassifier(bayes(SAME)).fit(texts, labels),
        "linnaeus, its own tokens, from lists": lambda: TextClassifier(bayes(Words())).fit(texts, labels),
        "linnaeus, the same tokens, from Arrow": lambda: bayes(SAME).fit(table),
        PAIRS: lambda: theirs(texts, labels, (1, 2)),
        "linnaeus, words and pairs, from lists": lambda: TextClassifier(bayes(pairs)).fit(texts, labels),
    }
    times: dict[str, list[float]] = {name: [] for name in entries}
    for run in range(runs + 1):
        for name, work in entries.items():
            began = time.perf_counter()
            work()
            if run:
                times[name].append(time.perf_counter() - began)
    for name, found in times.items():
        seconds, peer = statistics.median(found), statistics.median(times[PAIRS if "pairs" in name else WORDS])
        say(what="speed", set="imdb", entry=name, seconds=seconds, times_faster=peer / seconds, runs=runs)
    vectorizer, model = theirs(texts, labels)
    ours = TextClassifier(bayes(SAME)).fit(texts, labels)
    S = ours.decision_function(texts[::50])
    P = model.predict_joint_log_proba(vectorizer.transform(texts[::50]))
    gap = np.abs(S - (P[:, 1] - P[:, 0])).max() / np.abs(S).max()
    say(what="same model", set="imdb", largest_difference=float(gap), terms=len(vectorizer.vocabulary_),
        ours=ours.model_.features.width)  # fmt: skip


def judged(name: str, entry: str, made: Recipe) -> None:
    """Accuracy on the test part, and on held-out rows of the training part."""
    train, test = (linnaeus.read(data_folder() / name / f"{part}.parquet", text="text", label="label").load()
                   for part in ("train", "test"))  # fmt: skip
    began = time.perf_counter()
    model = made.fit(train)
    seconds = time.perf_counter() - began
    held = None if model.evaluation is None else model.evaluation.value("accuracy")
    accuracy = model.evaluate(test, rounds=0).value("accuracy")
    say(what="accuracy", set=name, entry=entry, test=accuracy, held_out=held, rows=len(test), seconds=seconds)


def accuracy() -> None:
    """NB-SVM, and what it is made of."""
    for ngrams in ((1, 2), (1, 3)):
        said = f"words {ngrams[0]}-{ngrams[1]}"
        for name in ("naive-bayes", "svm", "nb-svm"):
            made = recipe(name)
            judged("mr", f"{name}, {said}", replace(made, features=replace(made.features, ngrams=ngrams)))  # type: ignore[arg-type]
    for name in ("naive-bayes", "bernoulli-naive-bayes", "complement-naive-bayes", "lda", "qda", "svm", "nb-svm"):
        judged("mr", f"{name}, as it is", recipe(name))
    judged("imdb", "nb-svm, words 1-3", recipe("nb-svm"))


def main() -> None:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="speed,accuracy")
    given = parser.parse_args()
    import sklearn

    say_machine(linnaeus=linnaeus.__version__, sklearn=sklearn.__version__)
    with linnaeus.threads(2):
        if "speed" in given.only:
            speed(given.runs)
        if "accuracy" in given.only:
            accuracy()


if __name__ == "__main__":
    main()
