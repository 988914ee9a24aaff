"""Every example in the documentation runs, and every link in it leads somewhere.

The blocks of one page share a namespace and a temporary directory, from top to bottom. A `python` block is executed,
or run as a doctest where it begins with `>>>`; one marked `python no-run` is only compiled. In a `console` block the
lines that call `linnaeus` are run, in this process, or by a shell those with a pipe or a `>`; the lines below them are
their output (`...` stands for anything).
"""

import doctest
import io
import os
import re
import shlex
import subprocess
import sysconfig
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import pytest
from tests.documented import FENCE, PAGES, ROOT, console_steps

from linnaeus.cli.main import main

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(?:#[^)\s]*)?\)")
SETTING = {"COLUMNS": "100", "NO_COLOR": "1"}
COMMAND = Path(sysconfig.get_path("scripts")) / ("linnaeus.exe" if os.name == "nt" else "linnaeus")

page = pytest.mark.parametrize("path", PAGES, ids=[str(p.relative_to(ROOT)) for p in PAGES])


def run_python(code, line, path, names):
    """Executes a block in `names`; a traceback shows the page and its line."""
    exec(compile("\n" * line + code, str(path), "exec"), names)


def run_doctest(code, line, path, names):
    """Runs a block that begins with `>>>` as a doctest, in `names`."""
    test = doctest.DocTestParser().get_doctest(code, names, path.name, str(path), line)
    report = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert not report, "".join(report)


def call(command):
    """Runs a line of a console block that calls `linnaeus`; None for other lines, or where there is no such shell."""
    words = shlex.split(command, comments=True)
    if "linnaeus" not in words:
        return None
    if not {"|", ">", "<"} & set(words):
        return call_here(words)
    paths = os.pathsep.join([str(COMMAND.parent), os.environ.get("PATH", "")])
    given = {"capture_output": True, "text": True, "encoding": "utf-8", "check": False, "timeout": 120}
    env = {**os.environ, **SETTING, "PYTHONUTF8": "1", "PATH": paths}
    return None if os.name == "nt" else subprocess.run(command, shell=True, env=env, **given)


def call_here(words):
    """Runs `linnaeus` in this process: a process of its own for every line is a minute of loading modules."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err), mock.patch.dict(os.environ, SETTING):
        code = main(words[1:])
    return subprocess.CompletedProcess(words, code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def run_console(code, line, path):
    """Runs each line that calls `linnaeus` and compares what it writes; exit code 1 is an answer, not a failure."""
    for command, wanted in console_steps(code):
        done = call(command)
        if done is None:
            continue
        assert done.returncode in (0, 1), f"{path.name}, line {line}: {command}\n{done.stderr}"
        same = doctest.OutputChecker().check_output(wanted, done.stdout, FLAGS)
        assert same or not wanted.strip(), f"{path.name}, line {line}: {command}\nwrote:\n{done.stdout}"


@page
def test_examples_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    names = {"__name__": "__docs__"}
    for block in FENCE.finditer(text):
        info, code, line = block["info"].split(), block["code"], text.count("\n", 0, block.start()) + 1
        if info == ["python", "no-run"]:
            compile(code, str(path), "exec")
        elif info[:1] == ["python"]:
            (run_doctest if code.lstrip().startswith(">>>") else run_python)(code, line, path, names)
        elif info[:1] == ["console"]:
            run_console(code, line, path)


@page
def test_links_lead_somewhere(path):
    prose = FENCE.sub("", path.read_text(encoding="utf-8"))
    assert [link for link in LINK.findall(prose) if not (path.parent / link).exists()] == []


def test_the_site_lists_every_page(source_tree):
    nav = (source_tree / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    listed = set(re.findall(r"(\S+\.md)\s*$", nav, re.MULTILINE))
    assert listed == {p.relative_to(source_tree / "docs").as_posix() for p in source_tree.glob("docs/**/*.md")}


def test_a_wrong_example_is_noticed():
    names = {}
    run_python("a = 1 + 1", 0, Path("page.md"), names)
    run_doctest(">>> a\n2\n", 0, Path("page.md"), names)
    with pytest.raises(AssertionError, match="Expected"):
        run_doctest(">>> a\n3\n", 0, Path("page.md"), names)
