"""An explanation for people: as a page, and as a fragment of HTML.

Both have the text in colors, the largest contributions, and the words that would flip the prediction. The HTML has no
scripts and no style sheets, loads nothing, and suits light and dark pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from linnaeus.explain.explanation import Explanation, Flip, Reason
from linnaeus.explain.weights import TopFeatures, Weight
from linnaeus.explain.words import WordRow
from linnaeus.frozen import dataclass
from linnaeus.render import (
    COLORED,
    Glyphs,
    Marks,
    Page,
    Tint,
    Word,
    bar,
    clean,
    cut,
    highlight,
    highlight_html,
    html_text,
    indent,
    line,
    percent,
    safe,
    stack,
    table,
    tint_style,
    title,
)
from linnaeus.types import Crowding

SHOWN = 5
"""The maximum number of collisions that are listed."""


def signed(amount: float) -> str:
    """A contribution: always with its sign.

    >>> signed(0.5), signed(-1.25), signed(0.0)
    ('+0.500', '-1.250', '+0.000')
    """
    return f"{amount + 0.0:+.3f}" if abs(amount) < 1000 else f"{amount:+,.0f}"


def shown(name: str) -> str:
    """The name of a feature; in quotes if it begins or ends with white space.

    >>> shown("good"), shown(" go")
    ('good', "' go'")
    """
    return name if name and name == name.strip() else f"'{name}'"


def tints(reason: Reason) -> list[Tint]:
    """The text word by word; the strength of a word is its contribution relative to the largest."""
    spots = reason.segments()
    top = max((abs(spot.contribution) for spot in spots), default=0.0) or 1.0
    text = reason.found.text
    return [
        Tint(
            text[s.start : s.end],
            s.contribution / top,
            f"{signed(s.contribution)} {reason.name}" if s.contribution else "",
        )
        for s in spots
    ]


def headline(explanation: Explanation) -> str:
    """The prediction in one line."""
    reasons = explanation.reasons
    if explanation.at is not None:
        start, end = explanation.at
        return f"{explanation.text[start:end]}: {headline(replace(explanation, at=None))}"
    if explanation.kind == "number":
        return "; ".join(f"{reason.name}: {reason.score:.4g}" for reason in reasons)
    said = [_standing(reason) for reason in reasons if reason.name in explanation.predicted]
    answer = ("; " if explanation.kind == "many" else ", ").join(said) or "no prediction"
    others = [reason for reason in reasons if reason.name not in explanation.predicted]
    if not others or explanation.two_sided:
        return answer
    return f"{answer}; next {'; '.join(map(_standing, others))}"


def _standing(reason: Reason) -> str:
    """A class with its probability, or where there is none with its score."""
    if reason.probability is None:
        return f"{reason.name} (score {signed(reason.standing)})"
    return f"{reason.name} ({chance(reason.probability)})"


def chance(probability: float) -> str:
    """A probability in percent; only 0 and 1 are shown as 0 % and 100 %.

    >>> chance(0.98765), chance(0.99999), chance(1e-9)
    ('98.8 %', '>99.9 %', '<0.1 %')
    """
    return ">99.9 %" if 0.9995 <= probability < 1 else percent(probability)


def sentences(explanation: Explanation) -> Iterator[str]:
    """Notes: whether it is exact, what would change the prediction, collisions of hashed features."""
    if not explanation.exact:
        what = "feature" if explanation.kind in ("tag", "candidate") else "word"
        yield f"Approximate, since the model is not linear: a contribution is the score minus that without the {what}."
    if explanation.flip:
        yield flip_sentence(explanation.text, explanation.flip)
    collisions = explanation.collisions
    for part in collisions[:SHOWN]:
        terms = ", ".join(f"'{term}'" for term in part.terms)
        yield f"Collision: {terms} share column {part.column}, and so one weight."
    if len(collisions) > SHOWN:
        yield f"{len(collisions) - SHOWN:,} more collisions within this text."
    yield from map(table_sentence, explanation.tables)


def flip_sentence(text: str, flip: Flip) -> str:
    """The words whose removal changes the prediction.

    >>> flip_sentence("not good", Flip(((0, 3),), ("pos",), True, 2, " good"))
    "Without 'not' the prediction would be pos; no smaller set changes it."
    """
    gone = ", ".join(repr(text[start:end]) for start, end in flip.words)
    answer = ", ".join(flip.predicted) or "none"
    proof = "no smaller set changes it" if flip.minimal else "a smaller set may change it too"
    return f"Without {gone} the prediction would be {answer}; {proof}."


def table_sentence(table: Crowding) -> str:
    """The load of a table of hashed features.

    >>> table_sentence(Crowding(1024, 512, 200))
    'Hashed features: 512 training terms in 1,024 columns, 39.1 % of them share theirs with another term.'
    """
    if not table.terms:
        return (
            f"Hashed features: {table.columns:,} columns; which training terms share one is not known "
            "(Hashed(keep_names=True) keeps track)."
        )
    shared = percent((table.sharing or 0) / table.terms)
    return (
        f"Hashed features: {table.terms:,} training terms in {table.columns:,} columns, "
        f"{shared} of them share theirs with another term."
    )


BAR, NAME = 16, 40
LEAST = 0.0005
"""A smaller contribution would be shown as zero, so it is counted among the others."""


def explanation_page(
    explanation: Explanation, glyphs: Glyphs, marks: Marks = COLORED, parts: int = 10, detail: bool = False
) -> Page:
    """The page of an explanation with the `parts` largest contributions; `marks` say how words are highlighted.

    With `detail`, each word is followed by its features: the word itself and its runs of characters.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("logistic").fit(texts, labels)
    >>> why = model.explain("a good film")
    >>> from linnaeus.render import ASCII
    >>> page = explanation_page(why, ASCII)
    >>> page is not None
    True
    """
    first, show = explanation.lead, _Rows(parts, detail, glyphs)
    pages = [Page((line(Word(clean(headline(explanation)), "title")), line()))]
    if explanation.text:
        pages += [indent(highlight(tints(first), marks)), _legend(first, marks)]
    pages += [show(reason, clean(heading)) for heading, reason in _tables(explanation)]
    said = [line(clean(sentence)) for sentence in sentences(explanation)]
    return stack([*pages, Page((line(), *said)) if said else Page(), _neighbors(explanation, glyphs)])


def _tables(explanation: Explanation) -> Iterator[tuple[str, Reason]]:
    """The reasons that have a table, and its heading."""
    first, contrast = explanation.lead, explanation.contrast
    if first is contrast:
        yield f"Why {first.name}, not {first.against}", first
        return
    yield f"What counts for {first.name}", first
    if contrast and not explanation.two_sided:
        yield f"Why not {contrast.against}", contrast
    for reason in explanation.reasons[2 if contrast else 1 :]:
        yield f"What counts for {reason.name}", reason
    for number, reason in enumerate(explanation.path, 1):
        yield f"Branch {number} on the way there: {reason.name}", reason


def _legend(reason: Reason, marks: Marks) -> Page:
    name = clean(reason.name)
    shown = [Tint("weakly", 0.2), Tint(" "), Tint("strongly", 1.0)]
    against = [Tint("weakly", -0.2), Tint(" "), Tint("strongly", -1.0)]
    words = [Tint(f"for {name}: "), *shown, Tint(", against: "), *against]
    return Page((line(),)) + indent(highlight(words, marks))


@dataclass(frozen=True, slots=True)
class _Rows:
    """A row for each of the largest contributions, one for the others, the bias, and their sum: the score."""

    most: int
    detail: bool
    glyphs: Glyphs

    def __call__(self, reason: Reason, heading: str) -> Page:
        every = reason.words()
        first = [row for row in every[: self.most] if abs(row.contribution) >= LEAST]
        top = _largest(first)
        cells = [cell for row in first for cell in self._cells(row, top)]
        for name, amount in _others(reason, first, len(every)):
            style = "title" if name == "score" else ""
            cells.append([Word(name, style), "", Word(signed(amount), style), ""])
        if self.detail:
            return title(heading) + indent(table(["", "value x weight", "adds", ""], cells, "<>>="))
        return title(heading) + indent(table(["", "adds", ""], [[row[0], *row[2:]] for row in cells], "<>="))

    def _cells(self, row: WordRow, top: float) -> Iterator[list[str | Word]]:
        name = cut(clean(row.name) or shown(row.name), NAME, self.glyphs.ellipsis)
        style = "for" if row.contribution > 0 else "against"
        drawn = Word(bar(abs(row.contribution) / top, BAR, self.glyphs), style)
        single = len(row.features) == 1
        product = Word(str(row.features[0]) if single else "", "faint")
        yield [Word(name, "accent" if row.placed else ""), product, signed(row.contribution), drawn]
        for part in row.features if self.detail and not single else ():
            product = Word(str(part), "faint")
            within = Word("  " + cut(safe(shown(part.name)), NAME - 2, self.glyphs.ellipsis), "faint")
            yield [within, product, Word(signed(part.contribution), "faint"), ""]


def _largest(rows: Sequence[WordRow]) -> float:
    return max((abs(row.contribution) for row in rows), default=0.0) or 1.0


def _others(reason: Reason, first: Sequence[WordRow], count: int) -> Iterator[tuple[str, float]]:
    """What follows the largest contributions in a table: all others together, the bias, and the sum."""
    if more := count - len(first):
        yield f"{more:,} more", reason.score - reason.bias - sum(row.contribution for row in first)
    yield "bias", reason.bias
    yield "score", reason.score


def _neighbors(explanation: Explanation, glyphs: Glyphs) -> Page:
    if not explanation.neighbors:
        return Page()
    rows = [
        [f"{near.similarity:.2f}", clean(near.label), cut(clean(near.text), 60, glyphs.ellipsis)]
        for near in explanation.neighbors
    ]
    return title("Similar training examples") + indent(table(["", "", ""], rows, "><<"))


def top_page(tops: Sequence[TopFeatures], glyphs: Glyphs) -> Page:
    """What a model has learned: the strongest features for and against each class.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("logistic").fit(texts, labels)
    >>> from linnaeus.render import ASCII
    >>> page = top_page(model.model_.top_features(2), ASCII)
    >>> page is not None
    True
    """
    return stack(title(clean(top.name)) + indent(_sides(top, glyphs)) for top in tops)


def _sides(top: TopFeatures, glyphs: Glyphs) -> Page:
    rows = [
        (name, ", ".join(_weight(weight, glyphs) for weight in side))
        for name, side in (("for", top.positive), ("against", top.negative))
        if side
    ]
    return table(["", ""], rows, "<<")


def _weight(weight: Weight, glyphs: Glyphs) -> str:
    return f"{cut(clean(shown(weight.name)), NAME, glyphs.ellipsis)} {signed(weight.effect)}"


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
    first = explanation.lead
    blocks = [f"<p><strong><bdi>{html_text(headline(explanation))}</bdi></strong></p>"]
    blocks += [explanation.svg] if explanation.svg else []
    if explanation.text:
        blocks += [highlight_html(tints(first)), _legend_html(first)]
    blocks += [_table_html(reason, heading, parts) for heading, reason in _tables(explanation)]
    blocks += [f"<p><bdi>{html_text(sentence)}</bdi></p>" for sentence in sentences(explanation)]
    blocks += [_neighbors_html(explanation)] if explanation.neighbors else []
    return '<div class="linnaeus-explanation" style="font-family:sans-serif">\n' + "\n".join(blocks) + "\n</div>\n"


def _legend_html(reason: Reason) -> str:
    pieces = [
        f'<span style="{tint_style(0.8)}">for <bdi>{html_text(reason.name)}</bdi></span>',
        f'<span style="{tint_style(-0.8)}">against</span>',
    ]
    return '<p style="font-size:0.85em">' + " ".join(pieces) + "; a stronger color means a larger contribution</p>"


def _table_html(reason: Reason, heading: str, k: int) -> str:
    """The words with the largest contributions, the others together, the bias and their sum."""
    every = reason.words()
    first = every[:k]
    top = _largest(first)
    rows = [_row_html(_word_html(row), row.contribution, tint_style(row.contribution / top)) for row in first]
    for name, amount in _others(reason, first, len(every)):
        rows.append(_row_html(f'<span style="padding-left:{LEFT}">{name}</span>', amount))
    style = "text-align:left;font-weight:bold;white-space:nowrap"
    head = f'<caption style="{style}"><bdi>{html_text(heading)}</bdi></caption>'
    return f'<table style="border-collapse:collapse;margin:0.6em 0">{head}<tbody>{"".join(rows)}</tbody></table>'


def _word_html(row: WordRow) -> str:
    """A word that opens to its features, where it is more than one."""
    name = f"<bdi>{html_text(row.name)}</bdi>"
    if len(row.features) == 1:
        return f'<span style="padding-left:{LEFT}" title="{row.features[0]}">{name}</span>'
    inside = "".join(
        f"<div><bdi>{html_text(shown(part.name))}</bdi> {signed(part.contribution)} <small>({part})</small></div>"
        for part in row.features
    )
    return f'<details><summary>{name}</summary><div style="padding-left:2.2em">{inside}</div></details>'


def _row_html(name: str, amount: float, style: str = "") -> str:
    tinted = f"{NUMBER};{style}" if style else NUMBER
    return (
        f'<tr><th scope="row" style="{CELL}">{name}</th>'
        f'<td style="{tinted};vertical-align:top">{signed(amount)}</td></tr>'
    )


def _neighbors_html(explanation: Explanation) -> str:
    items = [
        f"<li>{near.similarity:.2f} <strong><bdi>{html_text(near.label)}</bdi></strong> "
        f"<bdi>{html_text(near.text)}</bdi></li>"
        for near in explanation.neighbors
    ]
    return "<p>Similar training examples:</p><ul>" + "".join(items) + "</ul>"
