"""Features that come with the rows: what is in a libsvm file is in the matrix."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linnaeus
from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, InputTypeError, ModelFileError, UsageError
from linnaeus.features import Ready, Selected, Weighted, restore
from linnaeus.types import State

ENTRIES = pa.list_(pa.struct([("index", pa.int32()), ("value", pa.float32())]))
ROWS = st.lists(st.lists(st.tuples(st.integers(0, 20), st.integers(-3, 3)), max_size=8), max_size=6)


def batch(rows) -> Batch:
    return Batch(features=pa.array([[{"index": i, "value": v} for i, v in row] for row in rows], ENTRIES))


def dense(X) -> list[list[float]]:
    return X.to_scipy().toarray().tolist()


@given(ROWS)
def test_every_entry_is_in_its_column(rows):
    fitted, X = Ready().fit_rows(batch(rows))
    width = max((index + 1 for row in rows for index, _ in row), default=0)
    expected = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        for index, value in row:
            expected[i, index] += value
    assert X.shape == expected.shape == (len(rows), fitted.width)
    assert dense(X) == expected.tolist()
    assert (X.data != 0).all()
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        assert (np.diff(X.indices[a:b]) > 0).all()


@given(ROWS, st.integers(1, 5))
def test_slices_are_rows_of_the_whole(rows, size):
    whole = batch(rows)
    fitted, X = Ready().fit_rows(whole)
    for start in range(0, len(rows), size):
        part = fitted.rows(whole.slice(start, min(size, len(rows) - start)))
        assert dense(part) == dense(X)[start : start + size]


def test_a_file_as_scikit_learn_reads_it(tmp_path):
    from sklearn.datasets import load_svmlight_file

    path = tmp_path / "train.svm"
    path.write_text("+1 1:0.5 3:2 # first\n-1 2:-1.25\n+1\n-1 1:1 2:1 7:3e-2\n")
    corpus = linnaeus.read(path)
    fitted, X = Ready().fit_rows(corpus)
    expected, _ = load_svmlight_file(str(path), zero_based=True, n_features=8)
    assert np.array_equal(X.to_scipy().toarray(), expected.toarray().astype(np.float32))
    assert fitted.names() == [f"#{i}" for i in range(8)]
    assert corpus.labels.to_pylist() == ["+1", "-1", "+1", "-1"]


def test_larger_indices_are_ignored_later():
    fitted = Ready().fit(batch([[(2, 1.0)]]))
    assert dense(fitted.rows(batch([[(3, 9.0), (1, 4.0)], [(99, 1.0)]]))) == [[0, 4, 0], [0, 0, 0]]


def test_a_width_that_is_known():
    fitted, X = Ready(width=5).fit_rows(batch([[(2, 1.0), (7, 1.0)]]))
    assert dense(X) == [[0, 0, 1, 0, 0]]
    assert fitted.places(batch([[]])) == [[]]


def test_it_composes():
    rows = batch([[(0, 2.0), (1, 1.0)], [(1, 3.0)], [(1, 1.0)]])
    assert Selected(Ready(), "df", k=1).fit(rows).names() == ["#1"]
    assert dense(Weighted(Ready(), "binary", "l1").fit_rows(rows)[1]) == [[0.5, 0.5], [0, 1], [0, 1]]
    assert (Ready() * Ready()).fit(rows).names() == ["#0 & #0", "#0 & #1", "#1 & #0", "#1 & #1"]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_that_are_no_numbers(value):
    with pytest.raises(DataError, match="Row 12 has no finite value at index 3"):
        Ready().fit_rows(batch([[(1, 1.0)], [(3, value)]]).at(10))


def test_mistakes_have_their_sentence():
    with pytest.raises(DataError, match="Ready needs the features of a libsvm file, but the rows have none"):
        Ready().fit(["a text"])
    with pytest.raises(DataError, match="an index below 0"):
        Ready().fit(batch([[(-1, 1.0)]]))
    with pytest.raises(DataError, match="without an index or a value"):
        Ready().fit(batch([[(None, 1.0)]]))
    with pytest.raises(UsageError, match="between 1 and"):
        Ready(width=0)
    with pytest.raises(InputTypeError, match="takes a whole number"):
        Ready(width="8")
    for width in (-1, 2**40, None):
        with pytest.raises(ModelFileError, match="damaged"):
            restore(State({"kind": "ready", "width": width}, {}))
