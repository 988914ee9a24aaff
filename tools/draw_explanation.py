"""Draws the picture of an explanation that the README shows, from a model of the embedded data.

    python tools/draw_explanation.py > docs/images/explanation.svg

The words are set in a monospaced font with a stated length, so that the colors lie under them whatever font there is.
"""

from __future__ import annotations

import sys
from html import escape
from typing import Any

import linnaeus
from linnaeus.pipeline.cookbook import recipe

TEXT = "Could you wake me up at half past six tomorrow?"
CELL, LEFT, WIDTH, BAR = 9.6, 24.0, 720, 220.0
BLUE, ORANGE = "#0072b2", "#d55e00"
STYLE = """
  .card { fill: #ffffff; stroke: #d0d7de }
  text { fill: #1f2328; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 16px }
  .small { font-size: 13px; fill: #59636e }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d }
    text { fill: #f0f6fc }
    .small { fill: #9198a1 }
  }
"""


def main() -> None:
    """Train, explain, draw."""
    model = recipe("default").fit(linnaeus.datasets.intents("train"))
    why = model.explain(TEXT)
    lines = [*_sentence(why), *_table(why)]
    height = 292
    sys.stdout.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="Why this request is an alarm: wake counts most">\n<style>{STYLE}</style>\n'
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>\n'
        + "\n".join(lines)
        + "\n</svg>\n"
    )


def _sentence(why: Any) -> list[str]:
    """The answer, and the text with a color under each word: blue for the class, orange against it."""
    reason = why.reason()
    most = max(abs(spot.contribution) for spot in reason.segments())
    lines = [_words(LEFT, 38, f"{why.predicted[0]}: score {reason.score:+.2f}", "small")]
    for spot in reason.segments():
        share = spot.contribution / most
        x, words = LEFT + CELL * spot.start, why.text[spot.start : spot.end]
        if abs(share) >= 0.05:
            color, width = BLUE if share > 0 else ORANGE, CELL * len(words)
            lines.append(
                f'<rect x="{x:.1f}" y="56" width="{width:.1f}" height="26" rx="3" fill="{color}" '
                f'fill-opacity="{0.15 + 0.45 * abs(share):.2f}"/>'
            )
        if words.strip():
            lines.append(_words(x, 75, words))
    return lines


def _table(why: Any) -> list[str]:
    """The words that count most, the rest, the bias, and the score that they add up to; then what would flip it."""
    reason = why.reason()
    spots = sorted(reason.segments(), key=lambda spot: -abs(spot.contribution))[:4]
    rest = reason.score - reason.bias - sum(spot.contribution for spot in spots)
    rows = [(why.text[spot.start : spot.end], spot.contribution) for spot in spots]
    rows += [("other words", rest), ("bias", reason.bias)]
    most, lines = max(abs(amount) for _, amount in rows), []
    for i, (name, amount) in enumerate(rows):
        y = 116 + 24 * i
        lines += [_words(LEFT, y, name, "small"), _words(LEFT + 110, y, f"{amount:+.3f}", "small")]
        color = BLUE if amount > 0 else ORANGE
        lines.append(
            f'<rect x="{LEFT + 190}" y="{y - 11}" width="{BAR * abs(amount) / most:.1f}" height="12" fill="{color}"/>'
        )
    flip = ", ".join(repr(why.text[a:b]) for a, b in why.flip.words)
    said = f"Without {flip} the answer would be {why.flip.predicted[0]}; no smaller set of words does that."
    return [*lines, _words(LEFT, 270, said, "small")]


def _words(x: float, y: float, words: str, kind: str = "") -> str:
    size = f' textLength="{CELL * len(words):.1f}"' if not kind else f' class="{kind}"'
    return f'<text x="{x:.1f}" y="{y}"{size}>{escape(words)}</text>'


if __name__ == "__main__":
    main()
