"""Features of tokens: from lists of tokens to rows, and straight to scores, against the same features in plain Python.

    python benchmarks/tokens.py [--runs 5]

On `ud_english_ewt` with 27 templates (words, affixes, shapes, neighbors, two pairs) and 17 tags, one thread. Plain
Python writes the same features as strings, as feature functions of CRF programs do. JSON lines.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from linnaeus import kernels
from linnaeus.data.sentence_reading import read_sentences
from linnaeus.data.sentences import Sentences
from linnaeus.features.tokens import Pair, Part, Templates, Window
from measure import clock, data_folder, say, say_machine

AFFIXES = tuple(f"{side}{size}" for side in ("prefix", "suffix") for size in (1, 2, 3, 4))
TEMPLATES = Templates(
    (
        Window(("lower",), (-2, -1, 0, 1, 2)),
        Window(("word", "shape", "short", "caps", "digits", "hyphen", *AFFIXES)),
        Window(("suffix2", "suffix3", "shape"), (-1, 1)),
        Pair(Part("lower", -1), Part("lower")),
        Pair(Part("lower"), Part("lower", 1)),
    )
)
TAGS = 17


def shape(word: str) -> str:
    """Upper and lower letters and digits as X, x and d."""
    return "".join("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word)


def plain(words: Sequence[str]) -> list[list[str]]:
    """About the same features as strings, one list per token."""
    lower = ["<s>", "<s>", *(word.lower() for word in words), "</s>", "</s>"]
    rows = []
    for i, word in enumerate(words):
        row = [f"w[{at}]={lower[i + 2 + at]}" for at in (-2, -1, 0, 1, 2)]
        row += [f"word={word}", f"shape={shape(word)}", f"title={word.istitle()}", f"digit={word.isdigit()}"]
        row += [f"pre{size}={word[:size]}" for size in (1, 2, 3, 4)] + [
            f"suf{size}={word[-size:]}" for size in (1, 2, 3, 4)
        ]
        for at in (-1, 1):
            if 0 <= i + at < len(words):
                near = words[i + at]
                row += [f"shape[{at}]={shape(near)}", f"suf2[{at}]={near[-2:]}", f"suf3[{at}]={near[-3:]}"]
        row += [f"b={lower[i + 1]}|{lower[i + 2]}", f"f={lower[i + 2]}|{lower[i + 3]}"]
        rows.append(row)
    return rows


def main() -> None:
    """All measurements."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    say_machine()
    folder = data_folder() / "ud_english_ewt"
    train, test = (read_sentences(folder / f"{part}.parquet").lists() for part in ("train", "test"))
    tokens = {"train": sum(map(len, train)), "test": sum(map(len, test))}
    with kernels.threads(1):
        fitted = TEMPLATES.fit(Sentences.from_lists(train))
        W = np.random.default_rng(0).normal(size=(fitted.width, TAGS)).astype(np.float32)
        peer = clock(lambda: [plain(words) for words in test], runs)
        say(what="plain Python, features as strings", part="test", rate=tokens["test"] / peer["seconds"], **peer)
        tasks = {
            "fit and rows": (lambda s: TEMPLATES.fit(s).rows(s), train, "train"),
            "rows": (fitted.rows, test, "test"),
            "scores": (lambda s: fitted.scores(s, W), test, "test"),
        }
        for name, (work, lists, part) in tasks.items():
            took = clock(lambda work=work, lists=lists: work(Sentences.from_lists(lists)), runs)
            rate = tokens[part] / took["seconds"]
            say(what=name, part=part, rate=rate, times=rate / (tokens["test"] / peer["seconds"]), **took)
        one = test[3:4]
        took = clock(lambda: [fitted.scores(Sentences.from_lists(one), W) for _ in range(200)], runs)
        say(what="scores of one sentence", tokens=len(one[0]), microseconds=took["seconds"] / 200 * 1e6)
    say(
        what="width",
        columns=fitted.width,
        features_per_token=fitted.rows(Sentences.from_lists(test)).nnz / tokens["test"],
    )


if __name__ == "__main__":
    main()
