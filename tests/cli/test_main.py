"""The entry point: help, version, exit codes, and that nothing heavy is loaded too early."""

from __future__ import annotations

import errno
import os
import signal
import sys

import click
import pytest
from tests.cli.conftest import RUN

import linnaeus
from linnaeus import kernels
from linnaeus.cli import VERBS
from linnaeus.cli.guard import guarded
from linnaeus.cli.main import LazyGroup, main
from linnaeus.cli.options import TWINS, remark_kernels
from linnaeus.errors import DataError, MachineError, ModelFileError, UsageError

HEAVY = ("numpy", "pyarrow", "sklearn", "rich", "scipy", "pandas", "msgspec")


def raising(error):
    def run():
        raise error

    return run


def test_help_lists_every_verb(run):
    code, out, _ = run("--help")
    assert code == 0
    assert all(name in out and line in out for name, line in VERBS.items())


def test_help_promises_no_verb_that_is_not_there(run):
    named = [line.split()[1] for line in run("--help")[1].splitlines() if line.strip().startswith("linnaeus ")]
    assert named
    assert set(named) <= set(VERBS)


@pytest.mark.parametrize("args", [["--help"], ["-h"], ["check", "--help"], ["demo", "--help"]])
def test_help_loads_nothing_heavy(spawn, args):
    code = f"import sys; from linnaeus.cli.main import main; main(); print([m for m in {HEAVY} if m in sys.modules])"
    process = spawn(args, code)
    out, err = process.communicate()
    assert out.decode().splitlines()[-1] == "[]"
    assert err == b""


def test_every_verb_can_be_loaded_and_helps(run):
    for verb in VERBS:
        code, out, _ = run(verb, "--help")
        assert code == 0
        assert out.startswith(f"Usage: linnaeus {verb}")


def test_the_version_says_what_an_issue_needs(run):
    code, out, _ = run("--version")
    assert code == 0
    assert linnaeus.__version__ in out
    assert sys.version.split()[0] in out
    assert "native kernels" in out
    assert ("twins" in out) != kernels.NATIVE


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["chekc"], "did you mean 'check'?"),
        (["check"], "Missing argument 'DATA'"),
        (["check", "x.csv", "--no-such-option"], "--no-such-option"),
        (["check", "x.csv", "--threads", "0"], "--threads"),
        (["check", "x.csv", "--limit", "leeks=1"], "did you mean 'leaks'?"),
        (["check", "x.csv", "--near", "2"], "above 0 and at most 1"),
        (["check", "-", "-"], "only once"),
    ],
)
def test_wrong_usage_is_one_sentence_and_code_2(run, args, says):
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert says in err
    assert err.startswith("linnaeus: error: ")
    assert err.count("\n") == 1


def test_no_verb_at_all_shows_the_help(run):
    code, _, err = run()
    assert code == 2
    assert err.startswith("Usage: linnaeus")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("no"), 2),
        (DataError("no"), 3),
        (ModelFileError("no"), 4),
        (MachineError("no"), 5),
        (MemoryError(), 5),
        (OSError(errno.ENOSPC, "No space left on device"), 5),
        (PermissionError(errno.EACCES, "Permission denied", "file"), 5),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (BrokenPipeError(), 0),
    ],
)
def test_every_error_has_its_exit_code_and_at_most_one_sentence(capsys, error, code):
    assert guarded(raising(error), debug=False) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    assert printed.err.count("\n") <= 1


def test_a_reader_that_leaves_early_is_no_error(monkeypatch):
    """`linnaeus predict m.lin new.csv | head -n 1` does not end with the code of a metric below its minimum."""

    @click.command()
    def broken():
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(LazyGroup, "get_command", lambda *_: broken)
    assert main(["predict"]) == 0


def test_a_bug_is_code_70_and_its_traceback_is_saved(capsys, home):
    assert guarded(raising(ZeroDivisionError("sum of nothing")), debug=False) == 70
    err = capsys.readouterr().err
    saved = next(home.iterdir())
    assert str(saved) in err
    assert "Traceback" not in err
    assert "ZeroDivisionError: sum of nothing" in saved.read_text()
    assert linnaeus.__version__ in saved.read_text()


def test_a_bug_in_a_home_that_cannot_be_written_is_still_code_70(capsys, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LINNAEUS_HOME", str(tmp_path / "file" / "below"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "file"))
    assert guarded(raising(ZeroDivisionError()), debug=False) == 70
    assert "--debug" in capsys.readouterr().err


def test_debug_shows_the_traceback(run, tmp_path):
    code, _, err = run("check", tmp_path / "absent.csv", "--debug")
    assert code == 3
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("linnaeus: error: ")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_the_work_with_their_code_and_one_line(spawn, number, code):
    # A shell that starts the tests in the background makes them, and what they start, deaf to Ctrl-C.
    hear = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {RUN}"
    process = spawn(["check", "-", "--format", "csv", "-q"], hear, stdin=-1)
    # More than a pipe holds: once it is written, the process is reading.
    process.stdin.write(b"text,label\n" + b"some words,a\n" * 20_000)
    process.stdin.flush()
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == code
    assert b"Traceback" not in err
    assert len(err.split(b"\n")) <= 3


def test_missing_kernels_are_said_once_and_never_when_quiet(capsys, monkeypatch):
    monkeypatch.setattr(kernels, "NATIVE", False)
    monkeypatch.setattr("linnaeus.cli.options._said", set())
    for said in (1, 0, 0):
        remark_kernels({"quiet": False})
        assert capsys.readouterr().err.count(TWINS) == said
    monkeypatch.setattr("linnaeus.cli.options._said", set())
    remark_kernels({"quiet": True})
    assert capsys.readouterr().err == ""


def test_algebra_that_no_verb_needs_gets_no_threads(run, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    run("--version")
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    run("--version")
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
