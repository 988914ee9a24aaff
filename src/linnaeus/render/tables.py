"""Tables: columns as wide as their widest cell, a head and no lines."""

from __future__ import annotations

from collections.abc import Sequence

from linnaeus.render.page import Page, Table, Word


def table(head: Sequence[str], rows: Sequence[Sequence[str | Word]], align: str) -> Page:
    """A table; `align` has < or > for each column, or = for bars. An empty head is left out.

    Where it is wider than the screen, bars become shorter, text at the left edge of its column (<) goes on in the next
    line, and columns that have no room left follow below, with the first one repeated. A column without a name stays
    beside the one before it.

    >>> print(table(["label", "rows"], [["spam", "12"], ["ham", "1,200"]], "<>").plain(), end="")
    label   rows
    spam      12
    ham    1,200
    >>> print(table(["", ""], [["accuracy", "the share of rows that are right"]], "<<").plain(28), end="")
    accuracy  the share of rows
              that are right
    """
    cells = [tuple(cell if isinstance(cell, Word) else Word(cell) for cell in row) for row in rows]
    if any(head):
        cells.insert(0, tuple(Word(name, "faint") for name in head))
    return Page((Table(tuple(cells), align),))
