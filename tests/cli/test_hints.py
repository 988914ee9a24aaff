"""What the command line says is meant for the command line, and for the data at hand."""

import pytest


@pytest.fixture
def repeated(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,x\na,x\n")
    (tmp_path / "a.jsonl").write_text('{"text": "a", "label": "x"}\n' * 2)
    return tmp_path


def test_missing_file_has_no_hint_for_python(run, tmp_path):
    code, _, err = run("check", tmp_path / "no.csv")
    assert code == 3
    assert err.endswith("no.csv: there is no such file; check the name.\n")


def test_limit_out_of_range_is_named_as_written(run, repeated):
    code, _, err = run("check", repeated / "a.csv", "--limit", "all=200%")
    assert code == 2
    assert "'all=200%' is not a limit; a share is a number from 0 to 1" in err


def test_rows_are_counted_after_a_header_only_where_there_is_one(run, repeated):
    counted = "rows are counted from 1"
    assert f"{counted}, after the header" in run("check", repeated / "a.csv").out
    for args in (["a.jsonl"], ["a.csv", "a.jsonl"]):
        out = run("check", *(repeated / name for name in args)).out
        assert counted in out
        assert "after the header" not in out
    out = run("check", repeated / "a.csv", "--names", "text,label").out
    assert "after the header" not in out


def test_one_row_and_one_word_are_singular(run, tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,x\n")
    assert "1 row, 1 B of text, 1 different word\n" in run("check", tmp_path / "a.csv").out


def test_damaged_names_control_characters(run, tmp_path):
    (tmp_path / "a.csv").write_text("text,label\nit\x92s,x\n", encoding="utf-8")
    assert "NUL, C1 control characters or mojibake" in run("check", tmp_path / "a.csv").out


@pytest.mark.parametrize("value", ["zero", "0", "-3", "1.5", "²"])
def test_threads_of_the_environment_are_checked(run, repeated, monkeypatch, value):
    monkeypatch.setenv("LINNAEUS_NUM_THREADS", value)
    code, _, err = run("check", repeated / "a.csv")
    assert code == 2
    assert f"LINNAEUS_NUM_THREADS is '{value}'; set it to a whole number from 1 up" in err


@pytest.mark.parametrize(("value", "args"), [("2", []), ("", []), ("zero", ["--threads", "1"])])
def test_threads_of_the_environment_are_used_or_overruled(run, repeated, monkeypatch, value, args):
    monkeypatch.setenv("LINNAEUS_NUM_THREADS", value)
    assert run("check", repeated / "a.csv", "--limit", "all=1", *args).code == 0
