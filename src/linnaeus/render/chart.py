"""Line charts as SVG text: a few lines over one axis, drawn from plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import TypeAlias

from linnaeus.frozen import dataclass

Points: TypeAlias = Sequence[tuple[float, float]]

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colors that people with color blindness can distinguish (Okabe and Ito, 2008)."""

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 64, 16, 32, 44


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


def line_chart(lines: Mapping[str, Points], title: str = "", x: str = "", y: str = "") -> str:
    """An SVG image of named lines. Values that are not finite are left out.

    >>> image = line_chart({"loss": [(1, 5.0), (2, 3.0), (3, 2.5)]}, title="Training", x="epoch")
    >>> image.startswith("<svg") and image.count("<polyline") == 1
    True
    """
    kept = {name: [p for p in points if math.isfinite(p[0]) and math.isfinite(p[1])] for name, points in lines.items()}
    every = [p for points in kept.values() for p in points]
    across = _axis([p[0] for p in every], LEFT, WIDTH - RIGHT, wide=False)
    up = _axis([p[1] for p in every], HEIGHT - BOTTOM, TOP, wide=True)
    drawn = [_frame(title, x, y), *_grid(across, up)]
    for i, (name, points) in enumerate(kept.items()):
        drawn.append(_line(points, (across, up), COLORS[i % len(COLORS)]))
        drawn.append(_text(WIDTH - RIGHT - 4, TOP + 16 + 16 * i, name, f'text-anchor="end" fill="{COLORS[i % 6]}"'))
    return "\n".join([*drawn, "</svg>"])


def _axis(values: Sequence[float], start: float, end: float, wide: bool) -> Axis:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    return Axis(low, high, start, end, log=wide and low > 0 and high > 100 * low)


def _frame(title: str, x: str, y: str) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title or y, quote=True)}" font-family="sans-serif" font-size="12">'
    )
    above = _text(LEFT, TOP - 12, title, 'font-weight="bold"')
    return head + above + _text((WIDTH + LEFT) / 2, HEIGHT - 8, x, 'text-anchor="middle"') + _text(4, TOP - 12, y, "")


def _grid(across: Axis, up: Axis) -> list[str]:
    drawn = []
    for value in up.ticks():
        drawn.append(f'<path d="M{LEFT} {up.at(value):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        drawn.append(_text(LEFT - 6, up.at(value) + 4, f"{value:.3g}", 'text-anchor="end"'))
    return drawn + [
        _text(across.at(value), HEIGHT - BOTTOM + 18, f"{value:.4g}", 'text-anchor="middle"')
        for value in across.ticks()
    ]


def _line(points: Points, axes: tuple[Axis, Axis], color: str) -> str:
    path = " ".join(f"{axes[0].at(a):.1f},{axes[1].at(b):.1f}" for a, b in points)
    return f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{path}"/>'


def _text(x: float, y: float, said: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(said)}</text>' if said else ""
