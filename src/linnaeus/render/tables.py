"""Tables: columns as wide as their widest cell, a head and no lines."""

from __future__ import annotations

from collections.abc import Sequence

from linnaeus.render.cells import pad, width
from linnaeus.render.page import Line, Page, Word, line

GAP = "  "


def table(head: Sequence[str], rows: Sequence[Sequence[str | Word]], align: str) -> Page:
    """A table; `align` has < or > for each column. Cells are never cut. An empty head is left out.

    >>> print(table(["label", "rows"], [["spam", "12"], ["ham", "1,200"]], "<>").plain(), end="")
    label   rows
    spam      12
    ham    1,200
    """
    cells = [[cell if isinstance(cell, Word) else Word(cell) for cell in row] for row in rows]
    if any(head):
        cells.insert(0, [Word(name, "faint") for name in head])
    widths = [max((width(row[i].text) for row in cells), default=0) for i in range(len(align))]
    return Page(tuple(_line(row, widths, align) for row in cells))


def _line(row: Sequence[Word], widths: Sequence[int], align: str) -> Line:
    parts: list[Word] = []
    for cell, columns, side in zip(row, widths, align, strict=True):
        parts += [Word(pad(cell.text, columns, side), cell.style), Word(GAP)]
    return line(*parts[:-1])
