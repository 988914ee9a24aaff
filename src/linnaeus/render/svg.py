"""A `Picture` as SVG text that loads nothing and follows the light or dark preference of whoever looks at it.

Panels in a row that have the same vertical axis share its labels. Where the legends of all panels agree there is one
for all of them; elsewhere each panel has its own below it.
"""

from __future__ import annotations

import math
import textwrap
from html import escape
from typing import TYPE_CHECKING

from linnaeus.render.chart import Axis
from linnaeus.render.layers import MIDDLE, Key, draw_layer, keys, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linnaeus.render.picture import Panel, Picture

LEFT, BETWEEN, RIGHT, TOP, UNTITLED, HEAD, BOTTOM, BARE, KEY, LINE = 56, 30, 16, 30, 6, 34, 44, 10, 19, 18
"""Pixels: left of a panel with an axis and of one without, right of the last, above a panel with a title and one
without, above all for the title of the picture, below a panel with an axis and one without; of a line of a legend, of a
line of the caption."""

LETTER = 6.4
"""About how wide a letter is."""

STYLE = (
    "<style>svg{background:#fff;color:#222}"
    "@media(prefers-color-scheme:dark){svg{background:#15181c;color:#e8e8e8}}"
    "text{fill:currentColor}</style>"
)


def svg(picture: Picture) -> str:
    """The whole picture: title, panels, legend, caption.

    >>> from linnaeus.render.picture import Lines, Panel, Picture
    >>> image = svg(Picture("A line", "It goes up.", [Panel([Lines([[(0, 0), (1, 1)]])])]))
    >>> image.startswith("<svg"), "It goes up." in image
    (True, True)
    """
    lefts, width = _columns(picture)
    legends = [_legend(panel) for panel in picture.panels]
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
    drawn = [text(left - 5, up.at(v) + 4, _number(v), 'text-anchor="end"') for v in ticks(up)]
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


def _legend(panel: Panel) -> list[Key]:
    return [key for layer in panel.layers for key in keys(layer)]


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
