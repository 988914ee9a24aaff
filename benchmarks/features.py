"""Text to features, against scikit-learn's vectorizers and Vowpal Wabbit's parser on the reviews of `imdb`.

Same tokens, same n-grams, the same texts in memory; medians of several runs in one process. Prints JSON lines, the
ratios last. `--quick` runs each peer once.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import sklearn
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

import linnaeus
from linnaeus import kernels
from linnaeus.features import Chars, Hashed, Words
from linnaeus.features.base import as_stream
from linnaeus.features.terms.exact import Exact
from linnaeus.text import Normalize
from linnaeus.text.buffers import from_strings
from measure import clock, data_folder, say, say_machine

LOWER = Normalize(form=None, case="lower")
WORDS = {"ngrams": (1, 2), "tokenizer": "scikit", "normalize": LOWER}
OURS = {
    "hashed words 1-2": Words(**WORDS, terms=Hashed(20), length="l2"),
    "tf-idf words 1-2": Words(**WORDS, values="tfidf", length="l2"),
    "tf-idf characters 3-5": Chars(3, 5, normalize=LOWER, values="tfidf", length="l2"),
    "hashed characters 3-5": Chars(3, 5, normalize=LOWER, terms=Hashed(20), length="l2"),
}
PEERS: dict[str, tuple[Callable[[], Any], int]] = {
    "hashed words 1-2": (lambda: HashingVectorizer(ngram_range=(1, 2), n_features=2**20), 3),
    "tf-idf words 1-2": (lambda: TfidfVectorizer(ngram_range=(1, 2)), 3),
    "tf-idf characters 3-5": (lambda: TfidfVectorizer(ngram_range=(3, 5), analyzer="char_wb"), 2),
    "hashed characters 3-5": (
        lambda: HashingVectorizer(ngram_range=(3, 5), analyzer="char_wb", n_features=2**20),
        2,
    ),
}
RUNS = 11
WANTED = {
    ("hashed words 1-2", 1): 40,
    ("tf-idf words 1-2", 1): 15,
    ("tf-idf words 1-2", 2): 25,
    ("tf-idf characters 3-5", 2): 30,
    ("hashed characters 3-5", 2): 30,
}


def measure_ours(texts: pa.Array, listed: list[str], megabytes: float) -> dict[tuple[str, str, int], float]:
    """Every recipe, from Arrow and from a list, on one and on two threads; these four take turns."""
    seconds = {}
    for task, recipe in OURS.items():
        ways = [(source, name, threads) for source, name in ((texts, "arrow"), (listed, "list")) for threads in (1, 2)]
        times: dict[tuple[str, int], list[float]] = {way[1:]: [] for way in ways}
        for turn in range(2 + RUNS):
            for source, name, threads in ways:
                with kernels.threads(threads):
                    found = clock(lambda recipe=recipe, source=source: recipe.fit_rows(source), 1, warm=0)
                times[name, threads] += [found["seconds"]] if turn >= 2 else []
        for (name, threads), found in times.items():
            median = statistics.median(found)
            seconds[task, name, threads] = median
            say(task=task, who="linnaeus", input=name, threads=threads, mb_s=megabytes / median, seconds=median,
                best=min(found), runs=RUNS)  # fmt: skip
    return seconds


def measure_peers(listed: list[str], megabytes: float, quick: bool) -> dict[str, float]:
    """scikit-learn has one thread."""
    seconds = {}
    for task, (make, runs) in PEERS.items():
        found = clock(lambda make=make: make().fit_transform(listed), 1 if quick else runs, warm=0)
        seconds[task] = found["seconds"]
        say(task=task, who="scikit-learn", input="list", threads=1, mb_s=megabytes / found["seconds"], **found)
    return seconds


def measure_vw(listed: list[str], megabytes: float) -> float | None:
    """Vowpal Wabbit parses a file it likes (tokens with spaces between them) and makes its bigrams, nothing else."""
    try:
        from vowpalwabbit import Workspace
    except ImportError:
        say(task="parse only", who="vowpal wabbit", note="not installed")
        return None
    token = re.compile(r"\b\w\w+\b")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "imdb.vw"
        with path.open("w", encoding="utf-8") as file:
            for i, text in enumerate(listed):
                file.write(f"{2 * (i % 2) - 1} | {' '.join(token.findall(text.lower()))}\n")
        options = f"-d {path} --noop --ngram 2 -b 22 --quiet"
        found = clock(lambda: Workspace(options).finish(), 7)
    say(task="parse only", who="vowpal wabbit", threads=2, mb_s=megabytes / found["seconds"], **found)
    return found["seconds"]


def measure_stages(texts: pa.Array, listed: list[str]) -> None:
    """Where the time goes, one thread: shares of the whole. The README has those inside the kernel, by perf."""
    with kernels.threads(1):
        whole = clock(lambda: OURS["hashed words 1-2"].fit_rows(texts), 7)["seconds"]
        counts = clock(lambda: Words(**WORDS, terms=Hashed(20)).fit_rows(texts), 7)["seconds"]
        arrow = clock(lambda: from_strings(listed), 7)["seconds"]
        shares = {"kernel": counts / whole, "length": 1 - counts / whole, "list_to_arrow_on_top": arrow / whole}
        say(what="stages", task="hashed words 1-2", **shares, seconds=whole)
        say(what="stages", task="tf-idf words 1-2", **_exact_stages(texts))


def _exact_stages(texts: pa.Array) -> dict[str, float]:
    recipe = OURS["tf-idf words 1-2"]
    grams, terms = recipe.grams(), Exact()
    batch = next(iter(as_stream(texts).batches()))
    ready = grams.texts(batch)
    names = ("count", "join", "choose_and_write_rows")

    def run() -> list[float]:
        import time

        at = [time.perf_counter()]
        counter = kernels.TermCounter(grams.plan, True)
        counter.add(ready.data, ready.offsets, 1)
        at.append(time.perf_counter())
        counter.finish(1, 1)
        at.append(time.perf_counter())
        terms.learn_rows(grams, as_stream(texts), False)
        at.append(time.perf_counter())
        found = np.diff(at)
        return [found[0], found[1], found[2] - found[0] - found[1]]

    medians = np.median([run() for _ in range(5)], axis=0)
    whole = clock(lambda: recipe.fit_rows(texts), 5)["seconds"]
    shares = {name: float(value / whole) for name, value in zip(names, medians, strict=True)}
    return {**shares, "weigh": 1 - sum(shares.values()), "seconds": whole}


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="each peer once")
    arguments = parser.parse_args()
    say_machine(linnaeus=linnaeus.__version__, sklearn=sklearn.__version__)
    texts = pq.read_table(data_folder() / "imdb" / "train.parquet")["text"].combine_chunks()
    listed = texts.to_pylist()
    megabytes = sum(len(text.encode()) for text in listed) / 1e6
    ours = measure_ours(texts, listed, megabytes)
    vw = measure_vw(listed, megabytes)
    measure_stages(texts, listed)
    peers = measure_peers(listed, megabytes, arguments.quick)
    for (task, source, threads), seconds in ours.items():
        say(what="ratio", task=task, input=source, threads=threads, ratio=peers[task] / seconds,
            wanted=WANTED.get((task, threads)))  # fmt: skip
    for source in ("arrow", "list"):
        one, two = ours["hashed words 1-2", source, 1], ours["hashed words 1-2", source, 2]
        say(what="two threads to one", task="hashed words 1-2", input=source, ratio=one / two, wanted=1.7)
        if vw:
            say(what="ratio to vowpal wabbit", input=source, threads=2, ratio=vw / two, wanted=2)


if __name__ == "__main__":
    main()
