import bz2
import gzip
import os
from pathlib import Path

import pyarrow as pa
import pytest

from linnaeus.data import read
from linnaeus.errors import DataError


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(data)
    return sink.getvalue().to_pybytes()


PACK = {"gz": gzip.compress, "bz2": bz2.compress, "zst": zstd}
CONTENTS = {
    "csv": b"text,label\na,x\nb,y\n",
    "tsv": b"text\tlabel\na\tx\nb\ty\n",
    "jsonl": b'{"text": "a", "label": "x"}\n{"text": "b", "label": "y"}\n',
    "txt": b"__label__x a\n__label__y b\n",
}


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("kind", CONTENTS)
def test_text_formats_compressed(tmp_path, kind, suffix):
    corpus = read(write(tmp_path, f"a.{kind}.{suffix}", PACK[suffix](CONTENTS[kind])))
    assert corpus.text.to_pylist() == ["a", "b"]
    assert corpus.labels.to_pylist() == ["x", "y"]


@pytest.mark.parametrize("suffix", PACK)
def test_several_members_in_one_file(tmp_path, suffix):
    data = PACK[suffix](b"text,label\na,x\n") + PACK[suffix](b"b,y\n")
    assert read(write(tmp_path, f"a.csv.{suffix}", data)).labels.to_pylist() == ["x", "y"]


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compression_is_seen_without_the_suffix(tmp_path, suffix):
    assert read(write(tmp_path, "a.csv", PACK[suffix](CONTENTS["csv"]))).text.to_pylist() == ["a", "b"]


@pytest.mark.parametrize("suffix", PACK)
def test_cut_short(tmp_path, suffix):
    rows = b"".join(b"%d,%s\n" % (i, os.urandom(8).hex().encode()) for i in range(20_000))
    packed = PACK[suffix](b"text,label\n" + rows)
    with pytest.raises(DataError, match=r"a\.csv\.\w+: the \w+ data is cut short or damaged"):
        read(write(tmp_path, f"a.csv.{suffix}", packed[: len(packed) // 2])).batch()


LONG = b"a" * 100_000
SWELLING = {  # a long row, and a bad one that is skipped
    "csv": b"%s,x\nbad\n" % LONG,
    "jsonl": b'{"text": "%s", "label": "x"}\nbad\n' % LONG,
    "txt": b"__label__x %s\nbad\n" % LONG,
}


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("kind", SWELLING)
def test_bombs_are_refused(tmp_path, kind, suffix):
    path = write(tmp_path, f"a.{kind}.{suffix}", PACK[suffix](CONTENTS[kind] + SWELLING[kind] * 204))
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match="decompression bomb"):
        sum(len(batch) for batch in read(path, bad_rows="skip").batches())


def test_max_bytes_takes_the_place_of_the_ratio(tmp_path):
    data = b"text\n" + b"aaaaaaa\n" * 3_000_000
    path = write(tmp_path, "a.csv.gz", gzip.compress(data))
    with pytest.raises(DataError, match="decompression bomb"):
        len(read(path))
    assert len(read(path, max_bytes=len(data))) == 3_000_000
    with pytest.raises(DataError, match="more than 23,000,000 bytes"):
        len(read(path, max_bytes=23_000_000))


def test_ordinary_text_is_no_bomb(tmp_path):
    path = write(
        tmp_path, "a.csv.gz", gzip.compress(b"text\n" + b"".join(b"row %d of many\n" % i for i in range(1_000_000)))
    )
    assert len(read(path)) == 1_000_000


def test_class_folder_of_compressed_files(tmp_path):
    (tmp_path / "x").mkdir()
    write(tmp_path / "x", "1.txt.gz", gzip.compress(b"one"))
    assert read(tmp_path).text.to_pylist() == ["one"]
