"""Whether time grows with the length of a text and no faster: the cost per MB of one text of 1 MB and of 100 MB.

    python benchmarks/long_texts.py [--sizes 1,100] [--recipes words,default] [--texts words,marks] [--rounds predict]

- `train`: a recipe learns from 200 short texts and a long one.
- `predict`: a model of short texts scores one long text.
- `spans`: the tokens of one long text with their places, which `explain` is made of (a tenth of the size).

Texts: `words` are those of the training texts, `new` words differ from each other, `one` is a single word, `marks` are
letters with many combining marks, `accents` are decomposed letters, `scripts` are written without spaces.

Times are those of the process on all its threads (`time.process_time`), so that a busy machine changes them little, and
of the second run: the first also waits for memory, 7 ms for each MB of text, whatever the size. Prints JSON lines.
`ratio` is the cost per MB beside that of the smallest size. `cut` is the cost beside that of the same text in pieces of
1 MB: a larger vocabulary costs more per MB too, because it fits no cache, and this takes it out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from linnaeus.recipes.cookbook import recipe as named
from linnaeus.text import spans
from measure import say, say_machine

KNOWN = [f"word{i}" for i in range(2000)]
RECIPES = ("words", "fast", "default", "logistic", "naive-bayes", "characters", "knn")
MARKS = "\u0301\u0323\u0327\u0308\u0316"
MB = 1 << 20
LARGE = 32
"""Megabytes from which a text is measured once, and not five times; always after a first time that gets the memory."""


def of_words(size: int, rng: np.random.Generator) -> str:
    """Words of the training texts."""
    return " ".join(np.array(KNOWN)[rng.integers(0, len(KNOWN), size // 8 + 1)].tolist())


def of_new(size: int, rng: np.random.Generator) -> str:
    """Words that differ from each other."""
    return " ".join(f"{i:x}q" for i in rng.integers(0, 1 << 40, size // 12 + 1).tolist())


def of_one(size: int, rng: np.random.Generator) -> str:
    """One word."""
    return bytes(rng.integers(97, 123, size, dtype=np.uint8)).decode()


def of_marks(size: int, rng: np.random.Generator) -> str:
    """Letters with ever so many marks."""
    return "a" + "".join(np.array(list(MARKS))[rng.integers(0, len(MARKS), size // 2)].tolist())


def of_accents(size: int, rng: np.random.Generator) -> str:
    """Words of decomposed letters."""
    parts = np.array(["e\u0301", "a\u0308", "o", "u\u0302", "n ", "c\u0327"])
    return "".join(parts[rng.integers(0, len(parts), size * 2 // 5)].tolist())


def of_scripts(size: int, rng: np.random.Generator) -> str:
    """Chinese characters without spaces."""
    return "".join(map(chr, rng.integers(0x4E00, 0x9000, size // 3).tolist()))


TEXTS: dict[str, Callable[[int, np.random.Generator], str]] = {
    "words": of_words,
    "new": of_new,
    "one": of_one,
    "marks": of_marks,
    "accents": of_accents,
    "scripts": of_scripts,
}


def short_rows(rng: np.random.Generator) -> list[tuple[str, str]]:
    """Two hundred texts of ten words; the label is that of the first one."""
    rows = []
    for _ in range(200):
        numbers = rng.integers(0, len(KNOWN), 10)
        rows.append((" ".join(KNOWN[i] for i in numbers), "ab"[int(numbers[0] % 2)]))
    return rows


def seconds(work: Callable[[], Any], runs: int) -> float:
    """The median time of the process, on all its threads, after a first run that gets the memory."""
    times = []
    for _ in range(runs + 1):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return float(np.median(times[1:]))


def work_of(kind: str, recipe: str, texts: list[str], rows: list[tuple[str, str]]) -> Callable[[], Any]:
    """What is measured."""
    if kind == "train":
        return lambda: named(recipe).fit([*rows, *((text, "a") for text in texts)])
    if kind == "spans":
        return lambda: [spans(text[: len(text) // 10]) for text in texts]
    model = named(recipe).fit(rows)
    return lambda: model.scores(texts)


def measure(kind: str, recipe: str, text: str, sizes: list[int]) -> None:
    """One line for each size."""
    rows, first = short_rows(np.random.default_rng(0)), None
    nothing = seconds(work_of("train", recipe, [], rows), 3) if kind == "train" else 0.0
    for size in sizes:
        given, runs = TEXTS[text](size * MB, np.random.default_rng(1)), 5 if size < LARGE else 1
        bytes_in, step = len(given.encode()), -(-len(given) // size)
        pieces = [given[at : at + step] for at in range(0, len(given), step)]
        one, cut = (
            max(seconds(work_of(kind, recipe, texts, rows), runs) - nothing, 1e-4) * MB / bytes_in
            for texts in ([given], pieces)
        )
        first = one if first is None else first
        say(what=kind, recipe=recipe, text=text, megabytes=size, seconds_per_mb=one, ratio=one / first, cut=one / cut)


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1,100")
    parser.add_argument("--recipes", default=",".join(RECIPES))
    parser.add_argument("--texts", default=",".join(TEXTS))
    parser.add_argument("--rounds", default="train,predict,spans")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    say_machine()
    for kind in arguments.rounds.split(","):
        for recipe in ["-"] if kind == "spans" else arguments.recipes.split(","):
            for text in arguments.texts.split(","):
                measure(kind, recipe, text, sizes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
