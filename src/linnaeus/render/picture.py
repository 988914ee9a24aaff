"""Pictures as records: panels side by side, each with axes and layers of plain numbers; `svg` draws them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from linnaeus.frozen import dataclass
from linnaeus.types import Doubles

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
    """Points of one class, told apart by color and by shape; `names` stand beside them."""

    at: Path
    kind: int = 0
    label: str = ""
    names: Sequence[str] = ()


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


@dataclass(frozen=True)
class Tree:
    """A dependency tree: the head of each token, 0 for the root and j + 1 for token j, with what its arc is called.

    The arcs to `marked` tokens stand out, and `label` says what that means.
    """

    tokens: Sequence[str]
    heads: Sequence[int]
    relations: Sequence[str] = ()
    marked: Collection[int] = ()
    label: str = ""


Layer: TypeAlias = Regions | Points | Lines | Shades | Bars | Tree


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


def path(x: Doubles, y: Doubles) -> list[Pair]:
    """The points of a line from their coordinates."""
    return list(zip(x.tolist(), y.tolist(), strict=True))


Corner = tuple[float, float, float]
"""x, y and the value there."""


def contour(xs: Sequence[float], ys: Sequence[float], values: Sequence[Sequence[float]]) -> list[tuple[Pair, Pair]]:
    """Short lines along which the linear interpolation of values[row][column], at (xs[column], ys[row]), is zero.

    >>> contour([0.0, 1.0], [0.0, 1.0], [[-1.0, 1.0], [-1.0, 1.0]])
    [((0.5, 0.0), (0.5, 1.0))]
    """
    found: list[tuple[Pair, Pair]] = []
    for j in range(len(ys) - 1):
        for i in range(len(xs) - 1):
            around = ((j, i), (j, i + 1), (j + 1, i + 1), (j + 1, i))
            corners = [(float(xs[c]), float(ys[r]), float(values[r][c])) for r, c in around]
            found += _inside(corners)
    return found


def _inside(corners: list[Corner]) -> list[tuple[Pair, Pair]]:
    signs = [corner[2] > 0 for corner in corners]
    if all(signs) or not any(signs):
        return []
    sides = [(corners[i], corners[(i + 1) % 4]) for i in range(4)]
    crossed = [_zero(a, b) for a, b in sides if (a[2] > 0) != (b[2] > 0)]
    if len(crossed) == 2:
        return [(crossed[0], crossed[1])]
    # A saddle: the middle belongs to the diagonal that has its sign, and the lines cut off the other two corners.
    middle = sum(corner[2] for corner in corners) > 0
    if middle == signs[0]:
        return [(crossed[0], crossed[1]), (crossed[2], crossed[3])]
    return [(crossed[3], crossed[0]), (crossed[1], crossed[2])]


def _zero(a: Corner, b: Corner) -> Pair:
    share = a[2] / (a[2] - b[2])
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])
