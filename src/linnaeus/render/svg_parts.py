"""What drawings share: colors, lines of text, and the style of light and dark pages."""

from __future__ import annotations

from html import escape

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colors that people with color blindness can distinguish (Okabe and Ito, 2008)."""

LETTER = 6.4
"""About how wide a letter is."""

STYLE = (
    "<style>svg{background:#fff;color:#222}.paper{fill:#fff}"
    "@media(prefers-color-scheme:dark){svg{background:#15181c;color:#e8e8e8}.paper{fill:#15181c}}"
    "text{fill:currentColor}</style>"
)
"""Colors of light and dark pages; the class `paper` is the color of the page."""


def color(kind: int) -> str:
    """The color of a kind; 0 is that of the text."""
    return "currentColor" if kind == 0 else COLORS[(kind - 1) % len(COLORS)]


MIDDLE, END = 'text-anchor="middle"', 'text-anchor="end"'


def text(x: float, y: float, said: str, style: str = "") -> str:
    """A line of text, or nothing."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(said)}</text>' if said else ""
