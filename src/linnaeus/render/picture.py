"""Pictures as records: panels side by side, each with an axis and layers of plain numbers; `svg` draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from linnaeus.frozen import dataclass

Pair: TypeAlias = tuple[float, float]
Path: TypeAlias = Sequence[Pair]


@dataclass(frozen=True)
class Regions:
    """The class of each cell of a grid over the whole panel: row 0 is at the bottom."""

    classes: Sequence[Sequence[int]]
    label: str = ""


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
    """A small image: numbers between -1 (one color) and 1 (the other), row 0 at the top."""

    values: Sequence[Sequence[float]]
    label: str = ""


Layer: TypeAlias = Regions | Points | Lines | Shades


@dataclass(frozen=True)
class Panel:
    """Layers over one pair of axes; a panel without labels of its axes has no ticks either."""

    layers: Sequence[Layer]
    title: str = ""
    across: Pair = (0.0, 1.0)
    up: Pair = (0.0, 1.0)
    x: str = ""
    y: str = ""


@dataclass(frozen=True)
class Picture:
    """Panels under one title, above a sentence that says what is to be seen; `columns` panels stand in a row."""

    title: str
    caption: str
    panels: Sequence[Panel]
    columns: int = 2
    side: int = 320
