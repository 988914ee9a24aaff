"""How long one text takes in process, raw string in and class scores out, beside fastText and scikit-learn.

    python benchmarks/latency.py [--peer-python PYTHON] [--sets banking77 imdb] [--rounds 10]

fastText runs in an interpreter of its own (`--peer-python`; its wheel wants NumPy below 2), where its `predict` gets
the text lowercased and split, as its models want it. Texts come in rounds in which everybody takes turns, so that a
busy moment of the machine falls on all of them; in each turn the first tenth of the texts does not count, since others
have used the caches before. Weights are drawn at random: time does not depend on them. Behind it the throughput of
short texts from a Parquet file to a Parquet file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from linnaeus import kernels
from linnaeus.features import Block, Chars, TfIdf, Words
from linnaeus.pipeline.quick import Quick, compile_scorer
from measure import data_folder, say, say_machine

SUBLINEAR: dict[str, Any] = {"values": TfIdf("log"), "length": "l2"}
RECIPES: dict[str, Block] = {
    "words": Words(ngrams=(1, 2), values="tfidf", length="l2"),
    "words and characters": Words(ngrams=(1, 2), **SUBLINEAR) | Chars(2, 5, **SUBLINEAR),
}
PER_ROUND = 200
TEXTS = 200_000
Clock = Callable[[list[str]], list[int]]


class FastText:
    """A child process that trains a model and then times texts when asked to."""

    def __init__(self, python: str, texts: list[str], labels: list[str]) -> None:
        script = str(Path(__file__).with_name("latency_fasttext.py"))
        self.child = subprocess.Popen([python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask([texts, labels])

    def ask(self, question: Any) -> Any:
        """One line of JSON to the child, one back."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(json.dumps(question) + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())


def each(score: Callable[[str], Any]) -> Clock:
    """A clock around one call for each text."""

    def clock(texts: list[str]) -> list[int]:
        times = []
        for text in texts:
            start = time.perf_counter_ns()
            score(text)
            times.append(time.perf_counter_ns() - start)
        return times

    return clock


def compiled(recipe: Block, texts: list[str], k: int) -> Quick:
    """The recipe with random weights for k classes."""
    features = recipe.fit(texts)
    W = np.random.default_rng(0).normal(size=(features.width, 1 if k == 2 else k)).astype(np.float32)
    quick = compile_scorer(features, {"W": W, "b": np.zeros(W.shape[1])})
    assert quick is not None
    return quick


def scikit(texts: list[str], labels: list[str]) -> Callable[[str], Any]:
    """scikit-learn's pipeline of the same words; a few steps of training are enough to have weights."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), SGDClassifier(max_iter=1, tol=None))
    model.fit(texts[:5000], labels[:5000])
    return lambda text: model.predict([text])


def read(name: str, part: str) -> tuple[list[str], list[str]]:
    """Texts and labels of a data set, in an order drawn at random."""
    table = pq.read_table(data_folder() / name / f"{part}.parquet")
    order = np.random.default_rng(0).permutation(len(table))
    texts, labels = table["text"].to_pylist(), table["label"].to_pylist()
    return [texts[i] for i in order], [str(labels[i]) for i in order]


def race(name: str, peer: str, rounds: int) -> Quick:
    """Everybody's times on one data set; returned, the last recipe."""
    train, test = read(name, "train"), read(name, "test")[0]
    k = len(set(train[1]))
    ours = {recipe: compiled(block, train[0], k) for recipe, block in RECIPES.items()}
    clocks: dict[str, tuple[Clock, int]] = {recipe: (each(quick.score), PER_ROUND) for recipe, quick in ours.items()}
    try:
        clocks["fastText"] = FastText(peer, *train).ask, PER_ROUND
    except (OSError, ValueError):
        say(what="skipped", peer="fastText", why=f"{peer} has none; give another interpreter by --peer-python")
    clocks["scikit-learn"] = each(scikit(*train)), PER_ROUND // 10
    times: dict[str, list[int]] = {who: [] for who in clocks}
    for turn in range(rounds + 1):
        for who, (clock, count) in clocks.items():
            at = turn * count % max(1, len(test) - count)
            found = clock(test[at : at + count])
            times[who] += found[count // 10 :] if turn else []  # the first round is for warming up
    tell(name, {who: np.array(found) / 1e3 for who, found in times.items()})
    return ours["words and characters"]


def tell(name: str, times: dict[str, Any]) -> None:
    """Medians, tails, and ratios to fastText's."""
    p50, p99 = ({who: float(np.percentile(found, at)) for who, found in times.items()} for at in (50, 99))
    for who in times:
        beside = {"ratio": p50[who] / p50["fastText"]} if "fastText" in times else {}
        say(what="one text", data=name, who=who, p50_us=p50[who], p99_us=p99[who], tail=p99[who] / p50[who], **beside)


def throughput(quick: Quick, texts: list[str]) -> None:
    """Texts from a Parquet file, the best class of each to another: read, score and write, on one and two threads."""
    many = (texts * (TEXTS // len(texts) + 1))[:TEXTS]
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.parquet", Path(folder) / "out.parquet"
        pq.write_table(pa.table({"text": many}), source)
        quick.scores(many[: TEXTS // 10])
        for threads in (1, 2):
            with kernels.threads(threads):
                start = time.perf_counter()
                best = quick.scores(pq.read_table(source)["text"]).argmax(axis=1)
                pq.write_table(pa.table({"label": best}), target)
                seconds = time.perf_counter() - start
            say(what="Parquet to Parquet", threads=threads, texts=len(many), seconds=seconds, per_s=TEXTS / seconds)


def main() -> None:
    """All sets, then throughput of the first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", default=sys.executable, help="an interpreter that has fastText")
    parser.add_argument("--sets", nargs="+", default=["banking77", "imdb"])
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    say_machine(numpy=np.__version__)
    for place, name in enumerate(arguments.sets):
        quick = race(name, arguments.peer_python, arguments.rounds)
        if place == 0:
            throughput(quick, read(name, "test")[0])


if __name__ == "__main__":
    main()
