"""Pictures as records: panels side by side, each with axes and layers of plain numbers; `svg` draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from linnaeus.frozen import dataclass

Pair: TypeAlias = tuple[float, float]
Path: TypeAlias = Sequence[Pair]

SIDES = {1: 380, 2: 300, 3: 226, 4: 172, 5: 132}
"""Pixels of the side of a panel by the number of panels in a row: no picture is much wider than a page."""


@dataclass(frozen=True)
class Regions:
    """The class of each cell of a grid over the whole panel: row 0 is at the bottom. -1 and -2 are light and dark gray.

    `sure` has a number from 0 (pale) to 1 (full color) for each cell, and `label` says what the shades mean; `names`
    says what the colors of classes mean.
    """

    classes: Sequence[Sequence[int]]
    label: str = ""
    sure: Sequence[Sequence[float]] | None = None
    names: Mapping[int, str] | None = None


@dataclass(frozen=True)
class Points:
    """Points of one class, told apart by color and by shape."""

    at: Path
    kind: int = 0
    label: str = ""


@dataclass(frozen=True)
class Lines:
    """One or more open lines of one color; `kind` 0 is the color of the text."""

    paths: Sequence[Path]
    kind: int = 0
    label: str = ""
    width: float = 2.0
    dashes: str = ""


@dataclass(frozen=True)
class Shades:
    """A small image: numbers between -1 (one color) and 1 (the other), row 0 at the top; `ink` draws in gray."""

    values: Sequence[Sequence[float]]
    label: str = ""
    ink: bool = False


@dataclass(frozen=True)
class Bars:
    """Horizontal bars from zero, the first at the top, each with its name on the other side of zero."""

    values: Sequence[float]
    names: Sequence[str]
    label: str = ""


Layer: TypeAlias = Regions | Points | Lines | Shades | Bars


@dataclass(frozen=True)
class Panel:
    """Layers over one pair of axes. An axis without a label has no ticks; `log` makes both axes logarithmic."""

    layers: Sequence[Layer]
    title: str = ""
    across: Pair = (0.0, 1.0)
    up: Pair = (0.0, 1.0)
    x: str = ""
    y: str = ""
    log: bool = False


@dataclass(frozen=True)
class Picture:
    """Panels under one title, above a sentence that says what to see; at most `columns` panels stand in a row.

    Rows are full: four panels in at most three columns are two rows of two.
    """

    title: str
    caption: str
    panels: Sequence[Panel]
    columns: int = 3

    @property
    def in_row(self) -> int:
        """How many panels stand in a row.

        >>> Picture("", "", [Panel([])] * 4).in_row, Picture("", "", [Panel([])] * 3).in_row
        (2, 3)
        """
        return max(c for c in range(1, self.columns + 1) if len(self.panels) % c == 0)

    @property
    def side(self) -> int:
        """Pixels of the side of a panel."""
        return SIDES[min(self.in_row, max(SIDES))]
