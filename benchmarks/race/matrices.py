"""The two matrices of the race: scikit-learn's tf-idf of word 1-2-grams, learned on the training part, in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse


def ensure(name: str, data: Path, cache: Path) -> Path:
    """The cached matrix of a data set (NAME.npz, beside it NAME.y.npy), made where it is not there."""
    path = cache / f"{name}.npz"
    if not path.exists() or not labels_path(path).exists():
        X, y = build(data / name / "train.parquet")
        cache.mkdir(parents=True, exist_ok=True)
        np.save(labels_path(path), y)
        sparse.save_npz(path, X)
    return path


def labels_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}.y.npy")


def build(path: Path) -> tuple[Any, Any]:
    """The matrix and the labels as numbers 0 .. k-1, in the order of their names."""
    import pyarrow.parquet as pq
    from sklearn.feature_extraction.text import TfidfVectorizer

    table = pq.read_table(path)
    X = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2).fit_transform(table["text"].to_pylist())
    _, y = np.unique(np.asarray(table["label"].to_pylist()), return_inverse=True)
    return sparse.csr_matrix(X), y.astype(np.int64)


def load(path: Path) -> tuple[Any, Any]:
    """What `ensure` wrote."""
    X = sparse.csr_matrix(sparse.load_npz(path))
    X.sort_indices()
    return X, np.load(labels_path(path))
