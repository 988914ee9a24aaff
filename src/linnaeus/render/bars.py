"""Bars and histograms of characters: blocks of eighths in Unicode, number signs in ASCII."""

from __future__ import annotations

from collections.abc import Sequence

from linnaeus.render.glyphs import Glyphs
from linnaeus.render.page import Page, Word
from linnaeus.render.tables import table


def bar(part: float, columns: int, glyphs: Glyphs) -> str:
    """A bar for a share from 0 to 1 of this many columns; a share above zero is always visible.

    >>> from linnaeus.render.glyphs import ASCII, UNICODE
    >>> bar(0.5, 6, ASCII), bar(0.3, 4, UNICODE)
    ('###', '█▎')
    """
    steps = len(glyphs.blocks)
    eighths = round(max(0.0, min(1.0, part)) * columns * steps)
    if part > 0:
        eighths = max(1, eighths)
    full, rest = divmod(eighths, steps)
    return glyphs.blocks[-1] * full + (glyphs.blocks[rest - 1] if rest else "")


def histogram(names: Sequence[str], counts: Sequence[int], columns: int, glyphs: Glyphs) -> Page:
    """A bar for each bin, as long as its count; empty bins at both ends are left out."""
    used = [i for i, count in enumerate(counts) if count]
    if not used:
        return Page()
    top = max(counts)
    rows = [
        (names[i], f"{counts[i]:,}", Word(bar(counts[i] / top, columns, glyphs), "accent"))
        for i in range(used[0], used[-1] + 1)
    ]
    return table(["", "", ""], rows, ">>=")
