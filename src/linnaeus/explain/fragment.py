"""An explanation as a fragment of HTML: no scripts, no style sheets, nothing loaded, for light and dark pages."""

from __future__ import annotations

from linnaeus.explain.records import Explanation, Part, Reason
from linnaeus.explain.sentences import headline, part_name, sentences, signed, tints
from linnaeus.render import highlight_html, html_text, tint_style

CELL = "padding:0 0.8em 0 0;text-align:left;font-weight:normal"
NUMBER = "padding:0 0.8em 0 0;text-align:right;font-variant-numeric:tabular-nums"


def explanation_html(explanation: Explanation, parts: int = 10) -> str:
    """The text in colors, a legend, the `parts` largest features of each class, and what would flip the answer."""
    first = explanation.reasons[0]
    blocks = [f"<p><strong><bdi>{html_text(headline(explanation))}</bdi></strong></p>"]
    if explanation.text:
        blocks += [highlight_html(tints(first)), _legend(first)]
    blocks.append(_table(first, f"What counts for {first.name}", parts))
    if explanation.contrast and not explanation.two_sided:
        blocks.append(_table(explanation.contrast, f"Why not {explanation.contrast.against}", parts))
    for reason in explanation.reasons[2 if explanation.contrast else 1 :]:
        blocks.append(_table(reason, f"What counts for {reason.name}", parts))
    blocks += [f"<p><bdi>{html_text(sentence)}</bdi></p>" for sentence in sentences(explanation)]
    blocks += [_neighbors(explanation)] if explanation.neighbors else []
    return '<div class="linnaeus-explanation" style="font-family:sans-serif">\n' + "\n".join(blocks) + "\n</div>\n"


def _legend(reason: Reason) -> str:
    pieces = [
        f'<span style="{tint_style(0.8)}">for <bdi>{html_text(reason.name)}</bdi></span>',
        f'<span style="{tint_style(-0.8)}">against</span>',
    ]
    return '<p style="font-size:0.85em">' + " ".join(pieces) + "; the stronger the color, the more it counts</p>"


def _table(reason: Reason, heading: str, k: int) -> str:
    """The largest features, the rest of them, the bias and their sum."""
    parts = reason.parts(k)
    top = max((abs(part.contribution) for part in parts), default=0.0) or 1.0
    rows = [_part(part, top) for part in parts if part.contribution]
    more = len(reason.found.columns) - len(parts)
    if more > 0:
        rows.append(_row(f"{more:,} more", reason.score - reason.bias - sum(part.contribution for part in parts)))
    rows += [_row("bias", reason.bias), _row("score", reason.score)]
    head = f'<caption style="text-align:left;font-weight:bold"><bdi>{html_text(heading)}</bdi></caption>'
    return f'<table style="border-collapse:collapse;margin:0.6em 0">{head}<tbody>{"".join(rows)}</tbody></table>'


def _part(part: Part, top: float) -> str:
    title = f"{part.value:.4g} x {part.weight:+.4g}"
    if len(part.terms) > 1:
        title += f"; column {part.column} is shared by {len(part.terms)} terms"
    return _row(part_name(part), part.contribution, title, tint_style(part.contribution / top))


def _row(name: str, amount: float, title: str = "", style: str = "") -> str:
    said = f' title="{html_text(title)}"' if title else ""
    tinted = f"{NUMBER};{style}" if style else NUMBER
    return (
        f'<tr{said}><th scope="row" style="{CELL}"><bdi>{html_text(name)}</bdi></th>'
        f'<td style="{tinted}">{signed(amount)}</td></tr>'
    )


def _neighbors(explanation: Explanation) -> str:
    items = [
        f"<li>{near.similarity:.2f} <strong><bdi>{html_text(near.label)}</bdi></strong> "
        f"<bdi>{html_text(near.text)}</bdi></li>"
        for near in explanation.neighbors
    ]
    return "<p>Similar training examples:</p><ul>" + "".join(items) + "</ul>"
