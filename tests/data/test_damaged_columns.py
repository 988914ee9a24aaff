"""Parquet and Arrow files that are damaged in ways pyarrow itself does not put in one sentence."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from linnaeus.data import read
from linnaeus.errors import DataError

TABLE = pa.table({"text": ["good film", "bad film"], "label": ["pos", "neg"], "zqzq": ["a", "b"]})


def written(name: str) -> bytes:
    out = io.BytesIO()
    parquet.write_table(TABLE, out) if name.endswith("parquet") else feather.write_feather(TABLE, out)
    return out.getvalue()


@pytest.mark.parametrize("name", ["a.parquet", "a.feather"])
def test_column_names_that_are_not_utf8_are_one_sentence(tmp_path, name):
    (tmp_path / name).write_bytes(written(name).replace(b"zqzq", b"\xff\xfe\xfd\xfc"))
    with pytest.raises(DataError, match="is damaged"):
        read(tmp_path / name)


@pytest.mark.parametrize("name", ["a.parquet", "a.feather"])
def test_what_pyarrow_says_on_several_lines_is_one(tmp_path, name):
    for byte in range(0, 200, 7):
        data = written(name)
        (tmp_path / name).write_bytes(data[:byte] + b"\0" + data[byte:])
        with pytest.raises(DataError) as caught:
            read(tmp_path / name).batch()
        assert "\n" not in str(caught.value)


def test_a_row_group_that_claims_too_much_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["a" * 1000] * 100}), path, compression="zstd")
    with pytest.raises(DataError, match="max_bytes="):
        read(path, max_bytes=100).batch()
