"""CRFsuite on a set of tagged sentences, in a process and an environment of its own.

    python tags.py FOLDER COLUMN ALGORITHM    (a python with python-crfsuite and pyarrow)

Prints one JSON object: seconds of features, of training and of tagging, and the tags of the test part. The features are
those of `linnaeus.recipes.tag_recipe.plain_templates`, made as CRFsuite's users make them.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time

import pycrfsuite
from tags_data import load

SETTINGS = {
    "lbfgs": {"c1": 0.1, "c2": 0.05, "max_iterations": 60, "feature.possible_transitions": True},
    "ap": {"max_iterations": 10, "feature.possible_transitions": True},
}


def shape(word: str) -> str:
    """X for upper, x for lower letters, d for digits."""
    return "".join("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word)


def features(words: list[str]) -> list[list[str]]:
    """The usual templates: the word, its lowered form, shape and affixes, its neighbors, pairs of words."""
    low, shapes, n = [w.lower() for w in words], [shape(w) for w in words], len(words)
    found = []
    for i, (word, lower) in enumerate(zip(words, low, strict=True)):
        own = ["w=" + word, "l=" + lower, "s=" + shapes[i]]
        for size in range(1, min(4, len(lower)) + 1):
            own += [f"p{size}={lower[:size]}", f"x{size}={lower[-size:]}"]
        if word != lower:
            own.append("caps=" + ("all" if word.isupper() else "first" if word[0].isupper() else "mixed"))
        if any(c.isdigit() for c in word):
            own.append("digits=" + ("all" if word.isdigit() else "some"))
        if "-" in word:
            own.append("hyphen")
        for d in (-2, -1, 1, 2):
            own.append(f"{d}:l={low[i + d] if 0 <= i + d < n else '<>'}")
        for d in (-1, 1):
            if 0 <= i + d < n:
                own += [f"{d}:s={shapes[i + d]}", f"{d}:x3={low[i + d][-3:]}"]
        own.append(f"-1,0={low[i - 1] if i else '<>'} {lower}")
        own.append(f"0,1={lower} {low[i + 1] if i + 1 < n else '<>'}")
        found.append(own)
    return found


def main(folder: str, column: str, algorithm: str) -> None:
    """Train on the train part, tag the test part."""
    tokens, tags = load(folder, "train", column)
    began = time.perf_counter()
    rows = [features(sentence) for sentence in tokens]
    extracted = time.perf_counter()
    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    trainer.set_params(SETTINGS[algorithm])
    for x, y in zip(rows, tags, strict=True):
        trainer.append(x, y)
    with tempfile.NamedTemporaryFile() as file:
        trainer.train(file.name)
        trained = time.perf_counter()
        tagger = pycrfsuite.Tagger()
        tagger.open(file.name)
        test, _ = load(folder, "test", column)
        start = time.perf_counter()
        found = [tagger.predict(features(sentence)) for sentence in test]
        seconds = time.perf_counter() - start
    times = {"features_s": extracted - began, "fit_s": trained - began, "tag_s": seconds}
    print(json.dumps({**times, "tags": found}))


if __name__ == "__main__":
    main(*sys.argv[1:4])
