"""An explanation as a page: the text in colors, the largest contributions, and the words that would flip it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from linnaeus.explain.records import Explanation, Reason
from linnaeus.explain.sentences import headline, sentences, shown, signed, tints
from linnaeus.explain.weights import TopFeatures, Weight
from linnaeus.explain.words import WordRow
from linnaeus.frozen import dataclass
from linnaeus.render import (
    COLORED,
    Glyphs,
    Line,
    Marks,
    Page,
    Tint,
    Word,
    bar,
    clean,
    cut,
    highlight,
    indent,
    line,
    safe,
    stack,
    table,
    title,
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
    first, show = explanation.reasons[0], _Rows(parts, detail, glyphs)
    pages = [Page((line(Word(clean(headline(explanation)), "title")), line()))]
    if explanation.text:
        pages += [indent(highlight(tints(first), marks)), _legend(first, marks)]
    pages.append(show(first, f"What counts for {clean(first.name)}"))
    if explanation.contrast and not explanation.two_sided:
        pages.append(show(explanation.contrast, f"Why not {clean(explanation.contrast.against or '')}"))
    for reason in explanation.reasons[2 if explanation.contrast else 1 :]:
        pages.append(show(reason, f"What counts for {clean(reason.name)}"))
    said = [line(clean(sentence)) for sentence in sentences(explanation)]
    return stack([*pages, Page((line(), *said)) if said else Page(), _neighbors(explanation, glyphs)])


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
        rows, bias = reason.words(), reason.bias
        first = [row for row in rows[: self.most] if abs(row.contribution) >= LEAST]
        top = max((abs(row.contribution) for row in first), default=0.0) or 1.0
        cells = [cell for row in first for cell in self._cells(row, top)]
        if more := len(rows) - len(first):
            rest = reason.score - bias - sum(row.contribution for row in first)
            cells.append(_plain(f"{more:,} more", signed(rest)))
        cells += [_plain("bias", signed(bias)), _plain("score", signed(reason.score), "title")]
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


def _plain(name: str, amount: str, style: str = "") -> list[str | Word]:
    return [Word(name, style), "", Word(amount, style), ""]


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
    lines: list[Line] = [
        line(f"{name:<8}", ", ".join(_weight(weight, glyphs) for weight in side))
        for name, side in (("for", top.positive), ("against", top.negative))
        if side
    ]
    return Page(tuple(lines))


def _weight(weight: Weight, glyphs: Glyphs) -> str:
    return f"{cut(clean(shown(weight.name)), NAME, glyphs.ellipsis)} {signed(weight.effect)}"
