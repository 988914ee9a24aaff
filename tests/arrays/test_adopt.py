"""What users bring as a matrix: containers that are taken, how much is copied, and sentences for the rest."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from linnaeus.arrays import CSR, Dense, as_rows, column_names
from linnaeus.errors import DataError, InputTypeError

VALUES = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
FRAME = pd.DataFrame(VALUES, columns=["a", "b", "c"])


def dense(X):
    return X.dot(np.eye(X.shape[1]))


DENSE = {
    "float64": VALUES,
    "float32": VALUES.astype(np.float32),
    "float16": VALUES.astype(np.float16),
    "long double": VALUES.astype(np.longdouble),
    "int64": VALUES.astype(np.int64),
    "uint8": VALUES.astype(np.uint8),
    "big-endian": VALUES.astype(">f8"),
    "Fortran order": np.asfortranarray(VALUES),
    "reversed": VALUES[::-1].copy()[::-1],
    "every other column": np.repeat(VALUES, 2, axis=1)[:, ::2],
    "objects": VALUES.astype(object),
    "lists": VALUES.tolist(),
    "tuples": tuple(map(tuple, VALUES.tolist())),
    "a list of arrays": list(VALUES),
    "np.matrix": np.asmatrix(VALUES),
    "masked, nothing masked": np.ma.array(VALUES, mask=False),
    "pandas": FRAME,
    "pandas, mixed": FRAME.astype({"a": np.int8, "b": bool, "c": np.float32}),
    "pandas, nullable": FRAME.astype({"a": "Int64", "b": "boolean", "c": "Float32"}),
    "polars": pl.DataFrame(VALUES, schema=["a", "b", "c"], orient="row"),
    "polars, mixed": pl.DataFrame({"a": [1, 0], "b": [False, False], "c": [2.0, 3.0]}),
    "pyarrow table": pa.table({"a": [1, 0], "b": [False, False], "c": [2.0, 3.0]}),
    "pyarrow batch": pa.record_batch({"a": [1, 0], "b": [False, False], "c": [2.0, 3.0]}),
}


@pytest.mark.parametrize("given", DENSE.values(), ids=DENSE)
def test_dense_containers(given):
    X = as_rows(given)
    assert isinstance(X, Dense)
    assert X.values.flags.c_contiguous
    assert X.values.dtype in (np.float32, np.float64)
    assert np.array_equal(dense(X), VALUES)


FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.bool_])
@pytest.mark.parametrize("layout", FORMATS)
def test_sparse_containers(layout, dtype, kind):
    given = getattr(sp, f"{layout}_{kind}")(VALUES.astype(dtype))
    X = as_rows(given)
    assert isinstance(X, CSR)
    assert X.data.dtype in (np.float32, np.float64)
    assert (X.indptr.dtype, X.indices.dtype) == (np.int64, np.int32)
    assert np.array_equal(dense(X), VALUES.astype(dtype))


def test_sparse_frames():
    X = as_rows(FRAME.astype(pd.SparseDtype(float, 0.0)))
    assert isinstance(X, CSR)
    assert np.array_equal(dense(X), VALUES)


def test_our_own_matrices_are_taken_as_they_are():
    for X in (as_rows(VALUES), as_rows(sp.csr_array(VALUES))):
        assert as_rows(X) is X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_is_copied_that_lies_well(dtype):
    values, matrix = VALUES.astype(dtype), sp.csr_matrix(VALUES.astype(dtype))
    assert as_rows(values).values is values
    X = as_rows(matrix)
    assert np.shares_memory(X.data, matrix.data)
    assert np.shares_memory(X.indices, matrix.indices)
    values.flags.writeable = False
    assert np.array_equal(dense(as_rows(values)), VALUES)


def test_wide_indices_are_narrowed():
    matrix = sp.csr_matrix(VALUES)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    X = as_rows(matrix)
    assert X.indices.dtype == np.int32
    assert np.shares_memory(X.data, matrix.data)
    assert np.array_equal(dense(X), VALUES)


def test_columns_out_of_order_or_twice_are_mended_on_a_copy():
    matrix = sp.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    X = as_rows(matrix)
    assert (X.indices.tolist(), X.data.tolist()) == ([0, 2], [2.0, 5.0])
    assert (matrix.indices.tolist(), matrix.data.tolist()) == ([2, 0, 2], [1.0, 2.0, 4.0])


def test_what_scipy_remembers_of_the_order_is_not_trusted():
    matrix = sp.csr_matrix(VALUES)
    assert matrix.has_canonical_format
    matrix.indices[:2] = [2, 0]
    assert as_rows(matrix).indices.tolist()[:2] == [0, 2]


def test_small_integers_named_twice_do_not_overflow():
    matrix = sp.coo_matrix((np.array([100, 100], np.int8), ([0, 0], [1, 1])), shape=(1, 2))
    assert dense(as_rows(matrix)).tolist() == [[0, 200]]


def test_stored_zeros_stay():
    matrix = sp.csr_matrix((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert as_rows(matrix).nnz == 2


def with_value(value, at=(1, 2)):
    values = VALUES.copy()
    values[at] = value
    return values


class Table:
    """Rows that cannot be counted out."""

    def __array__(self, dtype=None, copy=None):
        raise ValueError("no array")


REFUSED = {
    "NaN": (with_value(np.nan), "X[1, 2] is NaN"),
    "infinity": (with_value(-np.inf), "X[1, 2] is infinity"),
    "the first of many": (np.full((3, 2), np.nan, np.float32), "X[0, 0] is NaN"),
    "NaN in a sparse matrix": (sp.csr_array(with_value(np.nan)), "X[1, 2] is NaN"),
    "infinity in columns": (sp.csc_matrix(with_value(np.inf, (0, 2))), "X[0, 2] is infinity"),
    "half infinity": (with_value(np.inf).astype(np.float16), "X[1, 2] is infinity"),
    "missing in pandas": (FRAME.astype("Float64").mask(FRAME > 2), "X[1, 2] is NaN"),
    "missing in polars": (pl.DataFrame({"a": [1.0, None]}), "X[1, 0] is NaN"),
    "missing in Arrow": (pa.table({"a": [1, None]}), "X[1, 0] is NaN"),
    "masked": (np.ma.array(VALUES, mask=VALUES > 2), "X[1, 2] is NaN"),
    "None in objects": (np.array([[1.0, None]], object), "X[0, 1] is NaN"),
    "one dimension": (VALUES[0], "Reshape your data"),
    "one dimension, sparse": (sp.coo_array(VALUES[0]), "Reshape your data"),
    "no dimension": (3.0, "Reshape your data"),
    "three dimensions": (VALUES[None], "Found array with dim 3"),
    "no rows": (VALUES[:0], "0 sample(s) (shape=(0, 3)) while a minimum of 1 is required"),
    "no columns": (VALUES[:, :0], "0 feature(s) (shape=(2, 0)) while a minimum of 1 is required"),
    "no rows, sparse": (sp.csr_array((0, 3)), "0 sample(s)"),
    "no columns, sparse": (sp.csr_array((2, 0)), "0 feature(s)"),
    "an empty frame": (FRAME.iloc[:, :0], "0 feature(s)"),
    "an empty list": ([], "Reshape your data"),
    "complex": (VALUES + 1j, "Complex data not supported"),
    "complex, sparse": (sp.csr_array(VALUES + 1j), "Complex data not supported"),
    "strings": (np.array([["a", "b"]]), "could not convert X"),
    "bytes": (np.array([[b"a"]]), "could not convert X"),
    "words among objects": (np.array([["a", 1]], object), "could not convert X"),
    "a frame of strings": (pd.DataFrame({"a": ["x", "y"]}), "could not convert X"),
    "a polars frame of strings": (pl.DataFrame({"a": ["x", "y"]}), "could not convert X"),
    "an Arrow column of strings": (pa.table({"a": ["x", "y"]}), "could not convert column 'a' of X"),
    "dates": (np.array([["2026-01-01"]], "datetime64[D]"), "could not convert X"),
    "uneven rows": ([[1.0], [1.0, 2.0]], "rows of equal length"),
    "no array": (Table(), "not a table of numbers"),
    "too many columns": (sp.csr_array((1, 2**31)), "2,147,483,648 columns"),
}


@pytest.mark.parametrize(("given", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refusals(given, sentence):
    with pytest.raises(DataError, match=re.escape(sentence)):
        as_rows(given)


@pytest.mark.parametrize("given", [np.array([[{"a": 1}]], object), [[{1}]]], ids=["dict", "set"])
def test_things_that_are_no_numbers_are_of_the_wrong_type(given):
    with pytest.raises(InputTypeError, match=r"argument must be .* string.* number"):
        as_rows(given)


def damaged(**arrays):
    matrix = sp.csr_matrix(VALUES)
    for name, values in arrays.items():
        setattr(matrix, name, np.array(values, getattr(matrix, name).dtype))
    return matrix


@pytest.mark.parametrize(
    "matrix",
    [
        damaged(indices=[0, 3, 2]),
        damaged(indices=[0, -1, 2]),
        damaged(indptr=[0, 3, 2]),
        damaged(indptr=[0, 2, 9]),
        damaged(indptr=[-1, 2, 3]),
        damaged(data=[1.0]),
    ],
)
def test_damaged_sparse_matrices_are_refused(matrix):
    with pytest.raises(DataError, match="damaged"):
        as_rows(matrix)


def test_the_width_of_training_is_asked_for():
    sentence = r"X has 3 features, but LinearClassifier is expecting 2 features as input"
    for given in (VALUES, sp.csr_array(VALUES)):
        assert as_rows(given, width=3).shape == (2, 3)
        with pytest.raises(DataError, match=sentence):
            as_rows(given, width=2, who="LinearClassifier")


NAMED = [FRAME, pl.DataFrame(FRAME.to_dict("list")), pa.table(FRAME.to_dict("list"))]


@pytest.mark.parametrize("frame", NAMED, ids=["pandas", "polars", "pyarrow"])
def test_names_of_columns(frame):
    names = column_names(frame)
    assert names.dtype == object
    assert names.tolist() == ["a", "b", "c"]
    as_rows(frame, names=names)
    for seen, sentence in (
        (["c", "b", "a"], "must be in the same order"),
        (["a", "b", "x"], "unseen at fit time:\n- c\nFeature names seen at fit time, yet now missing:\n- x\n"),
        ([f"n{i}" for i in range(9)], "- n4\n- ..."),
    ):
        with pytest.raises(DataError, match=re.escape(sentence)):
            as_rows(frame, names=np.array(seen, object))


def test_names_that_are_none():
    for given in (VALUES, VALUES.tolist(), sp.csr_array(VALUES), pd.DataFrame(VALUES)):
        assert column_names(given) is None
        as_rows(given, names=np.array(["a", "b", "c"], object))
    with pytest.raises(InputTypeError, match="string names"):
        column_names(pd.DataFrame(VALUES, columns=["a", 1, "b"]))
