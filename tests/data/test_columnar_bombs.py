"""Columnar files that are small on disk and huge in memory: refused, and never decoded as a whole."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from linnaeus.data import read
from linnaeus.data.formats import columnar
from linnaeus.data.formats.columnar import unpacked_sizes
from linnaeus.errors import DataError

ROWS = 1 << 16
LONG = "x" * 20_000


def repeated(rows=ROWS, text=LONG):
    indices = pa.array(np.zeros(rows, np.int32))
    return pa.table({"text": pa.DictionaryArray.from_arrays(indices, pa.array([text]))})


def write(path, table):
    if path.suffix == ".feather":
        feather.write_feather(table, path, compression="uncompressed")
        return path
    with ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)
    return path


def long_rows_in_parquet(path, rows, **options):
    parquet.write_table(pa.table({"text": [LONG] * rows}), path, compression="zstd", **options)
    return path


def refused(path):
    before, used = pa.total_allocated_bytes(), [0]
    with pytest.raises(DataError, match="decompression bomb"):
        used.extend(pa.total_allocated_bytes() - before for _ in read(path).batches())
    assert max(used) <= 3 * columnar.PIECE


@pytest.mark.parametrize(
    "options", [{}, {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}}], ids=["dict", "delta"]
)
def test_one_long_text_many_times_in_parquet_is_refused(tmp_path, options):
    refused(long_rows_in_parquet(tmp_path / "a.parquet", 4000, **options))


@pytest.mark.parametrize("name", ["a.feather", "a.arrow"])
def test_one_long_text_many_times_in_arrow_is_refused(tmp_path, name):
    refused(write(tmp_path / name, repeated()))


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_compressed_arrow_is_refused_before_it_is_unpacked(tmp_path, codec):
    table = pa.table({"text": [LONG] * 4000})
    feather.write_feather(table, tmp_path / "a.feather", compression=codec)
    with ipc.new_stream(tmp_path / "a.arrow", table.schema, options=ipc.IpcWriteOptions(compression=codec)) as stream:
        stream.write_table(table)
    for name in ("a.feather", "a.arrow"):
        raw = pa.OSFile(str(tmp_path / name))
        assert sum(unpacked_sizes(raw)) == pytest.approx(80_000_000, rel=0.01)
        if codec == "zstd":
            refused(tmp_path / name)
        assert len(read(tmp_path / name, max_bytes=90_000_000)) == 4000


def test_views_of_the_same_bytes_are_refused(tmp_path):
    one = pa.array([LONG], pa.string_view())
    views = pa.Array.from_buffers(
        pa.string_view(), ROWS, [None, pa.py_buffer(one.buffers()[1].to_pybytes() * ROWS), one.buffers()[2]]
    )
    refused(write(tmp_path / "a.arrow", pa.table({"text": views})))


def test_a_list_of_dictionaries_counts_its_members(tmp_path):
    texts = repeated(4000)["text"].chunk(0)
    labels = pa.ListArray.from_arrays(pa.array(np.arange(0, 4001, 2, dtype=np.int32)), texts)
    assert columnar.row_bytes(labels).tolist() == [40_000] * 2000
    path = write(tmp_path / "a.arrow", pa.table({"text": ["a"] * 2000, "label": labels}))
    with pytest.raises(DataError, match="decompression bomb"):
        list(read(path).batches())


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_with_max_bytes_a_bomb_is_read_in_small_pieces(tmp_path, name, monkeypatch):
    monkeypatch.setattr(columnar, "PIECE", 1 << 20)
    monkeypatch.setattr("linnaeus.data.formats.columnar.PIECE", 1 << 20)
    path = tmp_path / name
    long_rows_in_parquet(path, 500) if path.suffix == ".parquet" else write(path, repeated(500))
    sizes = [batch.text.nbytes for batch in read(path, max_bytes=1 << 30).batches()]
    assert len(sizes) > 5
    assert max(sizes) < 2 << 20
    assert read(path, max_bytes=1 << 30).batch().text.to_pylist() == [LONG] * 500


def test_ordinary_categories_are_no_bomb_and_stay_in_one_piece(tmp_path):
    labels = pa.array([f"class {i % 50}" for i in range(50_000)]).dictionary_encode()
    table = pa.table({"text": [f"text {i}" for i in range(50_000)], "label": labels})
    feather.write_feather(table, tmp_path / "a.feather", compression="zstd", chunksize=50_000)
    parquet.write_table(table, tmp_path / "b.parquet")
    for path in (tmp_path / "a.feather", tmp_path / "b.parquet"):
        batches = list(read(path).batches())
        assert len(batches) == 1
        assert batches[0].labels.to_pylist() == labels.to_pylist()


@pytest.mark.parametrize("cut", [9, 200, -1, -12])
def test_a_damaged_index_is_one_sentence(tmp_path, cut):
    feather.write_feather(pa.table({"text": ["a"] * 100}), tmp_path / "a.feather", compression="zstd")
    data = bytearray((tmp_path / "a.feather").read_bytes())
    data[-12:-10] = b"\xff\x7f" if cut < 0 else data[-12:-10]
    (tmp_path / "a.feather").write_bytes(data[:cut])
    with pytest.raises(DataError, match=r"a\.feather: is not Arrow or is damaged"):
        list(read(tmp_path / "a.feather").batches())
