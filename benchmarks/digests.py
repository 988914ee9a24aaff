"""What it costs that no damaged block of a large model file is used unseen.

    python benchmarks/digests.py [--bits 22] [--classes 16] [--texts 2000]

A linear model on hashed words with random weights, 256 MB of them, is written to a file that is mapped. JSON lines: how
fast bytes are hashed on one thread (SHA-256, and XXH64 of blocks); opening the file, the first answer, an answer to a
text seen before, and answers to many texts, with blocks checked as they are used and without any check; and a check of
the whole file. Pages are in the system's cache: reading a cold disk comes on top, for the blocks that are used.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import linnaeus
from linnaeus import Recipe, kernels
from linnaeus.features import Hashed, Words
from measure import say, say_machine


def seconds(work: Callable[[], Any], runs: int = 5) -> float:
    """The shortest of some runs."""
    found = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return min(found)


def write(path: Path, bits: int, classes: int) -> None:
    """A model with random weights."""
    rows = [(f"word{i} text{i}", f"class {i % classes}") for i in range(2 * classes)]
    model = Recipe(features=Words(terms=Hashed(4))).fit(rows)
    features = Words(terms=Hashed(bits)).fit([])
    W = np.random.default_rng(0).standard_normal((1 << bits, classes), np.float32)
    replace(model, features=features, params={"W": W, "b": np.zeros(classes, np.float32)}).save(path)


def hashing(size: int = 1 << 27) -> None:
    """GB/s on one thread."""
    data = np.random.default_rng(0).integers(0, 256, size, np.uint8)
    for name, work in (
        ("SHA-256", lambda: hashlib.sha256(data.data)),
        ("XXH64 of blocks", lambda: kernels.block_digests(data, 1)),
    ):
        say(hash=name, gb_per_second=size / seconds(work, 3) / 1e9)


def using(path: Path, texts: list[str], verify: bool | None) -> None:
    """Milliseconds of opening a file and of answers."""
    opened = seconds(lambda: linnaeus.load(path, verify))
    first = min(_first(path, verify, text) for text in texts[:5])
    model = linnaeus.load(path, verify)
    model.classify(texts[0])
    again = seconds(lambda: model.classify(texts[0]), 200)
    started = time.perf_counter()
    model.predict(texts)
    many = time.perf_counter() - started
    checked = {None: "blocks as they are used", False: "nothing", True: "all"}[verify]
    figures = {"opened": opened, "first_text": first, "same_text": again, "all_texts": many}
    say(checked=checked, **{name: 1e3 * value for name, value in figures.items()})


def _first(path: Path, verify: bool | None, text: str) -> float:
    model = linnaeus.load(path, verify)
    started = time.perf_counter()
    model.classify(text)
    return time.perf_counter() - started


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=22)
    parser.add_argument("--classes", type=int, default=16)
    parser.add_argument("--texts", type=int, default=2000)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    texts = [" ".join(f"w{word}" for word in rng.zipf(1.3, 50) % 100_000) for _ in range(options.texts)]
    say_machine()
    hashing()
    with tempfile.TemporaryDirectory() as folder, kernels.threads(1):
        path = Path(folder, "large.lin")
        write(path, options.bits, options.classes)
        say(file_mb=round(path.stat().st_size / 1e6))
        for verify in (False, None):
            using(path, texts, verify)
        say(checked="all, by SHA-256", opened=1e3 * seconds(lambda: linnaeus.load(path, True), 2))


if __name__ == "__main__":
    main()
