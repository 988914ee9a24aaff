"""Twelve files on which table readers lose, change or refuse data."""

from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from linnaeus.data import read
from linnaeus.errors import DataError


def rows(path: Path, **options) -> list[tuple[str, str]]:
    batch = read(path, **options).batch()
    return list(zip(batch.text.to_pylist(), batch.labels.to_pylist(), strict=True))


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_newline_quotes_and_comma_in_a_cell(tmp_path):
    path = write(tmp_path, "a.csv", b'text,label\n"one, ""two""\nthree",x\n')
    assert rows(path) == [('one, "two"\nthree', "x")]


@pytest.mark.parametrize("shift", range(40))
def test_newlines_in_cells_wherever_the_block_ends(tmp_path, shift, monkeypatch):
    monkeypatch.setattr("linnaeus.data.formats.delimited.BLOCK", 1 << 12)
    cells = [("x" * shift, "0")] + [(f"line {i}\nand, more\n\n{i}", str(i % 3)) for i in range(1500)]
    data = "text,label\n" + "".join(f'"{text}",{label}\n' for text, label in cells)
    assert rows(write(tmp_path, "a.csv", data.encode())) == cells


def test_sixty_thousand_rows_with_newlines_in_cells(tmp_path):
    cells = [(f"first {i}\nsecond, {i}\n", str(i % 7)) for i in range(60_000)]
    data = "text,label\n" + "".join(f'"{text}",{label}\n' for text, label in cells)
    assert rows(write(tmp_path, "a.csv", data.encode())) == cells


def test_byte_order_mark_and_crlf(tmp_path):
    path = write(tmp_path, "a.csv", b"\xef\xbb\xbftext,label\r\none,x\r\ntwo,y\r\n")
    assert rows(path) == [("one", "x"), ("two", "y")]


def test_cell_of_five_megabytes(tmp_path):
    long = "word " * 1_000_000
    path = write(tmp_path, "a.csv", f'text,label\nshort,x\n"{long}",y\nend,z\n'.encode())
    assert rows(path) == [("short", "x"), (long, "y"), ("end", "z")]


def test_invalid_utf8_names_row_and_byte(tmp_path):
    path = write(tmp_path, "a.csv", b"text,label\none,x\ncaf\xe9,y\n")
    with pytest.raises(DataError, match=r"a\.csv, row 2, byte 20: .*encoding="):
        rows(path)
    assert rows(path, encoding="latin-1") == [("one", "x"), ("café", "y")]
    assert rows(path, bad_rows="skip") == [("one", "x")]


def test_nul_is_kept(tmp_path):
    assert rows(write(tmp_path, "a.csv", b"text,label\na\0b,x\n")) == [("a\0b", "x")]


def test_ragged_row_names_the_line(tmp_path):
    path = write(tmp_path, "a.csv", b'text,label\n"one\ntwo",x\nthree,y,z\nfour,x\n')
    with pytest.raises(DataError, match=r"a\.csv, line 4: 3 fields where the header has 2"):
        rows(path)
    assert rows(path, bad_rows="skip") == [("one\ntwo", "x"), ("four", "x")]


@pytest.mark.parametrize("rest", [b'"two,y\nthree,z\n', b'two,"y\nthree,z\n', b'two,"y', b'two,"y\r\n'])
@pytest.mark.parametrize("policy", ["error", "skip"])
def test_unclosed_quote_names_the_line(tmp_path, rest, policy):
    path = write(tmp_path, "a.csv", b"text,label\none,x\n" + rest)
    with pytest.raises(DataError, match=r"a\.csv, line 3: a quote opens here and never closes"):
        rows(path, bad_rows=policy)


@pytest.mark.parametrize("last", [b'""""', b'"a"', b'"a""b"', b'a"b', b'"x"\n', b'"y\n"\n', b'""x'])
def test_closed_quotes_at_the_end_are_fine(tmp_path, last):
    assert len(rows(write(tmp_path, "a.csv", b"text,label\none,x\ntwo," + last))) == 2


def test_words_that_others_take_for_missing(tmp_path):
    words = ["null", "NA", "None", "nan", "NULL", "N/A"]
    data = "text,label\n" + "".join(f"{word},{word}\n" for word in words)
    assert rows(write(tmp_path, "a.csv", data.encode())) == [(word, word) for word in words]


def test_numbers_stay_as_written(tmp_path):
    path = write(tmp_path, "a.csv", b"text,label\n007,01\n1.50,1e3\n")
    assert rows(path) == [("007", "01"), ("1.50", "1e3")]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.arrow", "a.txt", "a.svm", "a.ft"])
def test_empty_file(tmp_path, name):
    with pytest.raises(DataError, match="is empty"):
        rows(write(tmp_path, name, b""))


def test_json_line_of_five_megabytes(tmp_path):
    long = "word " * 1_000_000
    lines = [{"text": "short", "label": "x"}, {"text": long, "label": "y"}, {"text": "end", "label": "z"}]
    path = write(tmp_path, "a.jsonl", b"\n".join(map(msgspec.json.encode, lines)))
    assert rows(path) == [("short", "x"), (long, "y"), ("end", "z")]


def test_all_columns_are_strings(tmp_path):
    batch = read(write(tmp_path, "a.csv", b"text,label,n,day\none,1,2,2026-11-15\n")).batch()
    assert {array.type for array in batch.arrays()} == {pa.string()}
