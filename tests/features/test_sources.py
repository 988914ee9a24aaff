"""Texts however they come, and a sentence for what is no text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, InputTypeError
from linnaeus.features import Shape, as_stream

TEXTS = ["good film", "", "schlechter Film 👎"]


@pytest.mark.parametrize(
    "source",
    [
        TEXTS,
        tuple(TEXTS),
        iter(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, object),
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS).dictionary_encode(),
        pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype=object),
        pd.Series(TEXTS, dtype="category"),
        pl.Series(TEXTS),
        Batch(pa.array(TEXTS)),
    ],
    ids=lambda source: type(source).__module__ + "." + type(source).__name__,
)
def test_every_column_of_texts(source):
    stream = as_stream(source)
    for _ in range(2):
        assert [text for batch in stream.batches() for text in batch.text.to_pylist()] == TEXTS


def test_batches_know_their_first_row():
    assert [batch.start for batch in as_stream(pa.chunked_array([TEXTS[:2], TEXTS[2:]])).batches()] == [0, 2]


def test_arrow_text_is_not_copied():
    array = pa.array(TEXTS)
    (batch,) = as_stream(array).batches()
    assert batch.text.buffers()[2].address == array.buffers()[2].address


def test_nothing_is_no_rows():
    assert Shape().fit([]).rows([]).shape == (0, 6)
    assert Shape().fit([]).rows(pa.chunked_array([], pa.string())).shape == (0, 6)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("text", r"wrap it in a list: \[text\]"),
        (b"text", "decode"),
        (3, "int was given"),
        (None, "NoneType was given"),
        ({"text": 1}, "dict was given"),
        ({"text"}, "set was given"),
        ([1, 2], r"texts\[0\] is of type int"),
        (["a", b"b"], r"texts\[1\] is of type bytes"),
        (pa.array([1.5]), "type double"),
        (pd.Series([1, 2]), "type int64"),
        (np.array([1, 2]), r"texts\[0\] is of type int"),
        (np.array([["a"]]), "2 dimensions"),
        (pd.DataFrame({"a": ["x"]}), r"linnaeus\.read"),
        (pl.DataFrame({"a": ["x"]}), r"linnaeus\.read"),
        (pa.table({"a": ["x"]}), r"linnaeus\.read"),
    ],
)
def test_what_is_no_column_of_texts(source, sentence):
    with pytest.raises(InputTypeError, match=sentence):
        Shape().fit(source)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (["a", None], r"texts\[1\] is missing"),
        (["a", float("nan")], r"texts\[1\] is missing"),
        (["a", pd.NA], r"texts\[1\] is missing"),
        (pa.array(["a", None]), r"texts\[1\] is missing"),
        (pa.chunked_array([["a"], ["b", None]]), r"texts\[2\] is missing"),
        (pd.Series(["a", None]), r"texts\[1\] is missing"),
        (["a", "b\ud800"], r"texts\[1\] holds half of a surrogate pair at character 1"),
    ],
)
def test_texts_that_are_not_there(source, sentence):
    with pytest.raises(DataError, match=sentence):
        Shape().fit(source)
