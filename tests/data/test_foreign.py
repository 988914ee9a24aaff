"""Files that are something else, and names that are none: the message says what it is and what to do."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from linnaeus.data import read
from linnaeus.errors import DataError, UsageError

STARTS = [
    (
        b"PK\x03\x04\x14\x00\x06\x00\x08\x00",
        r"a spreadsheet \(\.xlsx, \.ods\) or a zip archive; export",
    ),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file"),
    (b"%PDF-1.7\n%\xe2\xe3", "a PDF document"),
    (b"\x89PNG\r\n\x1a\n\x00", "a PNG image"),
    (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a JPEG image"),
    (b"SQLite format 3\x00\x10", "an SQLite database; export the table"),
]


@pytest.mark.parametrize(("start", "said"), STARTS, ids=["zip", "office", "pdf", "png", "jpeg", "sqlite"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
def test_first_bytes_tell_what_it_is(tmp_path, start, said, name):
    path = tmp_path / name
    path.write_bytes(start + b"\n\xff,\x00")
    with pytest.raises(DataError, match=rf"{name}: looks like {said}"):
        read(path)


def test_first_bytes_of_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"PK\x03\x04\x14\x00\xff")))
    with pytest.raises(DataError, match="standard input: looks like a spreadsheet"):
        read("-")


@pytest.mark.parametrize("name", ["a.xlsx", "a.XLS", "a.ods", "a.zip", "a.pdf", "a.docx", "a.tar.gz", "a.png"])
def test_suffixes_tell_what_it_is(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"?")
    with pytest.raises(UsageError, match=r"is an? .*(CSV|JSONL)") as caught:
        read(path)
    assert "format=" not in str(caught.value)


@pytest.mark.parametrize("bad_rows", ["error", "skip"])
def test_header_cannot_be_skipped(tmp_path, bad_rows):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,gro\xdfe\na,b\n")
    with pytest.raises(DataError, match="header, byte 8: the bytes are not utf-8; give encoding='latin-1'") as caught:
        read(path, bad_rows=bad_rows)
    assert "bad_rows" not in str(caught.value)


@pytest.mark.parametrize("data", [b'[{"text": "a"}]', b'\n [\n{"text": "a"}\n]\n', b'["a", "b"]', b"[\n"])
def test_array_on_standard_input(monkeypatch, data):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    with pytest.raises(DataError, match=r"standard input: none of the first lines is a JSON .* not one array of all"):
        read("-", text="text")


def test_brackets_in_a_header_or_a_text_are_no_array(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"[id],text\n1,a\n")))
    assert read("-").text.to_pylist() == ["a"]
    (tmp_path / "a.txt").write_text("[music] la la\n")
    assert read(tmp_path / "a.txt").text.to_pylist() == ["[music] la la"]


def test_arrays_are_spoken_of_only_where_there_is_one(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,x\n")
    with pytest.raises(DataError, match=r"none of the first lines is a JSON object.* format=\.$") as caught:
        read(path, format="jsonl")
    assert "one array" not in str(caught.value)


@pytest.mark.parametrize("name", ["http://example.org/a.csv", "https://example.org/a.csv?x=1", "s3://bucket/a.csv"])
def test_addresses_are_no_files(name):
    for source in (name, Path(name)):
        with pytest.raises(DataError, match="files are read, not addresses; download it first"):
            read(source)


def folder(path: Path, names: list[str]) -> Path:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(b"\x89PNG\r\n\x1a\n" if name.endswith(".png") else b"meow")
    return path


def test_class_folders_of_images_hold_no_text(tmp_path):
    images = folder(tmp_path, ["cat/1.png", "dog/2.png"])
    for options in ({}, {"format": "folder"}):
        with pytest.raises(DataError, match="holds no text"):
            read(images, **options)


def test_class_folders_of_odd_names_are_read_without_the_images(tmp_path):
    mixed = folder(tmp_path, ["cat/49960", "cat/1.png", "dog/0001.7c53"])
    assert read(mixed).labels.to_pylist() == ["cat", "dog"]


def test_image_without_a_name_in_a_class_folder(tmp_path):
    folder(tmp_path, ["cat/1.txt"])
    (tmp_path / "cat" / "2.txt").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(DataError, match=r"2\.txt: looks like a PNG image"):
        read(tmp_path).batch()


@pytest.mark.parametrize(
    ("header", "options", "role"),
    [("text,text,label", {}, "text"), ("text,y,y", {"label": "y"}, "label"), ("text,label,label", {}, "label")],
)
def test_repeated_names_have_no_role(tmp_path, header, options, role):
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\na,b,c\n")
    with pytest.raises(DataError, match=rf"a\.csv: has several columns '\w+', and one is the {role}"):
        read(path, **options)


def test_repeated_names_of_further_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,id,text,n,n\n1,2,a,3,4\n")
    assert read(path).batch().columns["n_2"].to_pylist() == ["4"]


def test_repeated_name_chosen_by_its_number(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,text,label\na,b,x\n")
    assert read(path, text="text_2").text.to_pylist() == ["b"]


def test_one_row_is_singular(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,\n")
    with pytest.raises(DataError, match="one of 1 such among 1 row;"):
        read(path).batch()
    corpus = read(["a"])
    assert len(corpus) == 1
    assert repr(corpus).endswith(", 1 row)")
