"""Search for neighbors: exact search against scikit-learn, the graph against hnswlib and usearch, hashing, the metric.

    pip install --group neighbors
    python benchmarks/neighbors.py [exact graph hashing metric] [--runs 5]

`exact`: the 10 nearest by cosine of tf-idf, test against train of `newsgroups20`; scikit-learn's brute force with two
jobs on the same matrix in float32 and float64, in turns. `graph`: 100,000 x 128 float32, correlated Gaussians; the same
settings for all (M = 16, 200 while building), the least width of the walk with a recall@10 of 0.95, one and two threads
for all. `hashing`: recall, candidates and queries per second of random hyperplanes and MinHash. `metric`: test accuracy
of k-NN with and without learned directions. Prints JSON lines. Peers that are not installed are named and skipped.
"""

from __future__ import annotations

import argparse
import statistics
import time
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import sklearn
from sklearn.neighbors import NearestNeighbors

import linnaeus
from linnaeus.arrays import CSR, Dense
from linnaeus.features import Words
from linnaeus.kernels.reference import Nearest as Twin
from linnaeus.learners.neighbors import Exact, Graph, Hyperplanes, MinHash
from linnaeus.recipes.cookbook import recipe
from linnaeus.types import Lesson
from measure import data_folder, say, say_machine

COUNT, RECALL = 10, 0.95
WIDEST = 500
"""Of the walks that are tried."""


def turns(work: dict[str, Callable[[], Any]], runs: int) -> dict[str, float]:
    """Median seconds of each, taken in turns after one run that does not count."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for run in range(runs + 1):
        for name, call in work.items():
            start = time.perf_counter()
            call()
            if run:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def recall(found: Any, wanted: Any) -> float:
    """The share of the wanted rows that were found."""
    return float(np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found.tolist(), wanted.tolist(), strict=True)]))


@cache
def texts(name: str) -> tuple[CSR, CSR, Any, Any]:
    """Tf-idf of the words of a data set, training and test, with their labels."""
    parts = [pq.read_table(data_folder() / name / f"{part}.parquet") for part in ("train", "test")]
    features, X = Words(values="tfidf", length="l2").fit_rows(parts[0]["text"].to_pylist())
    labels = [np.array(part["label"].to_pylist()) for part in parts]
    return X, features.rows(parts[1]["text"].to_pylist()), labels[0], labels[1]


def exact(runs: int) -> None:
    X, Q, _, _ = texts("newsgroups20")
    index = Exact().index(X, "cosine", 0)
    work: dict[str, Callable[[], Any]] = {
        f"linnaeus, {threads} threads": partial(_with, threads, partial(index.near, Q, COUNT)) for threads in (1, 2)
    }
    for kind in (np.float32, np.float64):
        peer = NearestNeighbors(n_neighbors=COUNT, algorithm="brute", metric="cosine", n_jobs=2)
        peer.fit(X.to_scipy().astype(kind))
        work[f"scikit-learn {kind.__name__}, 2 jobs"] = partial(peer.kneighbors, Q.to_scipy().astype(kind))
    spent = turns(work, runs)
    for name, seconds in spent.items():
        fields: dict[str, Any] = {"seconds": seconds, "queries_per_second": len(Q) / seconds}
        if name.startswith("scikit-learn"):
            fields |= {"linnaeus_2_threads_is_times_as_quick": seconds / spent["linnaeus, 2 threads"], "wanted": 5.0}
        say(what="exact cosine", rows=len(X), queries=len(Q), who=name, **fields)
    rows, scores = index.near(Q, COUNT)
    gaps, theirs = work["scikit-learn float64, 2 jobs"]()
    say(what="exact cosine", same_rows=recall(rows, theirs), largest_difference=float(np.abs(1 - scores - gaps).max()))
    some, twin = Q.rows_slice(0, 20), Twin(X.arrays, X.width)
    few = some.indptr, some.indices, some.data.astype(np.float64)
    ask = partial(_with, 1, partial(index.near, some, COUNT))
    pair = turns({"twin": partial(twin.cosine, few, COUNT, 1), "kernel": ask}, 3)
    say(what="exact cosine", queries=20, kernel_to_twin=pair["twin"] / pair["kernel"])


def _with(threads: int, call: Callable[[], Any]) -> Any:
    with linnaeus.threads(threads):
        return call()


@cache
def vectors(n: int = 100_000, m: int = 2000, d: int = 128) -> tuple[Any, Any, Any]:
    """Correlated Gaussians, queries like them, and the rows nearest to these."""
    rng = np.random.default_rng(0)
    mix = rng.standard_normal((24, d)) / np.sqrt(24)
    X, Q = ((rng.standard_normal((k, 24)) @ mix + 0.3 * rng.standard_normal((k, d))).astype(np.float32) for k in (n, m))
    return X, Q, _with(2, lambda: Exact().index(Dense(X), "euclidean", 0).near(Dense(Q), COUNT)[0])


Ask = Callable[[Any, int, int], Any]
"""The rows near to queries, by a walk of this width on so many threads."""


def _ours(X: Any) -> Ask:
    index = _with(2, lambda: Graph(links=16, build=200).index(Dense(X), "euclidean", 0))
    return lambda Q, walk, threads: _with(threads, lambda: replace(index, walk=walk).near(Dense(Q), COUNT)[0])


def _hnswlib(X: Any) -> Ask:
    index = import_module("hnswlib").Index("l2", X.shape[1])
    index.init_index(len(X), ef_construction=200, M=16, random_seed=0)
    index.add_items(X, num_threads=2)

    def ask(Q: Any, walk: int, threads: int) -> Any:
        index.set_ef(walk)
        return index.knn_query(Q, COUNT, num_threads=threads)[0]

    return ask


def _usearch(X: Any) -> Ask:
    index = import_module("usearch.index").Index(
        ndim=X.shape[1], metric="l2sq", dtype="f32", connectivity=16, expansion_add=200
    )
    index.add(np.arange(len(X)), X, threads=2)

    def ask(Q: Any, walk: int, threads: int) -> Any:
        index.expansion_search = walk
        return index.search(Q, COUNT, threads=threads).keys

    return ask


def _least_walk(ask: Ask, Q: Any, wanted: Any) -> int:
    """The least width of the walk that finds enough."""
    return COUNT + bisect_left(range(COUNT, WIDEST), RECALL, key=lambda walk: recall(ask(Q, walk, 2), wanted))


def graph(runs: int) -> None:
    X, Q, wanted = vectors()
    work: dict[int, dict[str, Callable[[], Any]]] = {1: {}, 2: {}}
    for name, make in {"linnaeus": _ours, "hnswlib": _hnswlib, "usearch": _usearch}.items():
        start = time.perf_counter()
        try:
            ask = make(X)
        except ImportError:
            say(what="graph", who=name, skipped="not installed")
            continue
        seconds = time.perf_counter() - start
        walk = _least_walk(ask, Q, wanted)
        say(what="graph", who=name, build_seconds=seconds, walk=walk, recall=recall(ask(Q, walk, 2), wanted))
        for threads, calls in work.items():
            calls[name] = partial(ask, Q, walk, threads)
    for threads, calls in work.items():
        speeds = {name: len(Q) / seconds for name, seconds in turns(calls, runs).items()}
        for name, speed in speeds.items():
            ratio = {} if name == "linnaeus" else {"linnaeus_to_this": speeds["linnaeus"] / speed, "wanted": 0.8}
            say(what="graph", threads=threads, who=name, queries_per_second=speed, **ratio)


SIZES = {
    "newsgroups20 cosine": {
        Hyperplanes: ((4, 4), (6, 8), (6, 16), (8, 16), (8, 64), (12, 64)),
        MinHash: ((1, 4), (1, 8), (1, 32), (2, 16), (2, 64), (3, 64)),
    },
    "vectors cosine": {Hyperplanes: ((8, 4), (10, 8), (12, 8), (12, 16), (12, 32), (12, 64), (16, 64))},
}
"""Bits and tables that are tried."""


def _candidates(index: Any, queries: Any) -> float:
    """How many rows are in the buckets of a query, those of several buckets as often."""
    starts, ends = index.stretches(queries)
    return float((ends - starts).sum(axis=1).mean())


def hashing(runs: int) -> None:
    X, Q, _, _ = texts("newsgroups20")
    V, U, _ = vectors()
    sources = {"newsgroups20 cosine": (X, Q.rows_slice(0, 2000)), "vectors cosine": (Dense(V), Dense(U[:1000]))}
    for name, (rows, queries) in sources.items():
        plain = Exact().index(rows, "cosine", 0)
        wanted = _with(2, partial(plain.near, queries, COUNT))[0]
        hashes = [kind(bits=bits, tables=tables) for kind, sizes in SIZES[name].items() for bits, tables in sizes]
        for how in (Exact(), *hashes):
            index: Any = how.index(rows, "cosine", 0)
            ask = partial(_with, 2, partial(index.near, queries, COUNT))
            share = 1.0 if isinstance(how, Exact) else _candidates(index, queries) / len(rows)
            found, speed = recall(ask()[0], wanted), len(queries) / turns({"it": ask}, runs)["it"]
            say(what="hashing", data=name, how=str(how), recall=found, candidates=share, queries_per_second=speed)


def metric(runs: int) -> None:
    made = recipe("knn-metric")
    for name in ("banking77", "trec"):
        train, test = (pq.read_table(data_folder() / name / f"{part}.parquet") for part in ("train", "test"))
        features, X = made.features.fit_rows(train["text"].to_pylist())
        classes, y = np.unique(train["label"].to_pylist(), return_inverse=True)
        lesson = Lesson(X, y.astype(np.int32), np.ones(len(y)), len(classes))
        Q, truth = features.rows(test["text"].to_pylist()), test["label"].to_pylist()
        for learner in (replace(made.learner, projection=None), made.learner):
            for k in (1, 5, 10, 20):
                it = replace(learner, k=k)
                right = classes[it.learn(lesson).scores(Q).argmax(axis=1)] == truth
                seconds = turns({"it": partial(it.learn, lesson)}, min(runs, 1))["it"]
                say(what="metric", data=name, projection=str(it.projection), k=k, accuracy=float(right.mean()),
                    learn_seconds=seconds)  # fmt: skip


PARTS = {"exact": exact, "graph": graph, "hashing": hashing, "metric": metric}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    say_machine(linnaeus=linnaeus.__version__, sklearn=sklearn.__version__, numpy=np.__version__)
    for name in asked.parts or PARTS:
        PARTS[name](asked.runs)


if __name__ == "__main__":
    main()
