"""A `Picture` as SVG text that loads nothing and follows the light or dark preference of whoever looks at it."""

from __future__ import annotations

import textwrap
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from linnaeus.render.chart import COLORS, Axis
from linnaeus.render.picture import Lines, Points, Regions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linnaeus.render.picture import Layer, Panel, Path, Picture, Shades

LEFT, RIGHT, TOP, BOTTOM, KEY, CAPTION = 58, 14, 26, 44, 18, 17
"""Pixels around a panel, of a line of its legend and of a line of the caption."""

STYLE = (
    "<style>svg{background:#fff;color:#222}"
    "@media(prefers-color-scheme:dark){svg{background:#15181c;color:#e8e8e8}}"
    "text{fill:currentColor}</style>"
)

SHAPES = (
    "M{x:.1f} {y:.1f}m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
    "M{x:.1f} {y:.1f}m0 -4.6l4.3 7.8h-8.6z",
    "M{x:.1f} {y:.1f}m-3.4 -3.4h6.8v6.8h-6.8z",
)


def svg(picture: Picture) -> str:
    """The whole picture: title, panels with legends below them, caption.

    >>> from linnaeus.render.picture import Lines, Panel, Picture
    >>> image = svg(Picture("A line", "It goes up.", [Panel([Lines([[(0, 0), (1, 1)]])])]))
    >>> image.startswith("<svg"), "It goes up." in image
    (True, True)
    """
    columns = min(picture.columns, len(picture.panels))
    keys = max(sum(bool(layer.label) for layer in panel.layers) for panel in picture.panels)
    bare = not any(panel.x or panel.y for panel in picture.panels)
    wide = picture.side + (RIGHT if bare else LEFT + RIGHT)
    tall = TOP + picture.side + (8 if bare else BOTTOM) + KEY * keys
    width = max(columns * wide, 420)
    said = textwrap.wrap(picture.caption, int(width / 6.9))
    below = 34 + tall * -(-len(picture.panels) // columns)
    drawn = [_head(picture, width, below + CAPTION * len(said) + 12)]
    for i, panel in enumerate(picture.panels):
        corner = (i % columns * wide + (RIGHT / 2 if bare else LEFT), 34 + i // columns * tall + TOP)
        drawn += _panel(panel, corner, picture.side)
    drawn += [_text(12, below + CAPTION * (i + 1), row) for i, row in enumerate(said)]
    return "\n".join([*drawn, "</svg>\n"])


def _head(picture: Picture, width: float, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'role="img" font-family="sans-serif" font-size="12">{STYLE}<title>{escape(picture.title)}</title>'
        f"<desc>{escape(picture.caption)}</desc>" + _text(12, 22, picture.title, 'font-size="15" font-weight="bold"')
    )


def _panel(panel: Panel, corner: tuple[float, float], side: float) -> list[str]:
    left, top = corner
    across = Axis(*panel.across, left, left + side)
    up = Axis(*panel.up, top + side, top)
    frame = f'x="{left:.1f}" y="{top:.1f}" width="{side}" height="{side}"'
    drawn = [_text(left, top - 8, panel.title), f'<svg {frame} viewBox="{left:.1f} {top:.1f} {side} {side}">']
    drawn += [_layer(layer, (across, up)) for layer in panel.layers]
    drawn += ["</svg>", f'<rect {frame} fill="none" stroke="currentColor" stroke-opacity="0.5"/>']
    if panel.x or panel.y:
        drawn += _axes(panel, across, up)
    named = [layer for layer in panel.layers if layer.label]
    first = top + side + (BOTTOM if panel.x or panel.y else 8) + 8
    return drawn + [_key(layer, left + 4, first + KEY * i) for i, layer in enumerate(named)]


def _axes(panel: Panel, across: Axis, up: Axis) -> list[str]:
    bottom, middle = up.start, (up.start + up.end) / 2
    drawn = [_text(across.at(v), bottom + 16, f"{v:.3g}", 'text-anchor="middle"') for v in across.ticks()]
    drawn += [_text(across.start - 5, up.at(v) + 4, f"{v:.3g}", 'text-anchor="end"') for v in up.ticks()]
    drawn.append(_text((across.start + across.end) / 2, bottom + 33, panel.x, 'text-anchor="middle"'))
    turned = f'text-anchor="middle" transform="rotate(-90 {across.start - 42:.1f} {middle:.1f})"'
    return [*drawn, _text(across.start - 42, middle, panel.y, turned)]


def _layer(layer: Layer, axes: tuple[Axis, Axis]) -> str:
    across, up = axes
    if isinstance(layer, Regions):
        return _regions(layer.classes, axes)
    if isinstance(layer, Lines):
        return _lines(layer, axes)
    if isinstance(layer, Points):
        return "".join(_point(across.at(x), up.at(y), layer.kind) for x, y in layer.at)
    return _shades(layer, axes)


def _regions(classes: Sequence[Sequence[int]], axes: tuple[Axis, Axis]) -> str:
    """Rectangles of cells of one class that stand beside each other in a row."""
    across, up = axes
    high, wide = (up.start - up.end) / len(classes), (across.end - across.start) / len(classes[0])
    paths: dict[int, list[str]] = {}
    for j, row in enumerate(classes):
        i = 0
        for kind, run in groupby(row):
            n = len(list(run))
            corner = f"M{across.start + i * wide:.2f} {up.start - (j + 1) * high:.2f}"
            paths.setdefault(int(kind), []).append(f"{corner}h{n * wide:.2f}v{high:.2f}h{-n * wide:.2f}z")
            i += n
    style = 'fill-opacity="0.22" shape-rendering="crispEdges"'
    return "".join(f'<path d="{"".join(d)}" fill="{_color(kind + 1)}" {style}/>' for kind, d in paths.items())


def _lines(layer: Lines, axes: tuple[Axis, Axis]) -> str:
    d = "".join(_path(path, axes) for path in layer.paths)
    dashes = f' stroke-dasharray="{layer.dashes}"' if layer.dashes else ""
    style = f'stroke="{_color(layer.kind)}" stroke-width="{layer.width:g}" stroke-linecap="round"'
    return f'<path d="{d}" fill="none" {style}{dashes}/>'


def _path(path: Path, axes: tuple[Axis, Axis]) -> str:
    return "M" + "L".join(f"{axes[0].at(x):.2f} {axes[1].at(y):.2f}" for x, y in path)


def _point(x: float, y: float, kind: int) -> str:
    d = SHAPES[kind % len(SHAPES)].format(x=x, y=y)
    return f'<path d="{d}" fill="{_color(kind + 1)}" stroke="#fff" stroke-width="0.8"/>'


def _shades(layer: Shades, axes: tuple[Axis, Axis]) -> str:
    """Cells whose opacity is the size of their number, and whose color is its sign."""
    across, up = axes
    high, wide = (up.start - up.end) / len(layer.values), (across.end - across.start) / len(layer.values[0])
    drawn = []
    for j, row in enumerate(layer.values):
        for i, value in enumerate(row):
            place = (
                f'x="{across.start + i * wide:.2f}" y="{up.end + j * high:.2f}" width="{wide:.2f}" height="{high:.2f}"'
            )
            drawn.append(f'<rect {place} fill="{_color(1 + (value > 0))}" fill-opacity="{min(abs(value), 1.0):.3f}"/>')
    return "".join(drawn)


def _key(layer: Layer, x: float, y: float) -> str:
    said = _text(x + 30, y + 4, layer.label)
    if isinstance(layer, Points):
        return _point(x + 12, y, layer.kind) + said
    if isinstance(layer, Lines):
        axes = (Axis(0, 1, x, x + 24), Axis(0, 1, y, y + 1))
        return _lines(Lines([[(0, 0), (1, 0)]], layer.kind, "", layer.width, layer.dashes), axes) + said
    return said


def _color(kind: int) -> str:
    return "currentColor" if kind == 0 else COLORS[(kind - 1) % len(COLORS)]


def _text(x: float, y: float, said: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(said)}</text>' if said else ""
