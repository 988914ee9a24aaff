"""Neighbors on real texts: exact search against NumPy, and what the learned metric adds."""

from __future__ import annotations

import numpy as np
import pytest

import linnaeus
from linnaeus.features import Words
from linnaeus.neighbors import Components, Kernel, Neighbors
from linnaeus.types import Lesson


def sides(folder):
    if not (folder / "train.parquet").exists() or not (folder / "test.parquet").exists():
        pytest.skip(f"no {folder.name} here")
    train, test = (linnaeus.read(folder / f"{part}.parquet") for part in ("train", "test"))
    features, X = Words(values="tfidf", length="l2").fit_rows(train.text.to_pylist())
    labels = [np.array(part.labels.to_pylist()) for part in (train, test)]
    return X, features.rows(test.text.to_pylist()), *labels


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "inner"])
def test_exact_search_is_that_of_brute_force(real_data, metric):
    X, Q, _, _ = sides(real_data / "trec")
    rows, scores = Neighbors(metric=metric).search.index(X, metric, 0).near(Q, 10)
    A, B = X.to_scipy().toarray().astype(np.float64), Q.to_scipy().toarray().astype(np.float64)
    S = B @ A.T
    if metric == "euclidean":
        S = -np.sqrt(np.maximum(0, (B * B).sum(axis=1)[:, None] + (A * A).sum(axis=1) - 2 * S))
    if metric == "cosine":
        lengths = np.outer(np.sqrt((B * B).sum(axis=1)), np.sqrt((A * A).sum(axis=1)))
        S = S / np.where(lengths > 0, lengths, 1)
    best = -np.sort(-S, axis=1)[:, :10]
    assert np.allclose(scores, best, rtol=1e-6, atol=1e-7)
    assert np.allclose(np.take_along_axis(S, rows, axis=1), scores, rtol=1e-6, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["banking77", "trec"])
def test_the_learned_metric_beats_none(real_data, name):
    X, Q, labels, truth = sides(real_data / name)
    classes, y = np.unique(labels, return_inverse=True)
    lesson = Lesson(X, y.astype(np.int32), np.ones(len(y)), len(classes))
    right = []
    for projection in (None, Components()):
        model = Neighbors(k=10, votes=Kernel(), projection=projection).learn(lesson)
        right.append((classes[model.scores(Q).argmax(axis=1)] == truth).mean())
    assert right[1] > right[0] + 0.03
