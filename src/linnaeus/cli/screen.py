"""Where a page is shown: with colors on a terminal, plain in a pipe or file, ASCII where the encoding wants it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from linnaeus.cli.guard import silence
from linnaeus.frozen import dataclass
from linnaeus.render import Glyphs, Line, Page, glyphs_for
from linnaeus.types import Json

if TYPE_CHECKING:
    from linnaeus.render import Marks

COLORS = {
    "title": "bold",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "faint": "dim",
    "accent": "cyan",
    "for": "bright_cyan",
    "for-strong": "bold black on cyan",
    "against": "bright_yellow",
    "against-strong": "bold black on yellow",
    "command": "",
}

LEAST = 20
"""Columns below which nothing is laid out any narrower."""


@dataclass(frozen=True, slots=True)
class Screen:
    """A stream, whether it takes colors, the signs it can carry, and its columns (None: lines may have any length)."""

    stream: TextIO
    color: bool
    glyphs: Glyphs
    columns: int | None = None

    def show(self, page: Page) -> None:
        """Print a page."""
        self.write(_colored(page.lines(self.columns)) if self.color else page.plain(self.columns))

    def write(self, text: str) -> None:
        """Print text; characters the stream cannot carry are spelled out, and a reader that is gone is no error."""
        encoding = self.stream.encoding or "utf-8"
        try:
            self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self.stream.flush()
        except BrokenPipeError:
            silence(self.stream)

    def write_json(self, value: Json) -> None:
        """Print one line of JSON."""
        self.write(json.dumps(value, ensure_ascii=False) + "\n")

    @property
    def marks(self) -> Marks:
        """How highlighted words are marked: by colors where there are some."""
        from linnaeus.render import COLORED, PLAIN

        return COLORED if self.color else PLAIN


def open_screen(stream: TextIO, mode: str = "auto", environment: Mapping[str, str] = os.environ) -> Screen:
    """The screen on a stream; mode is auto, always or never."""
    color = wants_color(stream, mode, environment)
    return Screen(stream, color, glyphs_for(stream.encoding), width_of(stream, environment))


def width_of(stream: TextIO, environment: Mapping[str, str]) -> int | None:
    """COLUMNS where it is set, else the columns of the terminal.

    In a pipe or a file lines are never broken or cut, so that `grep` finds each row of a table in one line.
    """
    asked = environment.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return max(LEAST, int(asked))
    if not stream.isatty():
        return None
    try:
        return max(LEAST, os.get_terminal_size(stream.fileno()).columns or 80)
    except (OSError, ValueError):
        return 80


def wants_color(stream: TextIO, mode: str, environment: Mapping[str, str]) -> bool:
    """The option first; then NO_COLOR, then FORCE_COLOR or CLICOLOR_FORCE; then whether it is a terminal that can."""
    if mode != "auto":
        return mode == "always"
    if environment.get("NO_COLOR"):
        return False
    if any(environment.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return environment.get("TERM") != "dumb" and stream.isatty()


def _colored(lines: list[Line]) -> str:
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    # Rich gets a page already laid out: no wrapping, no markup, no guesses about the terminal.
    out = StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", width=10_000, no_color=False, _environ={})
    for words in lines:
        console.print(Text.assemble(*((word.text, COLORS.get(word.style, "")) for word in words)), highlight=False)
    return "".join(text.rstrip() + "\n" for text in out.getvalue().splitlines())
