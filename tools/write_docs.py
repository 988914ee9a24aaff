"""Runs every example of the documentation and writes its real output into the pages.

    python tools/write_docs.py [--check] [PAGE ...]

The blocks of one page share a namespace and a temporary folder, from top to bottom:

- `python`: executed, or run as a doctest where it begins with `>>>`; `python no-run` is only compiled. A `text` block
  directly below it is what it prints.
- `console`: every line after `$ ` is run, and the lines below it are its standard output, complete; with `2>&1` they
  are its standard error too. `make` and `pip` are not run. A line that shows no output may write anything.

Output is compared with figures normalized: digits, signs of numbers, units, bars and the width of spaces may differ;
words, rows and their order may not. A page is only written where more than times and sizes changed.
"""

from __future__ import annotations

import argparse
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from difflib import unified_diff
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")])
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^\$ (?P<command>(?:[^\n]*\\\n)*[^\n]*)\n(?P<shown>(?:(?!\$ )[^\n]*\n)*)", re.MULTILINE)
SETTING = {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONUTF8": "1"}
NOT_RUN = {"make", "pip"}
SCRIPTS = sysconfig.get_path("scripts")
TIMES = re.compile(r"\d[\d.,]* ?(?:[munµ]?s|min|h|[kMG]?B|bytes)\b|(?<=\"seconds\": )[\d.e-]+")
BARS = re.compile("[▀-▟■─━-]{2,}")
FIGURES = [
    (re.compile("&#160;"), " "),
    (re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{8,}\b"), "0"),
    (TIMES, "0"),
    (re.compile(r"(?<![\w.])[+\-−]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?"), "0"),
    (BARS, " "),
    (re.compile("[▀-▟■]"), " "),
    (re.compile(r"[ \t]+"), " "),
    (re.compile(r" ?\n ?"), "\n"),
]


class ExampleError(Exception):
    """An example of a page does not run; the message says where and why."""


def run_page(path: Path, text: str) -> str:
    """The text of a page with the output that its examples write now."""
    names: dict[str, Any] = {"__name__": "__docs__"}
    pieces, end, printed = [], 0, None
    for block in FENCE.finditer(text):
        between, info, code = text[end : block.start("code")], block["info"].split(), block["code"]
        where = f"{path.name}, line {text.count(chr(10), 0, block.start()) + 1}"
        if printed is not None and between.split() == ["```", "```text"]:
            code = keep_times(code, printed)
        elif info[:1] == ["console"]:
            code = STEP.sub(lambda step, where=where: run_step(step, where), code)
        printed = run_python(code, info, where, names) if info[:1] == ["python"] else None
        pieces += [between, code]
        end = block.end("code")
    return "".join([*pieces, text[end:]])


def run_python(code: str, info: list[str], where: str, names: dict[str, Any]) -> str | None:
    """What a Python block prints; nothing for one that is only compiled."""
    if info == ["python", "no-run"]:
        compile(code, where, "exec", dont_inherit=True)
        return None
    if code.lstrip().startswith(">>>"):
        return run_doctest(code, where, names)
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(code, where, "exec", dont_inherit=True), names)
    return out.getvalue()


def run_doctest(code: str, where: str, names: dict[str, Any]) -> str:
    """Runs a block that begins with `>>>`: its values are compared to the last digit."""
    test = doctest.DocTestParser().get_doctest(code, names, where, where, 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    if report:
        raise ExampleError(f"{where}:\n{''.join(report)}")
    return ""


def run_step(step: re.Match[str], where: str) -> str:
    """A command of a console block with what it writes now."""
    command, shown = step["command"], step["shown"]
    done = call(command)
    written = keep_times(shown, done.stdout) if done is not None and shown.strip() else shown
    may_fail = "2>&1" in command
    if done is not None and done.returncode not in ((0, 1, 2, 3, 4) if may_fail else (0, 1)):
        raise ExampleError(f"{where}: {command}\nexit code {done.returncode}\n{done.stderr}")
    return f"$ {command}\n{written}"


def call(command: str) -> subprocess.CompletedProcess[str] | None:
    """Runs a command: `linnaeus` in this process where the line begins with it, the rest in a shell."""
    plain = command.removesuffix(" 2>&1")
    if shlex.split(plain, comments=True)[0] in NOT_RUN:
        return None
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", lambda quoted: "x" * len(quoted[0]), plain)
    first = re.match(r"linnaeus [^|<>;&]*", bare)
    if not first:
        return call_shell(command)
    rest = plain[first.end() :]
    done = call_here(shell_words(plain[: first.end()]), joined=plain != command, piped=bool(rest))
    return call_shell(f"cat {rest}", done.stdout) if rest and done.returncode in (0, 1) else done


def call_shell(command: str, given: str = "") -> subprocess.CompletedProcess[str] | None:
    """Runs a command in bash, as a user does; nothing where there is none."""
    shell = shutil.which("bash")
    if not shell or os.name == "nt":
        return None
    env = {**os.environ, **SETTING, "PATH": os.pathsep.join([SCRIPTS, os.environ.get("PATH", "")])}
    how: dict[str, Any] = {"capture_output": True, "text": True, "encoding": "utf-8", "timeout": 120, "env": env}
    return subprocess.run([shell, "-c", command], input=given, check=False, **how)


def shell_words(command: str) -> list[str]:
    """The words of a command as a shell makes them: what a shell would break is broken here too."""
    shell = shutil.which("bash")
    if not shell or os.name == "nt":
        return shlex.split(command, comments=True)
    script = f'linnaeus() {{ printf "%s\\0" linnaeus "$@"; }}\n{command}'
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True, encoding="utf-8", check=True)
    return done.stdout.split("\0")[:-1]


def call_here(words: list[str], *, joined: bool = False, piped: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs `linnaeus` in this process: a process of its own for every line is a minute of loading modules.

    On a terminal pages have 80 columns; in a pipe or a file lines have any length.
    """
    from linnaeus.cli.main import main

    setting = {**SETTING, "COLUMNS": ""} if piped else SETTING
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = out if joined else io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(out), redirect_stderr(err), mock.patch.dict(os.environ, setting):
        code = main(words[1:])
    said = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(words, code, *said)


def keep_times(shown: str, written: str) -> str:
    """What is shown, where only times and sizes differ from what was written; else what was written."""
    written = "".join(f"{line.rstrip()}\n" for line in written.rstrip().splitlines())
    same = TIMES.sub("0", shown).split() == TIMES.sub("0", written).split()
    return shown if same else written


def normalized(text: str) -> str:
    """A page or an output without its figures."""
    for pattern, by in FIGURES:
        text = pattern.sub(by, text)
    return text.strip()


def difference(old: str, new: str) -> str:
    """The lines that differ when figures do not count; empty where none does."""
    lines = unified_diff(normalized(old).splitlines(), normalized(new).splitlines(), "shown", "written", "", "", 1, "")
    return "\n".join(lines)


def main() -> int:
    """Run the pages; write or compare them."""
    parser = argparse.ArgumentParser(description="Runs the examples of the documentation and writes their output.")
    parser.add_argument("pages", nargs="*", type=Path, help="pages to run; by default all of them")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where words or rows differ")
    given = parser.parse_args()
    failed = False
    for path in [page.resolve() for page in given.pages] or PAGES:
        old = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            try:
                new = run_page(path, old)
            except Exception as error:
                print(f"{path.relative_to(ROOT)}: {error}", file=sys.stderr)
                failed = True
                continue
        if given.check and (lines := difference(old, new)):
            print(f"{path.relative_to(ROOT)}\n{lines}")
            failed = True
        elif not given.check and new != old:
            path.write_text(new, encoding="utf-8", newline="\n")
            print(f"{path.relative_to(ROOT)}: written")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
