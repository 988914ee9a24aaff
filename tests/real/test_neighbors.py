"""Neighbors on real texts: exact search against NumPy, and what the learned metric adds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linnaeus
from linnaeus.features import Words
from linnaeus.learners.neighbors import Exact
from linnaeus.recipes.cookbook import recipe
from linnaeus.types import Lesson


def sides(folder):
    if not (folder / "train.parquet").exists() or not (folder / "test.parquet").exists():
        pytest.skip(f"no {folder.name} here")
    return [linnaeus.read(folder / f"{part}.parquet") for part in ("train", "test")]


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "inner"])
def test_exact_search_is_that_of_brute_force(real_data, metric):
    train, test = sides(real_data / "trec")
    features, X = Words(values="tfidf", length="l2").fit_rows(train.text.to_pylist())
    Q = features.rows(test.text.to_pylist())
    rows, scores = Exact().index(X, metric, 0).near(Q, 10)
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


@pytest.mark.parametrize("name", ["banking77", "trec"])
def test_the_learned_metric_beats_none(real_data, name):
    """With the features and the settings of the recipe, which cross-validation on the training parts chose."""
    train, test = sides(real_data / name)
    made = recipe("knn-metric")
    features, X = made.features.fit_rows(train.text.to_pylist())
    classes, y = np.unique(train.labels.to_pylist(), return_inverse=True)
    lesson, Q = Lesson(X, y.astype(np.int32), np.ones(len(y)), len(classes)), features.rows(test.text.to_pylist())
    right = []
    for learner in (replace(made.learner, projection=None), made.learner):
        S = learner.learn(lesson).scores(Q)
        right.append((classes[S.argmax(axis=1)] == test.labels.to_pylist()).mean())
    assert right[1] > right[0] + 0.03
