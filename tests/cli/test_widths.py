"""No line of any page is wider than the terminal, whatever the model; in a pipe each row stays on one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Answer
from tests.toys import fruit_and_metal

from linnaeus.cli import VERBS
from linnaeus.cli.main import main
from linnaeus.render import width

WIDTHS = (60, 80, 100, 120)
LONG = {
    "fruit": "everything_that_grows_on_trees_or_bushes_and_can_be_eaten_without_cooking_it_first",
    "metal": "金属製品と鉱石、それから地面の下から掘り出される他のすべての硬いもの",
}
TOKENS = [
    (["Ann", "Lee", "left", "Oslo"], ["B-PERSON_OF_THE_STORY", "I-PERSON_OF_THE_STORY", "O", "B-PLACE"]),
    (["Rome", "sleeps"], ["B-PLACE", "O"]),
]
KINDS = {
    "classes": ("train", "classes.csv"),
    "numbers": ("train", "numbers.csv", "--task", "regress"),
    "sets": ("train", "sets.csv", "--label-separator", ";"),
    "neighbors": ("train", "classes.csv", "--recipe", "knn", "--set", "keep=texts"),
    "tagger": ("train", "tagged.jsonl", "--recipe", "entities-fast"),
    "ranker": ("train", "ranked.jsonl"),
    "pipeline": ("train", "classes.csv", "--recipe", "pipeline.toml"),
}
PIPELINE = """
recipe = "words"

[[before]]
name = "ner"
recipe = "entities-fast"
data = "tagged.jsonl"
"""
TEXT = "the apple and the zinc, a plum and some lead: 天気がいいから散歩しましょう " * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Data and a model of each kind, and what `train` showed of it at 80 columns."""
    path = tmp_path_factory.mktemp("widths")
    rows = fruit_and_metal()
    lines = {
        "classes.csv": [
            "text,label,where",
            *(f"{text},{LONG[name]},shop {i % 3}" for i, (text, name) in enumerate(rows)),
        ],
        "numbers.csv": ["text,label", *(f"{text},{len(text)}.5" for text, _ in rows)],
        "sets.csv": [
            "text,label",
            *(f"{text},{LONG[name]}{';short' * (i % 2)}" for i, (text, name) in enumerate(rows)),
        ],
        "tagged.jsonl": [json.dumps({"tokens": words, "tags": tags}) for words, tags in TOKENS * 10],
        "ranked.jsonl": [
            json.dumps({"text": text, "candidates": [name, "a stone of no name"], "answer": 0}) for text, name in rows
        ],
    }
    (path / "pipeline.toml").write_text(PIPELINE)
    for name, content in lines.items():
        (path / name).write_text("\n".join(content) + "\n", encoding="utf-8")
    before = Path.cwd()
    os.chdir(path)
    yield path
    os.chdir(before)


@pytest.fixture(scope="module")
def trained(folder: Path) -> dict[str, str]:
    for kind, (verb, data, *options) in KINDS.items():
        assert main([verb, data, *options, "-q", "-o", f"{kind}.lin"]) == 0, kind
    return {kind: f"{kind}.lin" for kind in KINDS}


PAGES = [
    ("check", "classes.csv"),
    ("check", "sets.csv", "--label-separator", ";"),
    ("recipes",),
    ("test", "classes.lin", "classes.csv", "--by", "where", "--by", "length"),
    ("test", "numbers.lin", "numbers.csv"),
    ("test", "sets.lin", "sets.csv"),
    ("test", "tagger.lin", "tagged.jsonl"),
    ("test", "ranker.lin", "ranked.jsonl"),
    ("test", "pipeline.lin", "classes.csv"),
    *(("inspect", f"{kind}.lin") for kind in KINDS),
    *(("explain", f"{kind}.lin", TEXT) for kind in ("classes", "numbers", "sets", "neighbors")),
    ("explain", "classes.lin"),
    ("explain", "classes.lin", TEXT, "--detail"),
    ("explain", "tagger.lin", "Ann Lee left Oslo"),
    ("explain", "ranker.lin", "ranked.jsonl"),
    ("search", "neighbors.lin", TEXT),
]


def assert_fits(shown: str, columns: int) -> None:
    assert shown
    wide = [text for text in shown.splitlines() if width(text) > columns]
    assert wide == []


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("args", PAGES, ids=lambda args: "-".join(word[:20] for word in args))
def test_pages_fit(args, columns, trained, run: Callable[..., Answer], monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    answer = run(*args, "-q")
    assert answer.code in (0, 1), answer.err  # 1: `check` finds that texts repeat
    assert_fits(answer.out, columns)


@pytest.mark.parametrize("kind", KINDS)
def test_what_train_shows_fits(kind, folder, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    verb, data, *options = KINDS[kind]
    answer = run(verb, data, *options, "-q", "-o", f"a_model_with_a_very_long_name_indeed_{kind}.lin", "--force")
    assert answer.code == 0, answer.err
    assert_fits(answer.out, 60)


@pytest.mark.parametrize("columns", WIDTHS)
def test_help_pages_fit(columns, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    for verb in ("", *VERBS):
        assert_fits(run(*filter(None, [verb]), "--help").out, columns)
    for verb in ("train", "neighbors", "analogy", "test", "convert"):
        assert_fits(run("vectors", verb, "--help").out, columns)


def test_the_demo_fits(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert_fits(run("demo", "-q").out, 60)


def test_in_a_pipe_each_row_is_one_line_and_nothing_is_cut(trained, run, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    shown = run("check", "classes.csv").out
    assert all(sum(name in text and "25" in text for text in shown.splitlines()) == 1 for name in LONG.values())


SKIPPED = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are those of POSIX")


def on_terminal(columns: int, *args: str, stream: str = "stdout") -> tuple[int, str]:
    """The exit code of a command, and what it shows on a terminal of so many columns."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"TERM": "xterm"}
    code = "from linnaeus.__main__ import program; program()"
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | {stream: theirs}
    running = subprocess.Popen([sys.executable, "-c", code, *args], env=env, **streams)
    os.close(theirs)
    shown = b""
    while True:
        try:
            more = os.read(ours, 1 << 16)
        except OSError:
            break
        if not more:
            break
        shown += more
    return running.wait(), shown.decode().replace("\r", "")


@SKIPPED
def test_the_width_is_that_of_the_terminal(folder):
    code, shown = on_terminal(50, "check", "classes.csv", "-q", "--color", "never")
    assert code in (0, 1)
    assert_fits(shown, 50)


@SKIPPED
def test_messages_are_broken_between_words_on_a_terminal(folder, run):
    code, shown = on_terminal(60, "train", "classes.csv", "--label", "lable", "-o", "n.lin", stream="stderr")
    assert code == 3
    assert_fits(shown, 60)
    whole = run("train", "classes.csv", "--label", "lable", "-o", "n.lin").err
    assert whole.count("\n") == 1
    assert shown.replace("\n  ", " ") == whole
    _, usage = on_terminal(60, stream="stderr")
    assert usage.startswith("Usage: linnaeus [OPTIONS] COMMAND [ARGS]...\n\n  Train,")


def test_long_names_are_whole_and_broken_after_signs(trained, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("test", "classes.lin", "classes.csv", "-q").out
    lines = [text[:29].strip() for text in shown.splitlines()]
    at = next(i for i, text in enumerate(lines) if text.startswith("everything_"))
    assert "".join(lines[at : at + 5]).startswith(LONG["fruit"][:79])
    assert all(text.endswith(("_", "…")) for text in lines[at : at + 3])
    monkeypatch.delenv("COLUMNS")
    assert LONG["metal"] in run("test", "classes.lin", "classes.csv", "-q").out
