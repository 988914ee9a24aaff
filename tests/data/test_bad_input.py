"""Every bad input gets one clear sentence and an error of the right kind."""

import gzip
import os
from pathlib import Path

import pytest

from linnaeus.data import read
from linnaeus.data.options import Options, ReadOptions
from linnaeus.errors import DataError, InputTypeError, LinnaeusError, MachineError, UsageError


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


FILES = [
    ("missing column", "a.csv", b"a,b\n1,2\n", {"text": "c"}, "no column 'c' for text=; its columns are 'a', 'b'"),
    ("no plain text", "a.csv", b"a,b\n1,2\n", {}, "2 columns could be the text; name it with text="),
    ("too few fields", "a.csv", b"text,label\nx\n", {}, "line 2: 1 field where the header has 2"),
    ("labels missing", "a.csv", b"text,label\na,x\nb,\nc,\n", {}, "row 2: no label, one of 2 such among 3 rows"),
    ("truncated gzip", "a.csv.gz", gzip.compress(b"text\n" + os.urandom(9999))[:-99], {}, "cut short or damaged"),
    ("gzip by name only", "a.csv.gz", b"text\na\n", {}, "named as gzip but is not"),
    ("bad JSON", "a.jsonl", b'{"text": "a"}\n{"text" "b"}\n', {}, "line 2: not JSON"),
    ("JSON but no object", "a.jsonl", b'{"text": "a"}\n["b"]\n', {}, "line 2: not a JSON object"),
    ("deep JSON", "a.jsonl", b'{"text": "a"}\n{"text": ' + b"[" * 50_000, {}, "line 2: not JSON"),
    ("crowded JSON", "a.jsonl", b'{"text": "a"}\n[' + b"[]," * 100_000, {}, "line 2: more than 100,000"),
    ("JSON array", "a.json", b'[{"text": "a", "label": "x"}]\n', {}, "none of the first lines is a JSON object"),
    ("blank lines", "a.jsonl", b"\n\n \n", {}, "only blank lines"),
    ("JSON bytes", "a.jsonl", b'{"text": "a"}\n{"text": "\xff"}\n', {}, "line 2, byte 24: the bytes are not utf-8"),
    ("text bytes", "a.txt", b"a\n\xff\n", {}, "row 2, byte 2: the bytes are not utf-8"),
    ("late second label", "a.txt", b"__label__a x\n" * 1001 + b"__label__a __label__b y\n", {}, "line 1002: 2 labels"),
    ("libsvm words", "a.svm", b"1 1:2\n1 two:3\n", {}, "line 2: not a libsvm line"),
    ("libsvm index", "a.svm", b"1 -1:2\n", {}, "line 1: not a libsvm line"),
    ("not Parquet", "a.parquet", b"PAR1 nonsense", {}, "is not Parquet or is damaged"),
    ("not Arrow", "a.arrow", b"ARROW1 nonsense", {}, "is not Arrow or is damaged"),
    ("weights", "a.csv", b"text,weight\na,1\nb,-2\n", {}, "row 2: the weight in column 'weight'"),
    ("numeric labels", "a.csv", b"text,label\na,1\nb,two\n", {"label_kind": "numeric"}, "row 2: the label in column"),
    ("open header", "a.csv", b'"text,label\na,b\n', {}, "line 1: the header"),
]


@pytest.mark.parametrize(("name", "data", "options", "said"), [case[1:] for case in FILES], ids=[c[0] for c in FILES])
def test_bad_file(tmp_path, name, data, options, said):
    with pytest.raises(DataError) as caught:
        read(write(tmp_path, name, data), **options).batch()
    message = str(caught.value)
    assert said in message
    assert name in message
    assert message.endswith(".")
    assert "\n" not in message


def test_missing_file_and_pattern(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read(tmp_path / "no.csv")
    with pytest.raises(DataError, match="no file matches"):
        read(str(tmp_path / "*.csv"))


@pytest.mark.parametrize("text", ["a text, not a path", "x" * 10_000, "nul\0byte"])
def test_a_string_is_a_path(text):
    with pytest.raises(DataError, match="pass texts in a list"):
        read(text)


def test_permission_denied(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path, "a.csv", b"text\na\n")
    monkeypatch.setattr("linnaeus.data.streams.pa.OSFile", refuse)
    with pytest.raises(MachineError, match="no permission"):
        read(path)


def test_directory_without_text(tmp_path):
    with pytest.raises(DataError, match="holds no text"):
        read(tmp_path)
    (tmp_path / "empty label").mkdir()
    write(tmp_path, "picture.png", b"\x89PNG")
    with pytest.raises(DataError, match="holds no text"):
        read(tmp_path)
    with pytest.raises(DataError, match="holds no text"):
        read(tmp_path, format="folder")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"labell": "x"}, "no option 'labell'; did you mean 'label'"),
        ({"zzz": 1}, "no option 'zzz'; take one of text, label"),
        ({"format": "xls"}, "format='xls' is not known; take one of csv"),
        ({"encoding": "klingon"}, "encoding='klingon' is not known"),
        ({"encoding": "base64"}, "encoding='base64' is not known"),
        ({"delimiter": ",,"}, "delimiter=',,' is not one ASCII character"),
        ({"bad_rows": "ignore"}, "bad_rows='ignore' is not one of 'error', 'skip'"),
        ({"label_kind": "two"}, "label_kind='two' is not one of"),
        ({"label_separator": ""}, "label_separator= is empty"),
        ({"max_bytes": 0}, "max_bytes=0 is not a whole number above 0"),
        ({"batch_rows": 1.5}, "batch_rows=1.5 is not a whole number above 0"),
        ({"columns": "text"}, "columns='text' is one string"),
    ],
)
def test_bad_option(tmp_path, options, said):
    with pytest.raises(UsageError, match=said.replace("(", r"\(")):
        read(write(tmp_path, "a.csv", b"text\na\n"), **options)


def test_unknown_suffix(tmp_path):
    with pytest.raises(UsageError, match="does not tell the format; give format="):
        read(write(tmp_path, "a.dat", b"text\na\n"))
    assert read(write(tmp_path, "a.dat", b"text\na\n"), format="csv").text.to_pylist() == ["a"]


def test_the_typed_options_are_those_of_the_record():
    assert set(Options.__annotations__) | {"text", "label"} == set(ReadOptions.__dataclass_fields__)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"text", "one bytes where a list of texts is wanted"),
        (5, "cannot read int"),
        ([1, 2], "cannot read a list of int"),
        ([["a", "b", "c"]], "cannot read a list of list"),
        (["a", 1], "row 2 is int in a list of texts"),
        ([("a", "x"), ("b",)], "row 2 has 1 parts"),
        ([{"text": "a"}, "b"], "row 2 is str in a list of dicts"),
        ({"text": "abc"}, "column 'text' is one str where a list is wanted"),
    ],
)
def test_wrong_kind_of_data(source, said):
    with pytest.raises(InputTypeError, match=said):
        read(source)


@pytest.mark.parametrize(
    "source",
    [
        {"text": ["a", "b"], "label": ["x"]},
        {"text": ["a", None]},
        [("a", "x"), ("b", None)],
        ["half a pair \ud800"],
        {"text": [["a"], ["b"]]},
    ],
)
def test_bad_data_in_memory(source):
    with pytest.raises(DataError, match=r"^the data"):
        read(source)


def test_every_error_has_an_exit_code():
    kinds = [DataError, UsageError, InputTypeError, MachineError]
    assert [kind.exit_code for kind in kinds] == [3, 2, 2, 5]
    assert all(issubclass(kind, LinnaeusError) for kind in kinds)
