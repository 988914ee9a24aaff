"""Files that are small on disk and large in memory: every reader refuses them in a sentence, within 200 MB."""

from __future__ import annotations

import bz2
import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.hostile import MEGABYTE, assert_harmless, try_all

import linnaeus
from linnaeus.data.group_reading import GroupRoles, read_groups, stream_groups
from linnaeus.data.groups import AliasTable
from linnaeus.errors import DataError, UsageError
from linnaeus.recipes.recipe import read_table

ROWS = [{"text": f"q{i}", "candidates": [f"a{i}", "b"], "answer": i % 2, "doc": i} for i in range(6)]


def jsonl(rows: list[dict]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet(path: Path, table: dict, **options: object) -> None:
    pq.write_table(pa.table(table), path, compression="zstd", store_schema=False, **options)


def repeated(count: int) -> pa.Array:
    """One long text so many times: 20 kB each, and few bytes in a file."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array(["x" * 20_000]))


def one_list(values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


def packed(line: bytes) -> Callable[[Path], object]:
    """A line so often that it is 18 MB, in a small file."""
    return lambda path: path.write_bytes(gzip.compress(line * (18_000_000 // len(line)), 1))


def in_parquet(make: Callable[[], dict], **options: object) -> Callable[[Path], object]:
    return lambda path: parquet(path, make(), **options)


def write_nulls(path: Path) -> None:
    nothing = pa.record_batch({"text": pa.nulls(1_000_000_000)})
    with pa.ipc.new_file(path, nothing.schema) as file:
        file.write_batch(nothing)


def objects() -> pa.Array:
    return pa.StructArray.from_arrays([repeated(20_000), pa.array(np.ones(20_000))], ["text", "n"])


BOMBS: dict[str, Callable[[Path], object]] = {
    "lines.txt.gz": packed(b"0\n"),
    "rows.csv.gz": packed(b"a,b\n"),
    "tokens.conll.gz": packed(b"a b\n"),
    "vectors.svm.gz": packed(b"1 1:1\n"),
    "labels.ft.gz": packed(b"__label__a b\n"),
    "objects.jsonl.gz": packed(b'{"text":"a","candidates":["b"]}\n'),
    "commas.csv": lambda path: path.write_bytes(b"," * 1_000_000),
    "tokens.parquet": in_parquet(lambda: {"text": ["a"], "tokens": one_list(repeated(20_000))}),
    "candidates.parquet": in_parquet(lambda: {"text": ["a"], "candidates": one_list(repeated(20_000))}),
    "nulls.arrow": write_nulls,
}
"""Each unpacks to more than 16 MB from at most a megabyte; every reader meets one."""
MORE_BOMBS: dict[str, Callable[[Path], object]] = {
    "zeros.csv.gz": lambda path: path.write_bytes(gzip.compress(b"text,label\n" + b"0" * 20_000_000)),
    "zeros.jsonl.bz2": lambda path: path.write_bytes(bz2.compress(b"0" * 20_000_000)),
    "zeros.jsonl.zst": lambda path: path.write_bytes(pa.compress(b"0" * 100_000_000, "zstd", asbytes=True)),
    "lists.jsonl.gz": lambda path: path.write_bytes(gzip.compress(b'{"text":"a","x":[' + b"[]," * 5_000_000 + b"[]]}")),
    "keys.jsonl": lambda path: path.write_bytes(b"{" + b",".join(b'"%d":1' % i for i in range(100_000)) + b"}"),
    "texts.parquet": in_parquet(lambda: {"text": repeated(20_000), "candidates": [["a"]] * 20_000}),
    "label.parquet": in_parquet(lambda: {"text": ["a"], "label": one_list(repeated(20_000))}),
    "objects.parquet": in_parquet(lambda: {"text": ["a"], "candidates": one_list(objects())}),
    "delta.parquet": in_parquet(
        lambda: {"text": ["x" * 10_000_000] * 20},
        use_dictionary=False,
        column_encoding={"text": "DELTA_BYTE_ARRAY"},
    ),
}


READERS = {
    "texts": lambda path: sum(len(batch) for batch in linnaeus.read(path).batches()),
    "sentences": lambda path: len(linnaeus.read_sentences(path)),
    "candidates": lambda path: len(read_groups(path)),
    "aliases": lambda path: len(AliasTable.read(path)),
    "recipe": read_table,
}


def act(case: tuple[str, Path]) -> object:
    reader, path = case
    return READERS[reader](path)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured through /proc")
@pytest.mark.parametrize("bombs", [BOMBS, pytest.param(MORE_BOMBS, marks=pytest.mark.slow)], ids=["some", "more"])
def test_bombs_are_refused_in_little_memory(tmp_path, bombs):
    for name, write in bombs.items():
        write(tmp_path / name)
    sound = tmp_path / "sound.jsonl"
    sound.write_bytes(jsonl(ROWS))
    act(("texts", sound)), act(("candidates", sound))
    cases = [(reader, tmp_path / name) for name in bombs for reader in ("texts", "candidates")]
    others = {"sentences": ("tokens.conll.gz", "tokens.parquet", "label.parquet")}
    others |= dict.fromkeys(("aliases", "recipe"), ("lines.txt.gz", "commas.csv"))
    cases += [(reader, tmp_path / name) for reader, names in others.items() for name in names if name in bombs]
    outcomes = try_all(cases, act)
    assert [one for one in outcomes if one.case[0] == "texts" and one.kind != "refused"] == []
    assert_harmless(outcomes, lambda _: 200 * MEGABYTE)


# Candidates come through the same door


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.bz2", "a.jsonl.zst"])
def test_packed_candidates_are_read(tmp_path, name):
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": lambda data: pa.compress(data, "zstd", asbytes=True)}
    (tmp_path / name).write_bytes(pack.get(Path(name).suffix, bytes)(jsonl(ROWS)))
    found = read_groups(tmp_path / name)
    assert found.answers().tolist() == [0, 1, 0, 1, 0, 1]
    assert found.columns["doc"].to_pylist() == list(range(6))


def test_candidates_come_in_batches_that_are_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("linnaeus.data.formats.lines.BLOCK", 100)
    rows = [*ROWS, {"text": "q", "candidates": [{"text": "a", "links": 3}], "answer": "a", "doc": "seven"}]
    rows += [{"text": "q", "candidates": ["a", "b"], "links": [1.5, 2], "doc": None}] * 3
    (tmp_path / "a.jsonl").write_bytes(jsonl(rows))
    parts = list(stream_groups(tmp_path / "a.jsonl"))
    whole = read_groups(tmp_path / "a.jsonl")
    assert len(parts) > 3
    assert sum(map(len, parts)) == len(whole) == 10
    assert (
        whole.candidates.to_pylist()
        == ["a0", "b", "a1", "b", "a2", "b", "a3", "b", "a4", "b", "a5", "b", "a"]
        + [
            "a",
            "b",
        ]
        * 3
    )
    assert whole.gold.tolist()[12:] == [True] + [False] * 6
    assert whole.details["links"].to_pylist()[-7:] == [3, 1.5, 2, 1.5, 2, 1.5, 2]
    assert whole.columns["doc"].to_pylist() == ["0", "1", "2", "3", "4", "5", "seven", None, None, None]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"text": "a", "candidates": ["\xff"]}\n', "line 1, byte 30: the bytes are not utf-8"),
        (b'{"text": "a", "candidates": ' + b"[" * 5000 + b"]" * 5000 + b"}\n", "line 1: not JSON"),
        (b'{"text": "a", "candidates": ["a"], "answer": 12345678901234567890123}\n', "Row 1: the answer is 1234567"),
        (b'{"text": "a", "candidates": ["a"], "answer": ["\\u0000x"]}\n', "Row 1: the answer .* is not one of its"),
        (b'{"text": "a", "candidates": ["a"]}\n{"text": "a", "candidates": 7}\n', "not lists of candidates"),
    ],
)
def test_odd_candidates_are_one_sentence(tmp_path, data, said):
    (tmp_path / "a.jsonl").write_bytes(data)
    with pytest.raises(DataError, match=rf"a\.jsonl[:,] .*{said}"):
        read_groups(tmp_path / "a.jsonl")


def test_words_among_objects_are_candidates(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "q", "candidates": [{"name": "a", "n": 1}, "b", 3], "answer": "3"}\n')
    found = read_groups(tmp_path / "a.jsonl")
    assert found.candidates.to_pylist() == ["a", "b", "3"]
    assert found.details["n"].to_pylist() == [1, None, None]
    assert found.answers().tolist() == [2]


def test_options_of_files_are_heeded(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"{\n" + jsonl(ROWS))
    assert len(read_groups(tmp_path / "a.jsonl", bad_rows="skip")) == 6
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(jsonl(ROWS * 100)))
    with pytest.raises(DataError, match="max_bytes="):
        read_groups(tmp_path / "a.jsonl.gz", max_bytes=1000)
    (tmp_path / "a.csv").write_text("id;text;candidate;gold\n1;a;x;1\n1;a;y;0\n", encoding="utf-16")
    found = read_groups(tmp_path / "a.csv", GroupRoles(group="id"), encoding="utf-16")
    assert (found.candidates.to_pylist(), found.answers().tolist()) == (["x", "y"], [0])


@pytest.mark.skipif(not Path("/dev/urandom").exists(), reason="no /dev/urandom here")
@pytest.mark.parametrize("reader", [linnaeus.read, linnaeus.read_sentences, linnaeus.read_groups])
def test_devices_are_refused(reader):
    with pytest.raises(DataError, match="is a device"):
        reader("/dev/urandom")


def test_dictionaries_inside_lists_and_objects_are_read(tmp_path):
    words = pa.array(["red", "blue", "red"]).dictionary_encode()
    objects = pa.StructArray.from_arrays([words, pa.array([1, 2, 3])], ["text", "n"])
    lists = pa.ListArray.from_arrays(pa.array(np.array([0, 2, 3], np.int32)), objects)
    parquet(tmp_path / "a.parquet", {"text": ["a", "b"], "candidates": lists})
    found = read_groups(tmp_path / "a.parquet")
    assert found.candidates.to_pylist() == ["red", "blue", "red"]
    assert found.details["n"].to_pylist() == [1, 2, 3]


# Recipes and tables of names


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.toml", b"x = " + b"[" * 5000 + b"]" * 5000),
        ("a.json", b'{"x": ' + b"[" * 100_000),
        ("a.toml", b"x = '\xff'"),
        ("a.toml", b"#" * (2 << 20)),
        ("a.toml", b"x = " + b"9" * 10_000),
    ],
)
def test_hostile_recipes_are_one_sentence(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError, match=r"recipe .*a\.(toml|json)"):
        read_table(tmp_path / name)


def test_packed_tables_of_names_are_read(tmp_path):
    (tmp_path / "names.tsv.gz").write_bytes(gzip.compress(b"Big Apple\tNew York\t3\n"))
    assert AliasTable.read(tmp_path / "names.tsv.gz").candidates("big apple") == [("New York", 3.0)]
    (tmp_path / "names.tsv").write_bytes(b"a\tb\n\xff\tc\n")
    with pytest.raises(DataError, match=r"names\.tsv, line 2, byte 4: the bytes are not utf-8"):
        AliasTable.read(tmp_path / "names.tsv")
