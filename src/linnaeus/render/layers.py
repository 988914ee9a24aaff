"""The layers of a panel as SVG, and what stands for each of them in the legend."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import NamedTuple

from linnaeus.render.chart import COLORS, Axis
from linnaeus.render.picture import Bars, Layer, Lines, Path, Points, Regions, Shades

SHAPES = (
    "M{x:.1f} {y:.1f}m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
    "M{x:.1f} {y:.1f}m0 -4.6l4.3 7.8h-8.6z",
    "M{x:.1f} {y:.1f}m-3.4 -3.4h6.8v6.8h-6.8z",
    "M{x:.1f} {y:.1f}m0 -5l4.6 5l-4.6 5l-4.6 -5z",
)

PLAIN, PALE, FULL, STEPS = 0.22, 0.03, 0.52, 10
"""Opacity of regions: without shades, the palest and the strongest shade, and how many shades there are between."""

FINE = 20
"""How many shades an image has."""

Axes = tuple[Axis, Axis]


class Key(NamedTuple):
    """A line of a legend: what is said, a small layer that shows what is meant, and how wide that is drawn."""

    label: str
    look: Layer
    wide: int = 24


def draw_layer(layer: Layer, axes: Axes) -> str:
    """The layer between these axes."""
    if isinstance(layer, Regions):
        return _regions(layer, axes)
    if isinstance(layer, Lines):
        return _lines(layer, axes)
    if isinstance(layer, Points):
        return "".join(_point(axes[0].at(x), axes[1].at(y), layer.kind) for x, y in layer.at)
    if isinstance(layer, Bars):
        return _bars(layer, axes)
    return _shades(layer, axes)


def keys(layer: Layer) -> list[Key]:
    """What the legend says about a layer."""
    if isinstance(layer, Regions):
        return _keys_of_regions(layer)
    if not layer.label:
        return []
    if isinstance(layer, Points):
        return [Key(layer.label, Points([(0.5, 0.5)], layer.kind))]
    if isinstance(layer, Lines):
        return [Key(layer.label, Lines([[(0, 0.5), (1, 0.5)]], layer.kind, "", layer.width, layer.dashes))]
    if isinstance(layer, Shades) and layer.ink:
        return [Key(layer.label, Shades([[i / 9 for i in range(10)]], "", ink=True), 60)]
    return [Key(layer.label, Shades([[i / 5 for i in range(-5, 6)]]), 66)]


def _keys_of_regions(layer: Regions) -> list[Key]:
    found = [Key(said, Regions([[kind]])) for kind, said in (layer.names or {}).items()]
    if not layer.label:
        return found
    kinds = sorted({kind for row in layer.classes for kind in row})
    if len(kinds) == 2:
        half = [i / 9 for i in range(10)]
        return [*found, Key(layer.label, Regions([[kinds[0]] * 10 + [kinds[1]] * 10], "", [half[::-1] + half]), 80)]
    each = [(kind, i / 5) for kind in kinds for i in range(6)]
    return [*found, Key(layer.label, Regions([[kind for kind, _ in each]], "", [[sure for _, sure in each]]), 100)]


def _regions(layer: Regions, axes: Axes) -> str:
    """Rectangles of cells of one class and shade that stand beside each other in a row."""
    across, up = axes
    high, wide = (up.start - up.end) / len(layer.classes), (across.end - across.start) / len(layer.classes[0])
    paths: dict[tuple[int, int], list[str]] = {}
    for j, row in enumerate(layer.classes):
        i = 0
        sure = [0] * len(row) if layer.sure is None else [round(value * STEPS) for value in layer.sure[j]]
        for look, run in groupby(zip(map(int, row), sure, strict=True)):
            n = len(list(run))
            # Cells that touch have the very same numbers: no gap shows between them at any size.
            left, right = (f"{across.start + edge * wide:.2f}" for edge in (i, i + n))
            below, above = (f"{up.start - edge * high:.2f}" for edge in (j, j + 1))
            paths.setdefault(look, []).append(f"M{left} {below}H{right}V{above}H{left}z")
            i += n
    return "".join(_fill("".join(d), kind, _opacity(kind, step, layer)) for (kind, step), d in paths.items())


def _opacity(kind: int, step: int, layer: Regions) -> float:
    if kind < 0:
        return 0.1 if kind == -1 else 0.4
    return PLAIN if layer.sure is None else PALE + (FULL - PALE) * step / STEPS


def _fill(d: str, kind: int, opacity: float) -> str:
    style = f'fill-opacity="{opacity:.2f}" shape-rendering="crispEdges"'
    return f'<path d="{d}" fill="{color(max(kind + 1, 0))}" {style}/>'


def _lines(layer: Lines, axes: Axes) -> str:
    d = "".join(_path(path, axes) for path in layer.paths)
    dashes = f' stroke-dasharray="{layer.dashes}"' if layer.dashes else ""
    style = f'stroke="{color(layer.kind)}" stroke-width="{layer.width:g}" stroke-linecap="round"'
    return f'<path d="{d}" fill="none" {style}{dashes}/>'


def _path(path: Path, axes: Axes) -> str:
    return "M" + "L".join(f"{axes[0].at(x):.2f} {axes[1].at(y):.2f}" for x, y in path)


def _point(x: float, y: float, kind: int) -> str:
    d = SHAPES[kind % len(SHAPES)].format(x=x, y=y)
    return f'<path d="{d}" fill="{color(kind + 1)}" stroke="#fff" stroke-width="0.8"/>'


def _shades(layer: Shades, axes: Axes) -> str:
    """Cells whose opacity is the size of their number, and whose color is its sign; equal ones in a row are one."""
    across, up = axes
    high, wide = (up.start - up.end) / len(layer.values), (across.end - across.start) / len(layer.values[0])
    paths: dict[tuple[bool, int], list[str]] = {}
    for j, row in enumerate(layer.values):
        above, below = (f"{up.end + edge * high:.2f}" for edge in (j, j + 1))
        i = 0
        for look, run in groupby((value > 0, round(min(abs(value), 1.0) * FINE)) for value in row):
            n = len(list(run))
            left, right = (f"{across.start + edge * wide:.2f}" for edge in (i, i + n))
            paths.setdefault(look, []).append(f"M{left} {above}H{right}V{below}H{left}z")
            i += n
    kinds = {sign: -1 if layer.ink else int(sign) for sign in (False, True)}
    return "".join(_fill("".join(d), kinds[sign], step / FINE) for (sign, step), d in paths.items() if step)


def _bars(layer: Bars, axes: Axes) -> str:
    across, up = axes
    high, zero = (up.start - up.end) / len(layer.values), across.at(0.0)
    drawn = [f'<path d="M{zero:.1f} {up.end:.1f}V{up.start:.1f}" stroke="currentColor" stroke-opacity="0.5"/>']
    for i, (value, name) in enumerate(zip(layer.values, layer.names, strict=True)):
        top, left, right = up.end + i * high, *sorted((zero, across.at(value)))
        place = f'x="{left:.1f}" y="{top + high * 0.14:.1f}" width="{right - left:.1f}" height="{high * 0.72:.1f}"'
        drawn.append(f'<rect {place} fill="{color(2 if value > 0 else 1)}"/>')
        side = (zero - 5, 'text-anchor="end"') if value > 0 else (zero + 5, "")
        drawn.append(text(side[0], top + high / 2 + 4, name, side[1]))
    return "".join(drawn)


def color(kind: int) -> str:
    """The color of a kind; 0 is that of the text."""
    return "currentColor" if kind == 0 else COLORS[(kind - 1) % len(COLORS)]


MIDDLE = 'text-anchor="middle"'


def text(x: float, y: float, said: str, style: str = "") -> str:
    """A line of text, or nothing."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(said)}</text>' if said else ""
