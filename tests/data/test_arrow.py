"""Arrow columns as NumPy arrays, without pandas."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from linnaeus.data.arrow import as_numpy, as_strings, number


@pytest.mark.parametrize("kind", [pa.bool_(), pa.int32(), pa.int64(), pa.float64(), pa.float32(), pa.int8()])
def test_they_are_what_pyarrow_gives_also_of_slices(kind):
    column = pa.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1], pa.int8()).cast(kind)
    for part in (column, column[3:], column[1:9], column[:0]):
        found, wanted = as_numpy(part), part.to_numpy(zero_copy_only=False)
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted)


def test_nulls_become_what_pyarrow_makes_of_them():
    assert np.isnan(as_numpy(pa.array([1.0, None]))).tolist() == [False, True]


WORK = """
import sys
from linnaeus.cli.main import main
data = sys.argv[1]
code = main(["train", data, "--test", data, "--recipe", sys.argv[2], "-o", "model.lin", "--force", "-q", "--json"])
code |= main(["predict", "model.lin", data, "-o", "answers.csv", "--force", "-q"])
heavy = sorted({"pandas", "pyarrow.compute", "numpy.ma", "scipy", "sklearn", "rich", "torch"} & set(sys.modules))
sys.exit(f"loaded: {heavy}" if heavy else code)
"""


@pytest.mark.parametrize(("ending", "recipe"), [("csv", "words"), ("jsonl", "words"), ("parquet", "bag")])
def test_a_quick_training_and_its_answers_load_nothing_heavy(tmp_path, ending, recipe):
    table = pa.table({"text": ["good film", "bad film", "fair film"] * 20, "label": ["pos", "neg", "pos"] * 20})
    if ending == "parquet":
        parquet.write_table(table, tmp_path / "data.parquet")
    elif ending == "csv":
        csv.write_csv(table, tmp_path / "data.csv")
    else:
        (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), "utf-8")
    command = [sys.executable, "-c", WORK, f"data.{ending}", recipe]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("few", [0, 1 << 16])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_strings_are_numbered_as_they_come_by_both_ways(monkeypatch, few, kind):
    monkeypatch.setattr("linnaeus.data.arrow.FEW", few)
    column = pa.array(["x", "spam", "", "hä", "spam", "x"], kind)[1:]
    codes, found = number(column)
    assert (codes.tolist(), found) == ([0, 1, 2, 0, 3], ["spam", "", "hä", "x"])
    assert number(column[:0])[1] == []


def test_bytes_become_text_where_they_are_utf8():
    assert as_strings(pa.array([b"a", b"h\xc3\xa4", None])[1:]).to_pylist() == ["hä", None]
    with pytest.raises(pa.ArrowInvalid):
        as_strings(pa.array([b"a", b"\xff"]))
