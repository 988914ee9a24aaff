from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from linnaeus.data import FORMATS, read
from linnaeus.data.formats import SUFFIXES
from linnaeus.errors import DataError


def write(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def lines(*rows: dict) -> bytes:
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def test_every_suffix_names_a_format():
    assert set(SUFFIXES.values()) <= set(FORMATS)


# JSON lines


def test_json_cells_are_text_as_json_writes_it(tmp_path):
    path = write(
        tmp_path, "a.jsonl", lines({"text": "a", "label": 1, "x": 1.5}, {"text": "b", "label": True, "x": {"k": [1]}})
    )
    batch = read(path).batch()
    assert batch.labels.to_pylist() == ["1", "true"]
    assert batch.columns["x"].to_pylist() == ["1.5", '{"k":[1]}']


def test_json_labels_in_lists(tmp_path):
    path = write(
        tmp_path,
        "a.jsonl",
        lines({"text": "a", "labels": ["x", 2]}, {"text": "b", "labels": []}, {"text": "c", "labels": "z"}),
    )
    corpus = read(path)
    assert corpus.kind == "many"
    assert corpus.labels.to_pylist() == [["x", "2"], [], ["z"]]
    assert corpus.classes == ("2", "x", "z")


def test_json_list_after_a_thousand_single_labels(tmp_path):
    path = write(tmp_path, "a.jsonl", lines(*[{"text": "a", "label": "x"}] * 1000, {"text": "b", "label": ["y"]}))
    with pytest.raises(DataError, match="line 1001: a list in column 'label'"):
        read(path).batch()
    assert len(read(path, bad_rows="skip")) == 1000
    assert read(path, label="label", label_kind="many").labels[-1].as_py() == ["y"]


def test_json_blank_lines_crlf_and_absent_keys(tmp_path):
    data = b'{"text": "a", "label": "x"}\r\n\r\n{"text": "b", "label": "y", "n": 3}\r\n{"label": "z"}'
    with pytest.raises(DataError, match="row 4: no text in column 'text'"):
        read(write(tmp_path, "a.jsonl", data)).batch()
    corpus = read(write(tmp_path, "a.jsonl", data), bad_rows="skip")
    assert corpus.batch().columns["n"].to_pylist() == [None, "3"]
    assert corpus.skipped.count == 1


def test_json_in_small_blocks_is_the_same(tmp_path, monkeypatch):
    path = write(tmp_path, "a.jsonl", lines(*({"text": f"é {i}\n", "label": str(i % 3)} for i in range(5000))))
    whole = read(path).batch()
    monkeypatch.setattr("linnaeus.data.formats.lines.BLOCK", 1000)
    monkeypatch.setattr("linnaeus.data.streams.BLOCK", 1000)
    small = list(read(path).batches())
    assert len(small) > 100
    assert read(path).batch() == whole


def test_line_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr("linnaeus.data.formats.lines.BLOCK", 64)
    monkeypatch.setattr("linnaeus.data.streams.BLOCK", 64)
    monkeypatch.setattr("linnaeus.data.formats.lines.LONGEST", 256)
    with pytest.raises(DataError, match="line 2: the line is longer"):
        read(write(tmp_path, "a.txt", "short\n" + "x" * 1000), format="lines").batch()


# fastText and plain lines


def test_fasttext_lines(tmp_path):
    corpus = read(write(tmp_path, "a.txt", "__label__spam buy  now\n\n__label__ham see you\r\n"))
    assert corpus.text.to_pylist() == ["buy  now", "see you"]
    assert corpus.labels.to_pylist() == ["spam", "ham"]
    assert corpus.roles.guessed == ()


def test_fasttext_with_several_labels(tmp_path):
    corpus = read(write(tmp_path, "a.ft", "__label__a __label__b one\ntwo\n__label__a\n"))
    assert corpus.kind == "many"
    assert corpus.labels.to_pylist() == [["a", "b"], [], ["a"]]
    assert corpus.text.to_pylist() == ["one", "two", ""]


def test_fasttext_bad_bytes_in_a_label(tmp_path):
    path = write(tmp_path, "a.ft", b"__label__a __label__b one\n__label__\xff __label__c two\n__label__c three\n")
    assert read(path, bad_rows="skip").labels.to_pylist() == [["a", "b"], ["c"]]


def test_plain_lines_keep_blank_ones(tmp_path):
    corpus = read(write(tmp_path, "a.txt", "one\n\ntwo"))
    assert corpus.text.to_pylist() == ["one", "", "two"]
    assert corpus.kind == "none"
    assert corpus.labels is None


# libsvm


def test_libsvm(tmp_path):
    corpus = read(write(tmp_path, "a.svm", "+1 1:0.5 7:2 # note\n\n-1\n01 3:1e-3\n"))
    assert corpus.labels.to_pylist() == ["+1", "-1", "01"]
    assert corpus.text is None
    features = corpus.batch().features
    assert features.type == pa.list_(pa.struct([("index", pa.int32()), ("value", pa.float32())]))
    assert features.to_pylist() == [
        [{"index": 1, "value": 0.5}, {"index": 7, "value": 2.0}],
        [],
        [{"index": 3, "value": pytest.approx(1e-3)}],
    ]


def test_libsvm_groups_several_labels_and_bad_lines(tmp_path):
    corpus = read(write(tmp_path, "a.svm", "1,3 qid:8 1:1\n2 qid:9 oops\n2 qid:9 4:4\n"), bad_rows="skip")
    assert corpus.labels.to_pylist() == [["1", "3"], ["2"]]
    assert corpus.batch().groups.to_pylist() == ["8", "9"]
    assert corpus.skipped.count == 1
    assert "line 2" in corpus.skipped.reasons[0]


def test_libsvm_tabs_are_spaces_too(tmp_path):
    corpus = read(write(tmp_path, "a.svm", "1\tqid:8\t1:1\t2:2\n2  qid:9  4:4\n"))
    assert corpus.labels.to_pylist() == ["1", "2"]
    assert corpus.batch().groups.to_pylist() == ["8", "9"]
    assert [len(row) for row in corpus.batch().features.to_pylist()] == [2, 1]


def test_libsvm_numeric_labels(tmp_path):
    assert read(write(tmp_path, "a.svm", "1.5 1:1\n"), label_kind="numeric").labels.to_pylist() == [1.5]


# A folder per class


def test_folder_per_class(tmp_path):
    for name, text in [
        ("b/2.txt", "two"),
        ("b/10.txt", "ten\n"),
        ("a/x/1.txt", "\ufeffone"),
        ("a/.hidden.txt", "no"),
        ("readme.txt", "no"),
    ]:
        write(tmp_path, name, text)
    corpus = read(tmp_path)
    assert corpus.text.to_pylist() == ["one", "ten\n", "two"]
    assert corpus.labels.to_pylist() == ["a", "b", "b"]
    assert corpus.batch().columns["path"].to_pylist() == ["a/x/1.txt", "b/10.txt", "b/2.txt"]


def test_folder_of_files_without_suffix_and_bad_bytes(tmp_path):
    write(tmp_path, "a/49960", "one")
    write(tmp_path, "a/49961", b"\xff")
    with pytest.raises(DataError, match=r"a/49961, row 1, byte 0"):
        read(tmp_path).batch()
    corpus = read(tmp_path, bad_rows="skip")
    assert corpus.text.to_pylist() == ["one"]
    assert corpus.skipped.count == 1


def test_folder_in_small_chunks(tmp_path, monkeypatch):
    for i in range(10):
        write(tmp_path, f"{i % 2}/{i}.txt", f"text {i}")
    whole = read(tmp_path).batch()
    monkeypatch.setattr("linnaeus.data.formats.lines._TOGETHER", 3)
    assert [len(batch) for batch in read(tmp_path).batches()] == [3, 3, 3, 1]
    assert read(tmp_path).batch() == whole


# Parquet, Feather, Arrow

TABLE = pa.table(
    {
        "text": ["a", "b", "c"],
        "label": pa.array([7, 8, 7], pa.int16()),
        "day": pa.array([1, 2, 3], pa.date32()),
        "vector": [[1.0], [2.0], [3.0]],
    }
)


def save(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=2)
    elif path.suffix == ".feather":
        pyarrow.feather.write_feather(table, str(path), chunksize=2)
    else:
        with pa.ipc.new_stream(str(path), table.schema) as out:
            out.write_table(table, 2)
    return path


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow"])
def test_columnar_files(tmp_path, suffix):
    corpus = read(save(TABLE, tmp_path / f"a.{suffix}"))
    assert [len(batch) for batch in corpus.batches()] == [2, 1]
    assert corpus.labels.to_pylist() == ["7", "8", "7"]
    assert corpus.batch().columns["day"].type == pa.date32()
    assert list(read(tmp_path / f"a.{suffix}", columns=["vector"]).batch().columns) == ["vector"]


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow"])
def test_columnar_nulls(tmp_path, suffix):
    table = pa.table({"text": ["a", None, "c"], "label": ["x", "y", None]})
    path = save(table, tmp_path / f"a.{suffix}")
    with pytest.raises(DataError, match="row 2: no text"):
        read(path).batch()
    corpus = read(path, bad_rows="skip")
    assert corpus.text.to_pylist() == ["a"]
    assert corpus.skipped.count == 2


@pytest.mark.parametrize(
    ("labels", "kind", "read_as"),
    [
        (pa.array([0.5, 1.5]), "numeric", [0.5, 1.5]),
        (pa.array([["x"], []]), "many", [["x"], []]),
        (pa.array([[1, 2], [3]]), "many", [["1", "2"], ["3"]]),
        (pa.array(["x", "y"]).dictionary_encode(), "one", ["x", "y"]),
        (pa.array([True, False]), "one", ["true", "false"]),
        (pa.array(["x", "y"], pa.large_string()), "one", ["x", "y"]),
    ],
)
def test_columnar_labels(tmp_path, labels, kind, read_as):
    corpus = read(save(pa.table({"text": ["a", "b"], "label": labels}), tmp_path / "a.parquet"))
    assert corpus.kind == kind
    assert corpus.labels.to_pylist() == read_as


def test_columnar_text_that_is_not_utf8(tmp_path):
    cells = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    for suffix in ("parquet", "feather"):
        with pytest.raises(DataError, match="damaged"):
            read(save(pa.table({"text": cells}), tmp_path / f"a.{suffix}")).batch()


def test_damaged_arrow_offsets_never_reach_the_kernels(tmp_path):
    path = save(pa.table({"text": ["x" * 4321, "y"]}), tmp_path / "a.arrow")
    data, end = path.read_bytes(), (4322).to_bytes(4, "little")
    offsets = bytes(4) + (4321).to_bytes(4, "little") + end
    assert data.count(offsets) == 1
    path.write_bytes(data.replace(offsets, bytes(4) + (1 << 30).to_bytes(4, "little") + end))
    with pytest.raises(DataError, match="damaged"):
        read(path).batch()


# Labels


def test_labels_separated_in_one_cell(tmp_path):
    path = write(tmp_path, "a.csv", "text,label\na,x; y ;\nb,\nc,z\n")
    corpus = read(path, label_separator=";")
    assert corpus.labels.to_pylist() == [["x", "y"], [], ["z"]]
    assert corpus.classes == ("x", "y", "z")


def test_numeric_labels_and_weights(tmp_path):
    path = write(tmp_path, "a.csv", "text,label,weight,group\na,1.5,2,g1\nb,-3,0,01\n")
    batch = read(path, label_kind="numeric").batch()
    assert batch.labels.to_pylist() == [1.5, -3.0]
    assert batch.weights.to_pylist() == [2.0, 0.0]
    assert batch.groups.to_pylist() == ["g1", "01"]
    assert batch.columns == {}


@pytest.mark.parametrize("cell", ["nan", "inf", "x", ""])
def test_numbers_are_finite(tmp_path, cell):
    path = write(tmp_path, "a.csv", f"text,label\na,1\nb,{cell}\n")
    corpus = read(path, label_kind="numeric", bad_rows="skip")
    assert corpus.labels.to_pylist() == [1.0]
    assert corpus.skipped.count == 1


def test_lists_of_numbers_in_json_lines_stay_numbers(tmp_path):
    path = tmp_path / "a.jsonl"
    lines = ['{"text": "a", "whole": [1, 2], "part": [1, 0.5], "deep": [[1], [2]], "mixed": [1, "x"], "label": [1, 2]}']
    lines += ['{"text": "b", "whole": null, "part": [2], "deep": [[3], [4.5]], "mixed": [], "label": [3]}']
    path.write_text("\n".join(lines) + "\n")
    batch = read(path).batch()
    assert batch.columns["whole"].to_pylist() == [[1, 2], None]
    assert batch.columns["part"].to_pylist() == [[1.0, 0.5], [2.0]]
    assert batch.columns["deep"].to_pylist() == [[[1.0], [2.0]], [[3.0], [4.5]]]
    assert batch.columns["mixed"].to_pylist() == [["1", "x"], []]
    assert batch.labels.to_pylist() == [["1", "2"], ["3"]]


def test_numbers_that_come_late_in_json_lines_lose_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("linnaeus.data.formats.lines.BLOCK", 1 << 14)
    path = tmp_path / "a.jsonl"
    rows = ['{"text": "a", "list": [1, 2]}'] * 2000
    path.write_text("\n".join([*rows, '{"text": "b", "list": [0.5]}', *rows, '{"text": "c", "list": ["x"]}']) + "\n")
    corpus = read(path)
    assert [b.columns["list"].type for b in corpus.take([0]).batches()] == [pa.list_(pa.int64())]
    whole = corpus.batch().columns["list"].to_pylist()
    assert (whole[0], whole[2000], whole[-1]) == (["1", "2"], ["0.5"], ["x"])
    assert corpus.head(2001).batch().columns["list"].to_pylist()[-1] == [0.5]
