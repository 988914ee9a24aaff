"""An explanation as a fragment of HTML: no scripts, no style sheets, nothing loaded, for light and dark pages."""

from __future__ import annotations

from linnaeus.explain.records import Explanation, Reason
from linnaeus.explain.sentences import headline, sentences, shown, signed, tints
from linnaeus.explain.words import WordRow
from linnaeus.render import highlight_html, html_text, tint_style

CELL = "padding:0 0.8em 0 0;text-align:left;font-weight:normal"
LEFT = "1.1em"
NUMBER = "padding:0 0.8em 0 0;text-align:right;font-variant-numeric:tabular-nums"


def explanation_html(explanation: Explanation, parts: int = 10) -> str:
    """The text in colors, a legend, the `parts` strongest words for each class, and the flip.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("logistic").fit(texts, labels)
    >>> why = model.explain("a good film")
    >>> explanation_html(why).startswith("<")
    True
    """
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
    return '<p style="font-size:0.85em">' + " ".join(pieces) + "; a stronger color means a larger contribution</p>"


def _table(reason: Reason, heading: str, k: int) -> str:
    """The words with the largest contributions, the others together, the bias and their sum."""
    every = reason.words()
    first = every[:k]
    top = max((abs(row.contribution) for row in first), default=0.0) or 1.0
    rows = [_row(_word(row), row.contribution, tint_style(row.contribution / top)) for row in first]
    if more := len(every) - len(first):
        rest = reason.score - reason.bias - sum(row.contribution for row in first)
        rows.append(_row(_beside(f"{more:,} more"), rest))
    rows += [_row(_beside("bias"), reason.bias), _row(_beside("score"), reason.score)]
    style = "text-align:left;font-weight:bold;white-space:nowrap"
    head = f'<caption style="{style}"><bdi>{html_text(heading)}</bdi></caption>'
    return f'<table style="border-collapse:collapse;margin:0.6em 0">{head}<tbody>{"".join(rows)}</tbody></table>'


def _beside(name: str) -> str:
    """What does not open begins where words do that open."""
    return f'<span style="padding-left:{LEFT}">{name}</span>'


def _word(row: WordRow) -> str:
    """A word that opens to its features, where it is more than one."""
    name = f"<bdi>{html_text(row.name)}</bdi>"
    if len(row.features) == 1:
        return f'<span style="padding-left:{LEFT}" title="{row.features[0]}">{name}</span>'
    inside = "".join(
        f"<div><bdi>{html_text(shown(part.name))}</bdi> {signed(part.contribution)} <small>({part})</small></div>"
        for part in row.features
    )
    return f'<details><summary>{name}</summary><div style="padding-left:2.2em">{inside}</div></details>'


def _row(name: str, amount: float, style: str = "") -> str:
    tinted = f"{NUMBER};{style}" if style else NUMBER
    return (
        f'<tr><th scope="row" style="{CELL}">{name}</th>'
        f'<td style="{tinted};vertical-align:top">{signed(amount)}</td></tr>'
    )


def _neighbors(explanation: Explanation) -> str:
    items = [
        f"<li>{near.similarity:.2f} <strong><bdi>{html_text(near.label)}</bdi></strong> "
        f"<bdi>{html_text(near.text)}</bdi></li>"
        for near in explanation.neighbors
    ]
    return "<p>Similar training examples:</p><ul>" + "".join(items) + "</ul>"
