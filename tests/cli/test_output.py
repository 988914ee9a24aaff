"""What goes out: all of it or a sentence, no formulas for spreadsheets, and nothing said after a refusal."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import RUN

import linnaeus
from linnaeus.cli import VERBS
from linnaeus.cli.guard import WholeWrites
from linnaeus.cli.main import main
from linnaeus.cli.writers import flattened

MODEL = Path(__file__).parents[1] / "golden" / "format-1-classifier.lin"
EVIL = '=HYPERLINK("http://example.org","x")'


class Reluctant(io.RawIOBase):
    """Takes few bytes at a time, and after `room` bytes none."""

    def __init__(self, room: int = 1 << 30) -> None:
        self.taken, self.room = b"", room

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        some = bytes(data[: min(7, self.room - len(self.taken))])
        self.taken += some
        if not some:
            raise OSError(28, "No space left on device")
        return len(some)


def test_short_writes_are_completed():
    raw = Reluctant()
    text = io.TextIOWrapper(WholeWrites(raw), "utf-8", write_through=True)
    text.write("drinks and früit " * 1000)
    assert raw.taken.decode() == "drinks and früit " * 1000


def test_a_write_that_cannot_be_completed_is_an_error():
    with pytest.raises(OSError, match="No space left"):
        io.TextIOWrapper(WholeWrites(Reluctant(100)), "utf-8", write_through=True).write("fruit " * 1000)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_predictions_that_do_not_fit_on_the_disk_are_an_error(tmp_path, unbuffered):
    import resource

    (tmp_path / "new.txt").write_text("apple juice\n" * 3000)
    with (tmp_path / "out.jsonl").open("wb") as out:
        done = subprocess.run(
            [sys.executable, "-c", RUN, "predict", MODEL, tmp_path / "new.txt", "-q"],
            stdout=out,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)),
            check=False,
        )
    assert done.returncode == 5
    assert done.stderr.count(b"\n") == 1


def test_unbuffered_output_that_fits_is_whole(tmp_path, spawn):
    (tmp_path / "new.txt").write_text("apple juice\n" * 3000)
    process = spawn(["predict", MODEL, tmp_path / "new.txt", "-q"], env={"PYTHONUNBUFFERED": "1"})
    out, err = process.communicate()
    assert (process.returncode, err, out.count(b"\n")) == (0, b"", 3000)


def test_a_closed_standard_output_is_one_sentence_for_every_verb(monkeypatch, capsys):
    for words in [["--version"], *([verb] for verb in VERBS), ["inspect", str(MODEL)]]:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", None)
            code = main(words)
        assert code == 5, words
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert "standard output is closed" in err


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors of POSIX")
def test_closed_descriptors_of_a_process():
    call = f"{sys.executable} -c '{RUN}' inspect {MODEL}"
    ends = [
        subprocess.run(["sh", "-c", f"{call} {closed}"], stderr=subprocess.PIPE, check=False)
        for closed in (">&-", "2>&- > /dev/null", "<&- > /dev/null")
    ]
    assert [done.returncode for done in ends] == [5, 0, 0]
    assert b"standard output is closed" in ends[0].stderr


def test_a_closed_standard_input_is_one_sentence(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    code, _, err = run("predict", MODEL, "-")
    assert code == 5
    assert err == "linnaeus: error: standard input is closed; pipe data into it, or name a file.\n"


# Formulas


KINDS = {
    "string": pa.array([EVIL, "+1.5", None]),
    "large": pa.array([EVIL, "+1.5", None], pa.large_string()),
    "view": pa.array([EVIL, "+1.5", None], pa.string_view()),
    "dictionary": pa.array([EVIL, "+1.5", None]).dictionary_encode(),
    "dictionary of large": pa.array([EVIL, "+1.5", None], pa.large_string()).dictionary_encode(),
    "list": pa.array([[EVIL, "b"], ["+1.5"], ["b", EVIL]]),
    "list of large": pa.array([[EVIL, "b"], ["+1.5"], ["b", EVIL]], pa.large_list(pa.large_string())),
    "=name": pa.array([1.5, -2.5, 3.0]),
    "-7": pa.array([-1, 2, 3]),
}


def test_nothing_that_goes_to_csv_is_a_formula():
    flat = flattened(pa.record_batch(KINDS))
    assert flat.schema.names[-2:] == ["'=name", "-7"]
    for name in list(KINDS)[:5]:
        assert flat.column(name).to_pylist() == ["'" + EVIL, "+1.5", None]
    for name in ("list", "list of large"):
        assert flat.column(name).to_pylist() == [f"'{EVIL};b", "+1.5", f"b;{EVIL}"]
    assert flat.column("-7").to_pylist() == [-1, 2, 3]


@pytest.mark.parametrize("mark", ["=", "+", "-", "@", "\t", "\r"])
def test_each_mark_of_a_formula_is_escaped(mark):
    ranks = pa.array([[{"label": f"{mark}1+1", "probability": -0.5}], []])
    flat = flattened(pa.record_batch({"label": [f"{mark}1+1", "a"], "top": ranks})).to_pydict()
    assert flat == {
        "label": [f"'{mark}1+1", "a"],
        "label_1": [f"'{mark}1+1", None],
        "probability_1": [-0.5, None],
    }


def test_labels_and_columns_of_strangers_are_escaped_in_the_file(run, tmp_path):
    texts, labels = ["apple pear", "iron zinc"] * 10, [EVIL, "@metal"] * 10
    linnaeus.Recipe().fit(list(zip(texts, labels, strict=True))).save(tmp_path / "m.lin")
    pq.write_table(
        pa.table({"text": texts[:2], "=id": pa.array(["=1+1", "-3"], pa.large_string())}), tmp_path / "new.parquet"
    )
    for end, delimiter in ((".csv", ","), (".tsv", "\t")):
        out = tmp_path / f"out{end}"
        code, _, err = run(
            "predict", tmp_path / "m.lin", tmp_path / "new.parquet", "--top", 2, "--keep", "=id", "-o", out, "-q"
        )
        assert code == 0, err
        head, first, second = csv.reader(io.StringIO(out.read_text()), delimiter=delimiter)
        assert head == ["'=id", "label", "probability", "label_1", "probability_1", "label_2", "probability_2"]
        assert [first[0], first[1], first[3], first[5]] == ["'=1+1", f"'{EVIL}", f"'{EVIL}", "'@metal"]
        assert second[:2] == ["-3", "'@metal"]


# Files


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_nothing_is_said_after_a_refused_output(tmp_path, spawn, name):
    lines = [json.dumps({"text": "apple " * 20})] * 40_000 + ["{"]
    (tmp_path / "new.jsonl").write_text("\n".join(lines))
    process = spawn(["predict", MODEL, tmp_path / "new.jsonl", "-o", tmp_path / name, "-q"])
    _, err = process.communicate()
    assert process.returncode == 3
    assert err.count(b"\n") == 1, err
    assert not (tmp_path / name).exists()


def test_dates_are_kept_in_json(run, tmp_path):
    table = pa.table({"text": ["apple"], "day": pa.array([0], pa.timestamp("s"))})
    pq.write_table(table, tmp_path / "new.parquet")
    code, out, err = run("predict", MODEL, tmp_path / "new.parquet", "--keep", "day", "-q")
    assert code == 0, err
    assert json.loads(out)["day"] == "1970-01-01 00:00:00"
