"""A progress line on a terminal: a name, a bar, a few words; it is redrawn in place and cleared at the end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TextIO

WIDTH = 20
"""Columns of the bar."""


def moves(stream: TextIO | None, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a line can be redrawn there: a terminal that supports it, used by a person.

    >>> import io
    >>> moves(io.StringIO())
    False
    """
    if stream is None or environment.get("TERM") == "dumb" or environment.get("TTY_INTERACTIVE") == "0":
        return False
    return not environment.get("CI") and stream.isatty()


class LiveBar:
    """Drawn from the first `show` to `close`. Rich draws it, at most ten times a second."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._bar: Any = None
        self._task: Any = None
        self._name = ""

    def show(self, name: str, said: str, share: float | None = None) -> None:
        """A share from 0 to 1 of the bar, None where unknown; a new name begins a new bar."""
        if self._bar is None:
            self._bar = _progress(self.stream)
            self._bar.start()
        if name != self._name:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._name, self._task = name, self._bar.add_task(name, total=None, said="")
        self._bar.update(self._task, total=None if share is None else 1.0, completed=share or 0.0, said=said)

    def room(self, name: str) -> int:
        """Columns that are left for words beside the name and the bar."""
        from rich.console import Console

        return max(1, int(Console(file=self.stream).width) - len(name) - WIDTH - 3)

    def refresh(self) -> None:
        """Draw now."""
        if self._bar is not None:
            self._bar.refresh()

    def close(self) -> None:
        """Clear the line; the next `show` begins again."""
        if self._bar is not None:
            self._bar.stop()
        self._bar, self._task, self._name = None, None, ""


def _progress(stream: TextIO) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(WIDTH),
        TextColumn("{task.fields[said]}", markup=False),
    )
    return Progress(*columns, console=Console(file=stream), transient=True, redirect_stdout=False)
