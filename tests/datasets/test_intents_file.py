"""The file of the embedded data set, read with the standard library: is it what a person would want to learn from?"""

import csv
import math
import re
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import linnaeus

FILE = Path(linnaeus.__file__).parent / "datasets" / "intents.csv"
with FILE.open(encoding="utf-8", newline="") as lines:
    ROWS = [(row["text"], row["label"], row["split"]) for row in csv.DictReader(lines)]
LABELS = {
    "alarm",
    "calendar",
    "messages",
    "music",
    "navigation",
    "shopping",
    "small_talk",
    "smart_home",
    "timer",
    "weather",
}


def words(text):
    return re.findall(r"[\w']+", text.casefold())


def test_sixty_utterances_per_intent_twelve_of_them_held_out():
    assert Counter(label for _, label, _ in ROWS) == dict.fromkeys(LABELS, 60)
    assert Counter(label for _, label, split in ROWS if split == "test") == dict.fromkeys(LABELS, 12)
    assert {split for _, _, split in ROWS} == {"train", "test"}


def test_no_text_occurs_twice():
    keys = Counter(" ".join(words(text)) for text, _, _ in ROWS)
    assert [key for key, count in keys.items() if count > 1] == []


def test_no_two_texts_are_nearly_the_same():
    bags = [(set(words(text)), text) for text, _, _ in ROWS]
    close = [(a, b) for (x, a), (y, b) in combinations(bags, 2) if len(x & y) > 0.8 * len(x | y)]
    assert close == []


def test_texts_are_short_and_clean():
    for text, _, _ in ROWS:
        assert 2 <= len(text) <= 100, text
        assert text == " ".join(text.split()), text
        assert text.isprintable(), text


def test_texts_vary_as_speech_does():
    lengths = Counter(len(words(text)) for text, _, _ in ROWS)
    assert len(lengths) >= 12
    assert sum(text[-1] in ".?!" for text, _, _ in ROWS) > 100
    assert sum(text == text.lower() for text, _, _ in ROWS) > 200
    assert len({" ".join(words(text)[:2]) for text, _, _ in ROWS}) > 300


def test_rows_are_not_sorted_by_class():
    for start in range(0, len(ROWS), 100):
        assert {label for _, label, _ in ROWS[start : start + 100]} == LABELS


def grams(text):
    """Words, and the pieces of three and four letters inside them."""
    padded = [f" {word} " for word in words(text)]
    return set(padded) | {w[i : i + n] for w in padded for n in (3, 4) for i in range(len(w) - n + 1)}


def test_nearest_centroid_learns_it():
    train = [(grams(text), label) for text, label, split in ROWS if split == "train"]
    counts = Counter(gram for bag, _ in train for gram in bag)
    weight = {gram: math.log(len(train) / count) for gram, count in counts.items()}
    centroids = defaultdict(Counter)
    for bag, label in train:
        length = math.sqrt(sum(weight[gram] ** 2 for gram in bag))
        for gram in bag:
            centroids[label][gram] += weight[gram] / length
    norms = {label: math.sqrt(sum(v * v for v in center.values())) for label, center in centroids.items()}

    def predict(text):
        bag = grams(text) & weight.keys()
        return max(sorted(norms), key=lambda label: sum(weight[g] * centroids[label][g] for g in bag) / norms[label])

    test = [(text, label) for text, label, split in ROWS if split == "test"]
    assert sum(predict(text) == label for text, label in test) >= 0.85 * len(test)
