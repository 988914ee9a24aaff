"""The child of benchmarks/many_labels.py: one training by PECOS or omikuji. It needs nothing of Linnaeus.

    python many_labels_peers.py pecos-tree|pecos-flat|parabel|bonsai FOLDER OUT THREADS

FOLDER has rows.npz, labels.npz and test_rows.npz, as SciPy stores matrices. OUT gets the five best labels of each test
row. The last line of the output is JSON: seconds of training, microseconds of a prediction on one thread, bytes of the
saved folder.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

TOP, BEAM = 5, 10
ALONE = 2000
"""Rows that are predicted one by one where only the call of the library counts."""


def matrix(folder: str, name: str) -> Any:
    """A stored matrix: float32, columns sorted."""
    found = sp.load_npz(f"{folder}/{name}.npz").astype(np.float32).tocsr()
    found.sort_indices()
    return found


def size_of(folder: str) -> int:
    """Bytes of all files of a folder."""
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def best_of(P: Any) -> Any:
    """The labels of each row of a sparse matrix of scores, best first; -1 where there are no more."""
    rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    order = np.lexsort((-P.data, rows))
    place = np.arange(len(rows)) - P.indptr[:-1].astype(np.int64)[rows]
    best = np.full((P.shape[0], TOP), -1, np.int32)
    best[rows[place < TOP], place[place < TOP]] = P.indices[order][place < TOP]
    return best


def pecos(entry: str, folder: str, place: str, threads: int) -> tuple[Any, dict[str, float]]:
    """XR-Linear with the tree of its PIFA embedding, or one ranker for each label; predictions in one batch."""
    from pecos.xmc import Indexer, LabelEmbeddingFactory
    from pecos.xmc.xlinear.model import XLinearModel

    X, Y, X_test = matrix(folder, "rows"), matrix(folder, "labels"), matrix(folder, "test_rows")
    some = Y[:50].tocsc()
    XLinearModel.train(X[:50], some[:, np.flatnonzero(np.diff(some.indptr))], C=None, threads=threads)  # to warm up
    Y_columns = Y.tocsc()
    began = time.perf_counter()
    tree = None
    if entry == "pecos-tree":
        embedding = LabelEmbeddingFactory.create(Y, X, method="pifa", threads=threads)
        tree = Indexer.gen(embedding, indexer_type="hierarchicalkmeans", threads=threads)
    model = XLinearModel.train(X, Y_columns, C=tree, threads=threads)
    found = {"train_s": time.perf_counter() - began}
    model.save(place)
    model = XLinearModel.load(place, is_predict_only=True)
    asked = {"only_topk": TOP, "beam_size": BEAM, "threads": 1}
    model.predict(X_test[:100], **asked)
    times = []
    while len(times) < 3 and sum(times) < 10:
        began = time.perf_counter()
        P = model.predict(X_test, **asked)
        times.append(time.perf_counter() - began)
    found["predict_us"] = 1e6 * statistics.median(times) / X_test.shape[0]
    return best_of(P.tocsr()), found


def write(folder: str, path: str) -> None:
    """Rows and labels as a file in omikuji's format; a row without features gets one that says nothing."""
    X, Y = matrix(folder, "rows"), matrix(folder, "labels")
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - the child stays small
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
        for i in range(X.shape[0]):
            at = slice(X.indptr[i], X.indptr[i + 1])
            labels = ",".join(map(str, Y.indices[Y.indptr[i] : Y.indptr[i + 1]].tolist()))
            pairs = zip(X.indices[at].tolist(), X.data[at].tolist(), strict=True)
            file.write(f"{labels} {' '.join(f'{column}:{value:.9g}' for column, value in pairs) or '0:0.000001'}\n")


def omikuji(entry: str, folder: str, place: str, threads: int) -> tuple[Any, dict[str, float]]:
    """Parabel or Bonsai, three trees each; predictions one by one, since there is no other call.

    `Model.train_on_data` reads a file and trains; here both halves of it are called and timed apart.
    """
    from omikuji import Model, _ThreadPoolHandle
    from omikuji._libomikuji import ffi, lib

    began = time.perf_counter()
    write(folder, place + ".txt")
    found = {"write_s": time.perf_counter() - began}
    asked = Model.default_hyper_param()
    if entry == "bonsai":
        asked.cluster_k, asked.cluster_balanced, asked.max_depth = 100, False, 3
    pool = _ThreadPoolHandle(threads)
    began = time.perf_counter()
    data = ffi.gc(lib.load_omikuji_data_set((place + ".txt").encode(), pool.ptr), lib.free_omikuji_data_set)
    loaded = time.perf_counter()
    model = Model(lib.train_omikuji_model(data, asked, pool.ptr))
    found |= {"load_s": loaded - began, "train_s": time.perf_counter() - loaded}
    model.save(place)
    model = Model.load(place)
    model.init_prediction_thread_pool(1)
    X = matrix(folder, "test_rows")
    parts = [slice(start, stop) for start, stop in pairwise(X.indptr)]
    rows = [list(zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)) for part in parts]
    for row in rows[:100]:
        model.predict(row, beam_size=BEAM, top_k=TOP)
    best = np.full((len(rows), TOP), -1, np.int32)
    began = time.perf_counter()
    answers = [model.predict(row, beam_size=BEAM, top_k=TOP) for row in rows]
    found["predict_us"] = 1e6 * (time.perf_counter() - began) / len(rows)
    for row, answer in enumerate(answers):
        best[row, : len(answer)] = [label for label, _ in answer]
    found["call_us"] = alone(model, X)
    return best, found


def alone(model: Any, X: Any) -> float:
    """Microseconds of omikuji's function itself, without the Python code around it that sorts and copies a row."""
    from omikuji._libomikuji import ffi, lib

    labels, scores = ffi.new("uint32_t[]", TOP), ffi.new("float[]", TOP)
    columns, data = X.indices.astype(np.uint32), X.data.astype(np.float32)
    offsets = X.indptr[: ALONE + 1].tolist()
    calls = []
    for start, stop in pairwise(offsets):
        row = ffi.from_buffer("uint32_t[]", columns[start:stop]), ffi.from_buffer("float[]", data[start:stop])
        calls.append((model._model_ptr, BEAM, stop - start, *row, TOP, labels, scores, model._thread_pool.ptr))
    began = time.perf_counter()
    for call in calls:
        lib.omikuji_predict(*call)
    return 1e6 * (time.perf_counter() - began) / len(calls)


def main() -> None:
    """One entry."""
    entry, folder, out, threads = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir=folder) as temporary:  # the parent removes it where this process is stopped
        place = f"{temporary}/model"
        learn = pecos if entry.startswith("pecos") else omikuji
        best, found = learn(entry, folder, place, int(threads))
        found["bytes"] = size_of(place)
    np.save(out, best)
    print("\n" + json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
