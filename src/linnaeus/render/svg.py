"""Pictures as SVG: panels, axes, layers and legends, in colors for light and dark pages; and charts of a few lines."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple, TypeAlias

from linnaeus.frozen import dataclass
from linnaeus.render.picture import Bars, Layer, Lines, Panel, Path, Picture, Points, Regions, Shades, Tree
from linnaeus.render.svg_parts import END, LETTER, MIDDLE, STYLE, color, text
from linnaeus.render.trees import MARKED, Box, draw_tree

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


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps a range of values to pixels; logarithmic if all values are positive and far apart."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The pixel of a value."""
        low, high, value = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        share = 0.5 if high == low else (value - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Values to write beside the axis."""
        if self.low == self.high:
            return [self.low]
        shares = [i / (count - 1) for i in range(count)]
        if self.log:
            return [self.low * (self.high / self.low) ** share for share in shares]
        return [self.low + (self.high - self.low) * share for share in shares]


Axes = tuple[Axis, Axis]
Look: TypeAlias = tuple[int, int]
"""What a cell looks like: its kind, and its shade."""


class Key(NamedTuple):
    """A line of a legend: what is said, a small layer that shows what is meant, and how wide that is drawn."""

    label: str
    look: Layer
    wide: int = 24


def draw_layer(layer: Layer, axes: Axes) -> str:
    """The layer between these axes."""
    match layer:
        case Regions():
            return _regions(layer, axes)
        case Lines():
            return _lines(layer, axes)
        case Points():
            return _points(layer, axes)
        case Bars():
            return _bars(layer, axes)
        case Shades():
            return _shades(layer, axes)
        case Tree():
            return draw_tree(layer, Box(axes[0].start, axes[1].end, axes[0].end, axes[1].start))


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
    if isinstance(layer, Tree):
        return [Key(layer.label, Lines([[(0, 0.5), (1, 0.5)]], MARKED, "", 2.4))]
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


def _cells(looks: Iterable[Iterable[Look]], size: tuple[int, int], axes: Axes) -> Iterator[tuple[Look, str]]:
    """The rectangles of each look in a grid of looks, the bottom row first; equal ones in a row are one rectangle."""
    across, up = axes
    high, wide = (up.start - up.end) / size[0], (across.end - across.start) / size[1]
    paths: dict[Look, list[str]] = {}
    for j, row in enumerate(looks):
        i = 0
        for look, run in groupby(row):
            n = len(list(run))
            # Cells that touch have the very same numbers: no gap shows between them at any size.
            left, right = (f"{across.start + edge * wide:.2f}" for edge in (i, i + n))
            below, above = (f"{up.start - edge * high:.2f}" for edge in (j, j + 1))
            paths.setdefault(look, []).append(f"M{left} {below}H{right}V{above}H{left}z")
            i += n
    return ((look, "".join(d)) for look, d in paths.items())


def _regions(layer: Regions, axes: Axes) -> str:
    sure = layer.sure or [[0.0] * len(row) for row in layer.classes]
    looks = (
        [(int(kind), round(value * STEPS)) for kind, value in zip(*row, strict=True)]
        for row in zip(layer.classes, sure, strict=True)
    )
    cells = _cells(looks, (len(layer.classes), len(layer.classes[0])), axes)
    return "".join(_fill(d, kind, _opacity(kind, step, layer)) for (kind, step), d in cells)


def _opacity(kind: int, step: int, layer: Regions) -> float:
    if kind < 0:
        return 0.1 if kind == -1 else 0.4
    return PLAIN if layer.sure is None else PALE + (FULL - PALE) * step / STEPS


def _fill(d: str, kind: int, opacity: float) -> str:
    style = f'fill-opacity="{opacity:.2f}" shape-rendering="crispEdges"'
    return f'<path d="{d}" fill="{color(max(kind + 1, 0))}" {style}/>'


def _lines(layer: Lines, axes: Axes) -> str:
    paths = ("L".join(f"{axes[0].at(x):.2f} {axes[1].at(y):.2f}" for x, y in path) for path in layer.paths)
    d = "".join(f"M{path}" for path in paths)
    dashes = f' stroke-dasharray="{layer.dashes}"' if layer.dashes else ""
    style = f'stroke="{color(layer.kind)}" stroke-width="{layer.width:g}" stroke-linecap="round"'
    return f'<path d="{d}" fill="none" {style}{dashes}/>'


def _points(layer: Points, axes: Axes) -> str:
    at = [(axes[0].at(x), axes[1].at(y)) for x, y in layer.at]
    names = [text(x + 6, y + 4, name) for (x, y), name in zip(at, layer.names, strict=False)]
    return "".join([*(_point(x, y, layer.kind) for x, y in at), *names])


def _point(x: float, y: float, kind: int) -> str:
    d = SHAPES[kind % len(SHAPES)].format(x=x, y=y)
    return f'<path d="{d}" fill="{color(kind + 1)}" stroke="#fff" stroke-width="0.8"/>'


def _shades(layer: Shades, axes: Axes) -> str:
    """Cells whose opacity is the size of their number, and whose color is its sign."""
    looks = ([(value > 0, round(min(abs(value), 1.0) * FINE)) for value in row] for row in layer.values)
    upright = axes[0], Axis(0, 1, axes[1].end, axes[1].start)  # row 0 is at the top
    cells = _cells(looks, (len(layer.values), len(layer.values[0])), upright)
    return "".join(_fill(d, -1 if layer.ink else int(sign), step / FINE) for (sign, step), d in cells if step)


def _bars(layer: Bars, axes: Axes) -> str:
    across, up = axes
    high, zero = (up.start - up.end) / len(layer.values), across.at(0.0)
    drawn = [f'<path d="M{zero:.1f} {up.end:.1f}V{up.start:.1f}" stroke="currentColor" stroke-opacity="0.5"/>']
    for i, (value, name) in enumerate(zip(layer.values, layer.names, strict=True)):
        top, left, right = up.end + i * high, *sorted((zero, across.at(value)))
        place = f'x="{left:.1f}" y="{top + high * 0.14:.1f}" width="{right - left:.1f}" height="{high * 0.72:.1f}"'
        drawn.append(f'<rect {place} fill="{color(2 if value > 0 else 1)}"/>')
        side = (zero - 5, END) if value > 0 else (zero + 5, "")
        drawn.append(text(side[0], top + high / 2 + 4, name, side[1]))
    return "".join(drawn)


LEFT, BETWEEN, RIGHT, TOP, UNTITLED, HEAD, BOTTOM, BARE, KEY, LINE = 56, 30, 16, 30, 6, 34, 44, 10, 19, 18
"""Pixels: left of a panel with an axis and of one without, right of the last, above a panel with a title and one
without, above all for the title of the picture, below a panel with an axis and one without; of a line of a legend, of a
line of the caption."""


def svg(picture: Picture) -> str:
    """The whole picture: title, panels, legend, caption.

    >>> from linnaeus.render.picture import Lines, Panel, Picture
    >>> image = svg(Picture("A line", "It goes up.", [Panel([Lines([[(0, 0), (1, 1)]])])]))
    >>> image.startswith("<svg"), "It goes up." in image
    (True, True)
    """
    lefts, width = _columns(picture)
    legends = [[key for layer in panel.layers for key in keys(layer)] for panel in picture.panels]
    shared = _shared(legends)
    own = 0 if shared is not None else max(map(len, legends))
    top = TOP if any(panel.title for panel in picture.panels) else UNTITLED
    tall = top + picture.side + max(_bottom(panel) for panel in picture.panels) + KEY * own
    drawn = []
    for i, panel in enumerate(picture.panels):
        corner = (lefts[i % picture.in_row], HEAD + i // picture.in_row * tall + top)
        drawn += _panel(panel, corner, picture.side, has_y=_shows_y(picture, i))
        drawn += [] if shared is not None else _below(legends[i], corner, picture.side + _bottom(panel))
    below = HEAD + tall * (len(picture.panels) // picture.in_row) + 4.0
    rows = _flow(shared or [], width)
    drawn += [_key(key, x, below + KEY * i + 6) for i, row in enumerate(rows) for x, key in row]
    below += KEY * len(rows)
    said = textwrap.wrap(picture.caption, int((width - 24) / LETTER), break_on_hyphens=False)
    drawn += [text(12, below + LINE * (i + 1), row) for i, row in enumerate(said)]
    return "\n".join([_head(picture, width, below + LINE * len(said) + 14), *drawn, "</svg>\n"])


def _columns(picture: Picture) -> tuple[list[float], float]:
    """Where the panels of a row begin, and the width of all."""
    lefts: list[float] = []
    x = 0.0
    for column in range(picture.in_row):
        rows = range(column, len(picture.panels), picture.in_row)
        x += LEFT if any(_shows_y(picture, i) for i in rows) else (BETWEEN if column else RIGHT)
        lefts.append(x)
        x += picture.side
    return lefts, max(x + RIGHT, 430)


def _shows_y(picture: Picture, i: int) -> bool:
    """Whether the vertical axis has labels: not where the panel to the left has the same."""
    panel = picture.panels[i]
    before = picture.panels[i - 1] if i % picture.in_row else None
    same = before is not None and (before.y, before.up, before.log) == (panel.y, panel.up, panel.log)
    return bool(panel.y) and not same


def _bottom(panel: Panel) -> int:
    return BOTTOM if panel.x else BARE


def _head(picture: Picture, width: float, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'role="img" font-family="sans-serif" font-size="12">{STYLE}<title>{escape(picture.title)}</title>'
        f"<desc>{escape(picture.caption)}</desc>" + text(12, 22, picture.title, 'font-size="15" font-weight="bold"')
    )


def _panel(panel: Panel, corner: tuple[float, float], side: float, has_y: bool) -> list[str]:
    left, top = corner
    across = Axis(*panel.across, left, left + side, panel.log)
    up = Axis(*panel.up, top + side, top, panel.log)
    frame = f'x="{left:.1f}" y="{top:.1f}" width="{side}" height="{side}"'
    drawn = [text(left, top - 8, panel.title), f'<svg {frame} viewBox="{left:.1f} {top:.1f} {side} {side}">']
    drawn += [draw_layer(layer, (across, up)) for layer in panel.layers]
    drawn += ["</svg>", f'<rect {frame} fill="none" stroke="currentColor" stroke-opacity="0.5"/>']
    if panel.x:
        drawn += [text(across.at(v), up.start + 16, _number(v), MIDDLE) for v in ticks(across)]
        drawn.append(text((across.start + across.end) / 2, up.start + 33, panel.x, MIDDLE))
    return drawn + (_upright(panel.y, across.start, up) if has_y else [])


def _upright(said: str, left: float, up: Axis) -> list[str]:
    middle = (up.start + up.end) / 2
    drawn = [text(left - 5, up.at(v) + 4, _number(v), END) for v in ticks(up)]
    return [*drawn, text(left - 40, middle, said, f'{MIDDLE} transform="rotate(-90 {left - 40:.1f} {middle:.1f})"')]


def ticks(axis: Axis) -> list[float]:
    """Round numbers along an axis, about one every 64 pixels; powers of ten where it is logarithmic.

    >>> ticks(Axis(-0.6, 3.4, 0, 300)), ticks(Axis(0.5, 200, 0, 300, log=True))
    ([0.0, 1.0, 2.0, 3.0], [1.0, 10.0, 100.0])
    """
    if axis.log:
        return [10.0**e for e in range(math.ceil(math.log10(axis.low)), math.floor(math.log10(axis.high)) + 1)]
    rough = (axis.high - axis.low) * 64 / abs(axis.end - axis.start)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * nice for nice in (1, 2, 5, 10) if power * nice >= rough * 0.8)
    first, last = math.ceil(axis.low / step - 1e-9), math.floor(axis.high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _shared(legends: Sequence[list[Key]]) -> list[Key] | None:
    """One legend for all panels; None where a look means one thing here and another there."""
    every = {key.label: key for legend in legends for key in legend}
    looks = {repr(key.look) for legend in legends for key in legend}
    agree = len(every) == len(looks) == len({(key.label, repr(key.look)) for legend in legends for key in legend})
    return list(every.values()) if agree else None


def _flow(legend: Sequence[Key], width: float) -> list[list[tuple[float, Key]]]:
    """The legend in rows: each key with where it begins."""
    rows: list[list[tuple[float, Key]]] = []
    x = width
    for key in legend:
        takes = key.wide + 8 + LETTER * len(key.label) + 14
        if x + takes > width:
            rows.append([])
            x = 16.0
        rows[-1].append((x, key))
        x += takes
    return rows


def _below(legend: Sequence[Key], corner: tuple[float, float], down: float) -> list[str]:
    return [_key(key, corner[0], corner[1] + down + KEY * i + 6) for i, key in enumerate(legend)]


def _key(key: Key, x: float, y: float) -> str:
    axes = (Axis(0, 1, x, x + key.wide), Axis(0, 1, y + 5, y - 5))
    return draw_layer(key.look, axes) + text(x + key.wide + 6, y + 4, key.label)


WIDTH, HEIGHT, WEST, EAST, NORTH, SOUTH = 640, 360, 64, 624, 32, 316
"""Pixels of a chart, and of the edges of its axes."""


def line_chart(lines: Mapping[str, Path], title: str = "", x: str = "") -> str:
    """An SVG image of named lines. Values that are not finite are left out.

    >>> image = line_chart({"loss": [(1, 5.0), (2, 3.0), (3, 2.5)]}, title="Training", x="epoch")
    >>> image.startswith("<svg") and image.count("<polyline") == 1
    True
    """
    kept = {name: [p for p in points if math.isfinite(p[0]) and math.isfinite(p[1])] for name, points in lines.items()}
    every = [p for points in kept.values() for p in points] or [(0.0, 0.0), (1.0, 1.0)]
    (left, right), (low, high) = ((min(values), max(values)) for values in zip(*every, strict=True))
    across, up = Axis(left, right, WEST, EAST), Axis(low, high, SOUTH, NORTH, log=low > 0 and high > 100 * low)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title, quote=True)}" font-family="sans-serif" font-size="12">'
    )
    said = text(WEST, NORTH - 12, title, 'font-weight="bold"') + text((WIDTH + WEST) / 2, HEIGHT - 8, x, MIDDLE)
    drawn = [head + said]
    for value in up.ticks():
        drawn.append(f'<path d="M{WEST} {up.at(value):.1f}H{EAST}" stroke="#ddd"/>')
        drawn.append(text(WEST - 6, up.at(value) + 4, f"{value:.3g}", END))
    drawn += [text(across.at(value), SOUTH + 18, f"{value:.4g}", MIDDLE) for value in across.ticks()]
    for i, (name, points) in enumerate(kept.items()):
        path = " ".join(f"{across.at(a):.1f},{up.at(b):.1f}" for a, b in points)
        drawn.append(f'<polyline fill="none" stroke="{color(i + 1)}" stroke-width="2" points="{path}"/>')
        drawn.append(text(EAST - 4, NORTH + 16 + 16 * i, name, f'{END} fill="{color(i + 1)}"'))
    return "\n".join([*drawn, "</svg>"])
