"""Whatever bytes a file holds, it is read as it was written or refused in one sentence."""

import csv
import io

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linnaeus.data import read
from linnaeus.data.formats.delimited import fields, records
from linnaeus.data.options import ReadOptions
from linnaeus.data.streams import ByteStream, File
from linnaeus.errors import LinnaeusError

relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
cells = st.text(st.characters(codec="utf-8"), max_size=12) | st.text('",\r\n a', max_size=6)
labels = cells.filter(lambda cell: cell != "" and "\0" not in cell)
tables = st.lists(st.tuples(cells, labels), min_size=1, max_size=8)


def written(rows, quoting=csv.QUOTE_ALL, end="\n") -> bytes:
    out = io.StringIO(newline="")
    maker = csv.writer(out, quoting=quoting, lineterminator=end)
    maker.writerow(["text", "label"])
    maker.writerows(rows)
    return out.getvalue().encode()


@relaxed
@given(tables, st.sampled_from([(csv.QUOTE_MINIMAL, "\r\n"), (csv.QUOTE_ALL, "\n")]), st.booleans())
def test_csv_comes_back_as_it_was_written(tmp_path, rows, style, last_end):
    quoting, end = style
    data = written(rows, quoting, end)
    (tmp_path / "a.csv").write_bytes(data if last_end else data.removesuffix(end.encode()))
    batch = read(tmp_path / "a.csv").batch()
    assert list(zip(batch.text.to_pylist(), batch.labels.to_pylist(), strict=True)) == rows


@relaxed
@given(tables, st.integers(1, 40))
def test_the_careful_scan_agrees(tmp_path, rows, block):
    path = tmp_path / "a.csv"
    path.write_bytes(written(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("linnaeus.data.streams.BLOCK", block)
        patch.setattr("linnaeus.data.formats.delimited.BLOCK", block)
        with ByteStream(File(path, "a.csv"), ReadOptions()) as stream:
            found = list(records(stream, ","))
    assert [tuple(cell.decode() for cell in fields(record.data, ",")) for record in found[1:]] == rows
    assert not any(record.unclosed for record in found)
    lines = path.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    for record in found:
        first = record.data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[0]
        assert lines[record.line - 1].startswith(first)


@relaxed
@given(tables)
def test_json_comes_back_as_it_was_written(tmp_path, rows):
    lines = [msgspec.json.encode({"text": text, "label": label}) for text, label in rows]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    batch = read(tmp_path / "a.jsonl").batch()
    assert list(zip(batch.text.to_pylist(), batch.labels.to_pylist(), strict=True)) == rows


NAMES = [
    "a.csv",
    "a.tsv",
    "a.jsonl",
    "a.txt",
    "a.ft",
    "a.svm",
    "a.parquet",
    "a.arrow",
    "a.csv.gz",
    "a.csv.zst",
    "a.csv.bz2",
]
STARTS = [
    b"",
    b"text,label\n",
    b'{"text": "a"}\n',
    b"__label__a b\n",
    b"1 1:1\n",
    b"PAR1",
    b"ARROW1\0\0",
    b"\x1f\x8b\x08\0",
    b"\xef\xbb\xbf",
]


@relaxed
@given(
    st.sampled_from(NAMES),
    st.sampled_from(STARTS),
    st.binary(max_size=60) | st.text('",\r\n{}:[] 1a_#', max_size=60).map(str.encode),
    st.sampled_from(["error", "skip"]),
    st.sampled_from(["utf-8", "utf-16", "cp1252", "shift_jis"]),
)
def test_any_bytes_are_read_or_refused(tmp_path, name, start, rest, policy, encoding):
    (tmp_path / name).write_bytes(start + rest)
    try:
        batch = read(tmp_path / name, bad_rows=policy, encoding=encoding).batch()
    except LinnaeusError:
        return
    for array in batch.arrays():
        array.validate(full=True)
        assert len(array) == len(batch)
    if batch.text is not None:
        assert batch.text.null_count == 0
