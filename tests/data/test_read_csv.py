from pathlib import Path

import pytest

from linnaeus.data import read
from linnaeus.errors import DataError


def write(folder: Path, data: bytes | str, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize("mark", [",", "\t", ";", "|"])
def test_delimiter_is_read_off_the_header(tmp_path, mark):
    corpus = read(write(tmp_path, f"text{mark}label\nlo, fi; x{mark}y\n".replace(", fi;", " fi")))
    assert corpus.labels.to_pylist() == ["y"]


def test_delimiter_by_option_and_tsv(tmp_path):
    assert read(write(tmp_path, "text~label\na~b\n"), delimiter="~").labels.to_pylist() == ["b"]
    assert read(write(tmp_path, "text\tlabel\na, b\tc\n", "a.tsv")).text.to_pylist() == ["a, b"]


def test_file_without_header(tmp_path):
    corpus = read(write(tmp_path, "pos,good film\nneg,bad film\n"), names=["label", "text"])
    assert corpus.text.to_pylist() == ["good film", "bad film"]


def test_doubled_and_blank_column_names(tmp_path):
    batch = read(write(tmp_path, ",text,label,x,x\n0,a,b,1,2\n")).batch()
    assert {name: column.to_pylist() for name, column in batch.columns.items()} == {"": ["0"], "x": ["1"], "x_2": ["2"]}


def test_header_alone_is_no_rows(tmp_path):
    for data in ("text,label\n", "text,label", "\ufefftext,label\r\n\r\n"):
        corpus = read(write(tmp_path, data))
        assert len(corpus) == 0
        assert corpus.text.to_pylist() == corpus.labels.to_pylist() == []
        assert not corpus


def test_quoted_header_with_delimiter_and_line_end(tmp_path):
    corpus = read(write(tmp_path, '"te,xt","la\nbel"\na,b\n'), text="te,xt", label="la\nbel")
    assert corpus.labels.to_pylist() == ["b"]


def test_blank_lines_are_left_out_and_not_counted(tmp_path):
    path = write(tmp_path, "text,label\n\na,x\n\n\nb,y,z\n")
    assert read(path, bad_rows="skip").labels.to_pylist() == ["x"]
    with pytest.raises(DataError, match="line 6"):
        read(path).batch()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "cp1252", "utf-8-sig"])
def test_other_encodings(tmp_path, encoding):
    path = write(tmp_path, 'text,label\ncafé "crème"\nnaïf,x\n'.replace("\nn", " n").encode(encoding))
    assert read(path, encoding=encoding).text.to_pylist() == ['café "crème" naïf']


def test_long_file_in_utf16(tmp_path, monkeypatch):
    monkeypatch.setattr("linnaeus.data.streams.BLOCK", 1001)  # characters are cut in half
    monkeypatch.setattr("linnaeus.data.formats.delimited.BLOCK", 1001)
    cells = [f"é{i}😀" for i in range(2000)]
    path = write(tmp_path, ("text\n" + "\n".join(cells) + "\n").encode("utf-16"))
    assert read(path, encoding="utf-16").text.to_pylist() == cells


def test_bytes_that_the_encoding_has_not(tmp_path):
    path = write(tmp_path, b"text,label\na,x\nb\x81,y\nc,z\n")
    with pytest.raises(DataError, match=r"line 3, byte 16: the bytes are not cp1252"):
        read(path, encoding="cp1252").batch()
    skipping = read(path, encoding="cp1252", bad_rows="skip")
    assert skipping.labels.to_pylist() == ["x", "z"]
    assert skipping.skipped.count == 1


def test_mark_of_another_encoding_is_named(tmp_path):
    with pytest.raises(DataError, match="encoding='utf-16'"):
        read(write(tmp_path, "text\na\n".encode("utf-16")))


def test_byte_position_counts_the_mark(tmp_path):
    with pytest.raises(DataError, match="row 1, byte 8"):
        read(write(tmp_path, b"\xef\xbb\xbftext\n\xff\n")).batch()


def test_skipped_rows_keep_the_numbers_of_the_others(tmp_path):
    data = b"text,label\na,x\nb\nc,y\nd,e,f\ng\xff,z\nh,\ni,w\n"
    corpus = read(write(tmp_path, data), bad_rows="skip")
    assert corpus.text.to_pylist() == ["a", "c", "i"]
    assert corpus.skipped.count == 4
    said = [reason.split(", ")[-1] for reason in corpus.skipped.reasons]
    assert said == [
        "row 2: 1 field where the header has 2",
        "row 4: 3 fields where the header has 2",
        "row 5: bytes that are not text",
        "row 6: no label",
    ]


def test_growing_blocks_repeat_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("linnaeus.data.formats.delimited.BLOCK", 64)
    lines = (
        [f"t{i},x" for i in range(50)] + ["bad"] + ["y" * 500 + ",x"] + ["worse,a,b"] + [f"u{i},x" for i in range(50)]
    )
    corpus = read(write(tmp_path, "text,label\n" + "\n".join(lines)), bad_rows="skip")
    assert corpus.text.to_pylist() == [line.split(",")[0] for line in lines if line.count(",") == 1]
    assert corpus.skipped.count == 2
    assert [reason.partition(", row ")[2].partition(":")[0] for reason in corpus.skipped.reasons] == ["51", "53"]


def test_row_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr("linnaeus.data.formats.delimited.BLOCK", 64)
    monkeypatch.setattr("linnaeus.data.formats.delimited.LONGEST", 256)
    with pytest.raises(DataError, match="line 3: a row of more than"):
        read(write(tmp_path, 'text,label\na,x\n"' + "y" * 5000 + '",x\nb,x\n')).batch()


def test_small_and_large_batches_give_the_same_rows(tmp_path, monkeypatch):
    path = write(tmp_path, "text,label\n" + "".join(f'"row {i}, and\nmore",{i % 5}\n' for i in range(200_000)))
    whole = read(path).batch()
    monkeypatch.setattr("linnaeus.data.formats.delimited.BLOCK", 1 << 16)
    starts, seen = [], 0
    for batch in read(path, batch_rows=700).batches():
        assert len(batch) <= 700
        assert batch.text.equals(whole.text.slice(batch.start, len(batch)))
        assert batch.labels.equals(whole.labels.slice(batch.start, len(batch)))
        starts.append(batch.start == seen)
        seen += len(batch)
    assert seen == len(whole) == 200_000
    assert all(starts)


def test_only_wanted_columns(tmp_path):
    path = write(tmp_path, "text,label,a,b\nx,y,1,2\n")
    assert list(read(path, columns=["b"]).batch().columns) == ["b"]
    assert read(path, columns=[]).batch().columns == {}
    with pytest.raises(DataError, match="no column 'c'; its columns are 'text', 'label', 'a', 'b'"):
        read(path, columns=["c"])


def test_ragged_row_of_bytes_that_are_no_text(tmp_path, capfd):
    path = write(tmp_path, b"text,label\na,x\nb,\xff,y\n\xfe\nc,z\n")
    with pytest.raises(DataError, match="line 3: 3 fields"):
        read(path).batch()
    corpus = read(path, bad_rows="skip")
    assert corpus.text.to_pylist() == ["a", "c"]
    assert corpus.skipped.count == 2
    assert capfd.readouterr().err == ""


def test_bad_bytes_late_in_a_long_file(tmp_path, monkeypatch):
    monkeypatch.setattr("linnaeus.data.formats.delimited.BLOCK", 1 << 12)
    monkeypatch.setattr("linnaeus.data.streams.BLOCK", 1 << 12)
    rows = [b'"row %d,\n",x' % i for i in range(3000)]
    rows[10], rows[2500], rows[2900] = b"short", b"\xff,x", b"one,two,three"
    corpus = read(write(tmp_path, b"text,label\n" + b"\n".join(rows)), bad_rows="skip")
    assert corpus.text.to_pylist() == [f"row {i},\n" for i in range(3000) if i not in (10, 2500, 2900)]
    numbers = [reason.partition(", row ")[2].partition(":")[0] for reason in corpus.skipped.reasons]
    assert numbers == ["11", "2501", "2901"]
    assert corpus.skipped.count == 3
