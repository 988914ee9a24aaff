import gc
import gzip
import io
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from linnaeus.data import read
from linnaeus.data.files import names_files
from linnaeus.errors import DataError


def write(folder: Path, name: str, data: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data)
    return path


@pytest.fixture
def shards(tmp_path):
    write(tmp_path, "part-1.csv", "text,label\na,x\n")
    write(tmp_path, "part-0.csv", "label,text\ny,b\n")
    write(tmp_path, "_SUCCESS", "")
    write(tmp_path, ".part-2.csv.crc", "no")
    return tmp_path


def test_folder_pattern_and_list_of_paths(shards):
    assert read(shards).text.to_pylist() == ["b", "a"]
    assert read(str(shards / "part-*.csv")).labels.to_pylist() == ["y", "x"]
    assert read([shards / "part-1.csv", shards / "part-0.csv"]).text.to_pylist() == ["a", "b"]


def test_list_of_strings_is_texts(shards):
    assert read([str(shards / "part-1.csv")]).text.to_pylist() == [str(shards / "part-1.csv")]
    assert not names_files(["a.csv"])
    assert names_files([Path("a.csv")])


def test_file_whose_name_is_a_pattern(tmp_path):
    assert read(write(tmp_path, "a[1].csv", "text\nx\n")).text.to_pylist() == ["x"]


def test_columns_of_shards_must_agree(shards):
    write(shards, "part-3.csv", "text,class\na,x\n")
    with pytest.raises(DataError, match=r"part-3\.csv: its columns 'text', 'class' are not those of .*part-0\.csv"):
        read(shards)


def test_formats_of_shards_must_agree(shards):
    write(shards, "part-3.jsonl", '{"text": "a", "label": "x"}\n')
    with pytest.raises(DataError, match="different formats"):
        read(shards)
    with pytest.raises(DataError, match="different formats"):
        read([shards / "part-1.csv", shards / "part-3.jsonl"])


def test_json_shards_may_lack_further_columns(tmp_path):
    write(tmp_path, "a.jsonl", '{"text": "a", "label": "x", "n": 1}\n')
    write(tmp_path, "b.jsonl", '{"text": "b", "label": "y"}\n')
    assert read(tmp_path).batch().columns["n"].to_pylist() == ["1", None]
    write(tmp_path, "c.jsonl", '{"text": "c"}\n')
    with pytest.raises(DataError, match=r"c\.jsonl: its columns"):
        read(tmp_path)


def test_label_kinds_of_shards_must_agree(tmp_path):
    write(tmp_path, "a.jsonl", '{"text": "a", "label": "x"}\n')
    write(tmp_path, "b.jsonl", '{"text": "b", "label": ["y"]}\n')
    with pytest.raises(DataError, match="labels are 'many' but 'one'"):
        read(tmp_path)


def test_errors_name_the_right_shard(shards):
    write(shards, "part-2.csv", "text,label\nok,x\nbad\n")
    with pytest.raises(DataError, match=r"part-2\.csv, line 3"):
        read(shards).batch()


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (b"text,label\na,x\n", {}),
        (b'{"text": "a", "label": "x"}\n', {}),
        (b"__label__x a\n", {}),
        (gzip.compress(b"text,label\na,x\n"), {}),
        (b"text|label\na|x\n", {"format": "csv"}),
    ],
    ids=["csv", "json", "fasttext", "gzip", "said"],
)
def test_standard_input_can_be_walked_twice(monkeypatch, data, options):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    corpus = read("-", **options)
    assert corpus.labels.to_pylist() == corpus.labels.to_pylist() == ["x"]


def test_standard_input_is_bounded_and_not_empty(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"text\n" + b"a\n" * 100)))
    with pytest.raises(DataError, match="standard input: is longer than 100 bytes"):
        read("-", max_bytes=100)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
    with pytest.raises(DataError, match="standard input: is empty"):
        read("-")


def test_the_spooled_file_goes_with_the_corpus(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"text\na\n")))
    corpus = read("-")
    folder = corpus._source.files[0].path.parent
    assert folder.exists()
    del corpus
    gc.collect()
    assert not folder.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_named_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"text,label\na,x\n",))
    writer.start()
    corpus = read(tmp_path / "pipe")
    writer.join()
    assert corpus.labels.to_pylist() == corpus.labels.to_pylist() == ["x"]


def test_file_that_goes_between_walks(tmp_path):
    corpus = read(write(tmp_path, "a.csv", "text\na\n"))
    (tmp_path / "a.csv").unlink()
    with pytest.raises(DataError, match="no such file"):
        len(corpus)
