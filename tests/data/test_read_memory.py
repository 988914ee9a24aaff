import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from linnaeus.data import Batch, join, read
from linnaeus.errors import DataError, InputTypeError


def address(array: pa.Array) -> int:
    return array.buffers()[2].address


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_arrow_text_is_not_copied(kind):
    text = pa.chunked_array([pa.array(["a", "b"], kind), pa.array(["c"], kind)])
    table = pa.table({"text": text, "label": ["x", "y", "x"]})
    batches = list(read(table).batches())
    assert [address(batch.text) for batch in batches] == [address(chunk) for chunk in text.chunks]
    assert [batch.start for batch in batches] == [0, 2]
    assert batches[0].text.type == kind


def test_one_chunk_stays_where_it_is():
    text = pa.array(["a", "b"])
    assert address(read(pa.table({"text": text})).batch().text) == address(text)
    assert address(read(pa.RecordBatch.from_arrays([text], ["text"])).text) == address(text)
    assert address(read(text).text) == address(text)
    assert address(read(pa.chunked_array([text])).text) == address(text)


def test_slices_are_views():
    text = pa.array(["a", "b", "c"])
    corpus = read(text.slice(1))
    assert corpus.text.to_pylist() == ["b", "c"]
    assert address(corpus.text) == address(text)


class Stream:
    """Speaks only the Arrow C stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_anything_that_streams_arrow_is_not_copied():
    table = pa.table({"text": ["a", "b"], "label": ["x", "y"]})
    corpus = read(Stream(table))
    assert address(corpus.text) == address(table["text"].chunk(0))
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    again = read(reader)
    assert again.labels.to_pylist() == again.labels.to_pylist() == ["x", "y"]


def test_pandas():
    frame = pd.DataFrame({"text": ["a", "b"], "label": [1, 2]}, index=[7, 8])
    corpus = read(frame)
    assert corpus.labels.to_pylist() == ["1", "2"]
    assert corpus.batch().columns == {}
    assert read(frame["text"]).text.to_pylist() == ["a", "b"]
    assert read(frame.assign(label=["x", None]), bad_rows="skip").labels.to_pylist() == ["x"]
    assert read(frame.astype({"label": "category"})).labels.to_pylist() == ["1", "2"]


def test_polars():
    frame = pl.DataFrame({"text": ["a", "a rather longer text than twelve bytes"], "label": ["x", "y"]})
    corpus = read(frame)
    assert corpus.text.to_pylist() == frame["text"].to_list()
    assert corpus.text.type == pa.string()
    assert read(frame["text"]).text.to_pylist() == frame["text"].to_list()
    assert read(frame.with_columns(pl.col("label").cast(pl.Categorical))).labels.to_pylist() == ["x", "y"]


class ClassLabel:
    names = ("neg", "pos")

    def int2str(self, i):
        return self.names[i]


class Dataset:
    """As much of a Hugging Face dataset as we use."""

    def __init__(self, table):
        self.table, self.features = table, {"label": ClassLabel(), "text": object()}

    def with_format(self, kind):
        assert kind == "arrow"
        return self

    def iter(self, batch_size):
        for first in range(0, len(self.table), 2):
            yield self.table.slice(first, 2)


def test_hugging_face_dataset():
    corpus = read(Dataset(pa.table({"text": ["a", "b", "c"], "label": [1, 0, 1]})))
    assert corpus.labels.to_pylist() == ["pos", "neg", "pos"]
    with pytest.raises(InputTypeError, match="several datasets"):
        read({"train": Dataset(pa.table({"text": ["a"]}))})
    with pytest.raises(DataError, match="no label"):
        read(Dataset(pa.table({"text": ["a"], "label": [-1]})))


@pytest.mark.parametrize(
    "source",
    [
        [("a", "x"), ("b", "y")],
        (["a", "x"], ["b", "y"]),
        [{"text": "a", "label": "x"}, {"label": "y", "text": "b"}],
        {"text": ["a", "b"], "label": ["x", "y"]},
        {"text": np.array(["a", "b"]), "label": np.array(["x", "y"], object)},
        {"text": pl.Series(["a", "b"]), "label": pd.Series(["x", "y"])},
        iter([("a", "x"), ("b", "y")]),
        pa.array([{"text": "a", "label": "x"}, {"text": "b", "label": "y"}]),
    ],
)
def test_labeled_data(source):
    corpus = read(source)
    assert corpus.text.to_pylist() == ["a", "b"]
    assert corpus.labels.to_pylist() == ["x", "y"]


@pytest.mark.parametrize(
    "source", [["a", "b"], ("a", "b"), np.array(["a", "b"]), iter(["a", "b"]), {"a": 1, "b": 2}.keys()]
)
def test_texts_alone(source):
    assert read(source).text.to_pylist() == ["a", "b"]


def test_nothing_at_all():
    corpus = read([])
    assert len(corpus) == 0
    assert corpus.text.to_pylist() == []


def test_labels_of_several_kinds_in_lists():
    assert read([("a", 1), ("b", "x")]).labels.to_pylist() == ["1", "x"]
    assert read([("a", ["x", "y"]), ("b", [])]).labels.to_pylist() == [["x", "y"], []]
    assert read([("a", 1.5), ("b", 2.0)]).kind == "numeric"
    assert read([("a", 1.5)], label_kind="one").kind == "one"


def test_skip_in_memory():
    corpus = read({"text": ["a", None, "c"], "label": ["x", "y", ""]}, bad_rows="skip")
    assert corpus.text.to_pylist() == ["a"]
    assert corpus.skipped.count == 2
    assert corpus.skipped.reasons == ("the data, row 2: no text in column 'text'", "the data, row 3: no label")
    assert str(corpus.skipped).startswith("2 rows skipped; the data, row 2")


def test_joined_batches_past_two_gigabytes_get_wide_offsets(monkeypatch):
    monkeypatch.setattr("linnaeus.data.batch._ROOM", 10)
    batches = list(read(pa.chunked_array([["abcdef"], ["ghijkl"]])).batches())
    assert join(batches).text.type == pa.large_string()
    assert join(batches).text.to_pylist() == ["abcdef", "ghijkl"]
    assert batches[0].take([0, 0]).text.to_pylist() == ["abcdef"] * 2


def test_joined_batches_of_several_types():
    made = join(
        [
            Batch(pa.array(["a"]), columns={"x": pa.array([1])}),
            Batch(pa.array(["b"], pa.large_string()), columns={"x": pa.array([1.5])}),
        ]
    )
    assert made.text.to_pylist() == ["a", "b"]
    assert made.columns["x"].to_pylist() == [1.0, 1.5]


def test_two_columns_of_one_name(tmp_path):
    table = pa.table([["a"], ["b"]], names=["text", "text"])
    pq.write_table(table, tmp_path / "a.parquet")
    for source in (table, tmp_path / "a.parquet"):
        with pytest.raises(DataError, match="several columns 'text'; give each a name of its own"):
            read(source)
    with pytest.raises(DataError, match="give each column a name of its own"):
        read(pd.DataFrame([["a", "b"]], columns=["text", "text"]))
