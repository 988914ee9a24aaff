"""`linnaeus check`: what it prints where, its codes, and one sentence for each kind of bad input."""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
from pathlib import Path

import pytest

TREES = ["oak", "elm", "ash", "fir", "yew"]
GOOD = "text,label\n" + "".join(f"{tree} {part} {tree},{part}\n" for tree in TREES for part in ("leaf", "root"))
BAD = GOOD + "oak leaf oak,root\n,leaf\n"


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    return path


@pytest.fixture
def bad(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(BAD)
    return path


def test_good_data_are_shown_plainly_with_code_0(run, good):
    code, out, err = run("check", good)
    assert code == 0
    assert err == ""
    assert "10 rows" in out
    assert "leaf" in out
    assert "50 %" in out
    assert "Latin 100 %" in out
    assert "nothing to report" in out
    assert "\x1b" not in out


def test_problems_are_shown_with_rows_and_code_1(run, bad):
    code, out, _ = run("check", bad)
    assert code == 1
    assert "conflicts" in out
    assert "row 11 [root] = row 1 [leaf]" in out
    assert "empty" in out


def test_limits_change_the_code_not_the_findings(run, bad):
    code, out, _ = run("check", bad, "--limit", "all=100%")
    assert code == 0
    assert "conflicts" in out


def test_json_is_one_object_with_a_schema(run, bad, good):
    code, out, _ = run("check", bad, good, "--json", "--examples", "1")
    form = json.loads(out)
    assert code == 1
    assert out.count("\n") == 1
    assert form["schema"] == "linnaeus.check/1"
    assert not form["ok"]
    assert form["other"]["rows"] == 10
    leaks = next(finding for finding in form["findings"] if finding["kind"] == "leaks")
    assert (leaks["count"], leaks["share"], len(leaks["examples"])) == (10, 1.0, 1)


def test_two_files_are_compared(run, good, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("text,label\nelm leaf  ELM,leaf\npine cone,cone\n")
    code, out, _ = run("check", good, other)
    assert code == 1
    assert "leaks: 1 row of the other data is in the first too (50 %, limit 1 %)" in out
    assert "unseen_labels" in out


def test_options_of_reading_are_handed_on(run, tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes("body|kind\ncafé noir|a;b\nthé vert|b\n".encode("latin-1"))
    options = ["--text", "body", "--label", "kind", "--delimiter", "|", "--label-separator", ";"]
    code, out, _ = run(
        "check", path, "--format", "csv", "--encoding", "latin-1", "--json", "--limit", "all=1", *options
    )
    data = json.loads(out)["data"]
    assert code == 0
    assert data["label_kind"] == "many"
    assert [(label["name"], label["count"]) for label in data["labels"]] == [("b", 2), ("a", 1)]


def test_guessed_columns_are_said_on_stderr(run, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("review,sentiment\nfine,pos\nawful,neg\n")
    _, out, err = run("check", path)
    assert "'review' (guessed)" in err
    assert "'sentiment' (guessed)" in err
    assert "(guessed)" not in out
    assert run("check", path, "-q").err == ""


def test_bad_rows_can_be_skipped_and_are_counted(run, tmp_path):
    path = tmp_path / "ragged.csv"
    path.write_text(GOOD + "one,two,three\n")
    code, out, err = run("check", path, "--bad-rows", "skip")
    assert code == 0
    assert "10 rows" in out
    assert "skipped" in err


def test_standard_input_is_a_dash(spawn):
    process = spawn(["check", "-", "--format", "csv"], stdin=-1, env={"PYTHONIOENCODING": "utf-8"})
    out, _ = process.communicate(GOOD.encode())
    assert process.returncode == 0
    assert out.decode().startswith("standard input: 10 rows")


def test_threads_never_change_the_answer(run, bad):
    assert run("check", bad, "--threads", "1").out == run("check", bad, "--threads", "3").out


def test_texts_cannot_command_the_terminal(run, tmp_path):
    path = tmp_path / "evil.csv"
    path.write_text("text,label\n" + "\x1b[2J\x1b]0;pwned\x07 boo,\x1b[31mred\n" * 2)
    _, out, _ = run("check", path)
    assert not {"\x1b", "\x07"} & set(out)
    assert "\\x1b[31mred" in out


def test_names_cannot_command_the_terminal(run):
    code, out, err = run("check", "\x1b]0;pwned\x07.csv")
    assert (code, out) == (3, "")
    assert not {"\x1b", "\x07"} & set(err)
    assert "\\x1b]0;pwned\\x07.csv: there is no such file" in err


def test_a_stream_of_ascii_gets_ascii(spawn, bad):
    process = spawn(["check", bad], env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    out, err = process.communicate()
    assert process.returncode == 1
    assert out.isascii()
    assert b"##" in out
    assert b"Traceback" not in err


@pytest.mark.parametrize(
    ("mode", "env", "colored"),
    [
        ("auto", {}, False),
        ("auto", {"FORCE_COLOR": "1"}, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("always", {"NO_COLOR": "1"}, True),
        ("never", {"FORCE_COLOR": "1"}, False),
    ],
)
def test_color_follows_option_and_environment(run, bad, monkeypatch, mode, env, colored):
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in run("check", bad, "--color", mode).out) == colored


def test_color_changes_no_letter(run, bad):
    plain, colored = run("check", bad, "--color", "never").out, run("check", bad, "--color", "always").out
    bare = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert [line.rstrip() for line in bare.splitlines()] == plain.splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are those of POSIX")
def test_a_reader_that_goes_away_is_no_error(spawn, bad):
    read, write = os.pipe()
    os.close(read)
    process = spawn(["check", bad, "-q"], stdout=write)
    os.close(write)
    _, err = process.communicate()
    assert process.returncode == 1
    assert err == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_stdout_is_code_5(spawn, good):
    with Path("/dev/full").open("wb") as full:
        process = spawn(["check", good, "-q"], stdout=full)
        _, err = process.communicate()
    assert process.returncode == 5
    assert err.count(b"\n") == 1


def write(path, data: bytes):
    path.write_bytes(data)
    return path


BAD_INPUTS = {
    "missing file": (lambda d: d / "absent.csv", [], "absent.csv"),
    "empty file": (lambda d: write(d / "empty.csv", b""), [], "empty"),
    "header only": (lambda d: write(d / "head.csv", b"text,label\n"), [], "head.csv"),
    "missing column": (lambda d: write(d / "a.csv", GOOD.encode()), ["--text", "body"], "body"),
    "missing label column": (lambda d: write(d / "a.csv", GOOD.encode()), ["--label", "topic"], "topic"),
    "too many fields": (lambda d: write(d / "a.csv", GOOD.encode() + b"a,b,c\n"), [], "12"),
    "undecodable bytes": (lambda d: write(d / "a.csv", GOOD.encode() + b"caf\xe9,leaf\n"), [], "utf-8"),
    "labels missing": (lambda d: write(d / "a.csv", GOOD.encode() + b"oak,\n"), [], "no label"),
    "directory with no text": (lambda d: d, [], "no"),
    "truncated gzip": (lambda d: write(d / "a.csv.gz", gzip.compress(GOOD.encode() * 50)[:-20]), [], "a.csv.gz"),
    "bad json": (lambda d: write(d / "a.jsonl", b'{"text": "a", "label": "b"}\n{"text": \n'), [], "line 2"),
}


@pytest.mark.parametrize("case", BAD_INPUTS)
def test_bad_input_is_one_sentence_and_code_3(run, tmp_path, case):
    make, options, says = BAD_INPUTS[case]
    code, out, err = run("check", make(tmp_path), *options)
    assert (code, out) == (3, "")
    assert err.startswith("linnaeus: error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert says in err


@pytest.mark.parametrize("options", [["--encoding", "klingon"], ["--format", "docx"], ["--delimiter", "ab"]])
def test_wrong_options_of_reading_are_code_2(run, good, options):
    code, out, err = run("check", good, *options)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_hints_name_options_of_the_command_line(run, tmp_path):
    path = write(tmp_path / "a.csv", GOOD.encode() + b"caf\xe9,leaf\n")
    assert "--encoding latin-1" in run("check", path).err
    assert "--bad-rows skip" in run("check", path).err
    assert run("check", path, "--encoding", "latin-1").code == 0
    assert run("check", path, "--bad-rows", "skip").code == 0


def test_a_file_without_a_header_gets_its_names(run, tmp_path):
    path = write(tmp_path / "a.csv", GOOD.split("\n", 1)[1].encode())
    assert "10 rows" in run("check", path, "--names", "text,label").out


def test_an_empty_name_is_a_mistake_not_a_missing_file(run, good):
    for names in (("",), (good, "")):
        answer = run("check", *names)
        assert answer.code == 2
        assert "The file name is empty" in answer.err
