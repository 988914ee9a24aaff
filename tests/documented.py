"""What the pages, the help and the messages tell a user to run: one parser for all tests of the documentation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from linnaeus.cli import VERBS
from linnaeus.cli.main import group
from linnaeus.tasks import TASKS

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")])
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
EXAMPLE = re.compile(r"^ *((?:[^\n`|]+ \| )?linnaeus .*)$", re.MULTILINE)
SUGGESTED = re.compile(r"`((?:[^`|]+ \| )?linnaeus [^`]+)`|(?:^|: )(linnaeus [a-z]+ [^`]+)$")


class Step(NamedTuple):
    """A line of a console block after its `$`, and what stands below it."""

    command: str
    output: str


def console_steps(code: str) -> list[Step]:
    """The commands of a console block with their output."""
    parts = re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]
    return [Step(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def page_commands(text: str) -> list[str]:
    """Every line of console blocks, and every inline `linnaeus ...`."""
    blocks = [block["code"] for block in FENCE.finditer(text) if block["info"].split()[:1] == ["console"]]
    found = [step.command for code in blocks for step in console_steps(code)]
    return found + [span for span in _spans(text) if re.match(r"linnaeus( |$)", span)]


def page_options(text: str) -> list[str]:
    """Every inline option with a value, as a command; `A|B` and names in capitals are placeholders."""
    return [f"linnaeus train data.csv {span}" for span in _spans(text) if re.match(r"--[a-z-]+ [^A-Z|]+$", span)]


def _spans(text: str) -> list[str]:
    return [span.replace("\\|", "|") for span in SPAN.findall(FENCE.sub("", text))]


def help_examples(verb: str) -> list[str]:
    """The examples below the help of a verb."""
    command = group.get_command(click.Context(group), verb) if verb else group
    assert command is not None
    return EXAMPLE.findall(command.epilog or "")


def message_commands() -> Iterator[str]:
    """The commands that strings in the source suggest, with `model.lin` where a name is filled in."""
    for path in sorted((ROOT / "src" / "linnaeus").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if id(node) in prose or id(node) in inside:
                continue
            for pair in SUGGESTED.findall(_text(node)):
                yield next(filter(None, pair))
    for task in TASKS.values():
        yield from (f"linnaeus {words.format(model='model.lin')}" for words in task.commands)


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "model.lin" for part in node.values)
    return ""


def every_command() -> Iterator[tuple[str, str]]:
    """Where a command is told, and the command."""
    for path in PAGES:
        name = str(path.relative_to(ROOT))
        text = path.read_text(encoding="utf-8")
        yield from ((name, command) for command in [*page_commands(text), *page_options(text)])
    for verb in ("", *VERBS):
        yield from ((f"linnaeus {verb} --help", command) for command in help_examples(verb))
    yield from (("a message", command) for command in message_commands())
