"""Numbers standardized, categories one by one, and sentences for columns that cannot be read."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, InputTypeError, UsageError
from linnaeus.features import Columns


def rows(**columns) -> Batch:
    return Batch(columns={name: pa.array(values) for name, values in columns.items()})


class Cut:
    def __init__(self, whole, size):
        self.whole, self.size = whole, size

    def batches(self):
        for start in range(0, len(self.whole), self.size):
            yield self.whole.slice(start, self.size)


def test_numbers_have_mean_zero_and_deviation_one():
    rng = np.random.default_rng(1)
    values = rng.normal(1e6, 3, 500)
    fitted, X = Columns(numeric=("x",)).fit_rows(rows(x=values))
    found = X.to_scipy().toarray()[:, 0]
    assert np.allclose(found, (values - values.mean()) / values.std(), atol=1e-5)
    assert fitted.names() == ["x", "x is missing"]


def test_any_cut_learns_the_same_bits():
    rng = np.random.default_rng(2)
    whole = rows(x=rng.lognormal(0, 9, 20_000))
    states = [Columns(numeric=("x",)).fit(Cut(whole, size)).state() for size in (20_000, 8192, 777)]
    assert len({state.tensors["means"].tobytes() + state.tensors["scales"].tobytes() for state in states}) == 1


@pytest.mark.parametrize(
    "values",
    [
        ["1", None, "3", " 5 "],
        ["1", "", "3", "5"],
        ["1.0", "n/a", "3e0", "5"],
        [1, None, 3, 5],
        [1.0, float("nan"), 3.0, 5.0],
    ],
)
def test_missing_numbers_are_the_mean_and_say_so(values):
    X = Columns(numeric=("x",)).fit_rows(rows(x=values))[1].to_scipy().toarray()
    assert X[1].tolist() == [0, 1]
    assert np.allclose(X[[0, 2, 3], 0], np.array([-2, 0, 2]) / np.sqrt(8 / 3))
    assert not X[[0, 2, 3], 1].any()


def test_booleans_and_categories_of_arrow_are_read():
    batch = Batch(columns={"b": pa.array([True, False]), "d": pa.array(["1", "3"]).dictionary_encode()})
    X = Columns(numeric=("b", "d"), categorical=("b", "d")).fit_rows(batch)[1].to_scipy().toarray()
    assert X[:, [0, 2]].tolist() == [[1, -1], [-1, 1]]


def test_constant_and_empty_columns_are_zero():
    X = Columns(numeric=("x", "y")).fit_rows(rows(x=[3, 3], y=["", ""]))[1].to_scipy().toarray()
    assert X.tolist() == [[0, 0, 0, 1], [0, 0, 0, 1]]


def test_categories_by_code_point_with_a_column_for_all_others():
    fitted = Columns(categorical=("c",)).fit(rows(c=["b", "a", "Z", "ä", "b", None]))
    assert fitted.names() == ["c=Z", "c=a", "c=b", "c=ä", "c=<unknown>"]
    X = fitted.rows(rows(c=["a", "new", None, ""])).to_scipy().toarray()
    assert X.argmax(axis=1).tolist() == [1, 4, 4, 4]
    assert X.sum(axis=1).tolist() == [1, 1, 1, 1]


def test_rare_categories_are_unknown():
    fitted, X = Columns(categorical=("c",), min_df=2).fit_rows(rows(c=["a", "a", "b"]))
    assert fitted.names() == ["c=a", "c=<unknown>"]
    assert X.indices.tolist() == [0, 0, 1]


def test_numbers_as_categories():
    assert Columns(categorical=("c",)).fit(rows(c=[10, 9])).names() == ["c=10", "c=9", "c=<unknown>"]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"y": [1]}, r"column 'x'.*do not have.*'y'"),
        ({"x": ["1", "cheap"]}, r"Row 2 of the column 'x' is 'cheap'"),
        ({"x": ["1", "inf"]}, r"Row 2 of the column 'x' is beyond"),
        ({"x": ["1", "1_000"]}, r"Row 2"),
        ({"x": [1e200, 1.0]}, r"Row 1"),
        ({"x": [1.0, float("-inf")]}, "is beyond"),
        ({"x": [["a"], ["b"]]}, r"'x' holds list.*, not numbers; .*categorical="),
        ({"x": [date(2026, 1, 1), None]}, r"'x' holds date32.*, not numbers"),
    ],
)
def test_columns_that_cannot_be_read(columns, sentence):
    with pytest.raises(DataError, match=sentence):
        Columns(numeric=("x",)).fit(rows(**columns))


@pytest.mark.parametrize("cells", [[["a"]], [b"\xff"]])
def test_cells_that_are_no_categories(cells):
    with pytest.raises(DataError, match=r"'x' holds .*, not categories; turn"):
        Columns(categorical=("x",)).fit(rows(x=cells))


def test_recipes_that_cannot_be_meant():
    with pytest.raises(UsageError, match="at least one"):
        Columns()
    with pytest.raises(InputTypeError, match=r"\('price',\)"):
        Columns(numeric="price")
    with pytest.raises(UsageError, match="min_df"):
        Columns(categorical=("c",), min_df=0)
    assert Columns(numeric=["x"]) == Columns(numeric=("x",))
