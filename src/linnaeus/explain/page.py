"""An explanation as a page to read: the text in colors, then what counted most, then what would have changed it."""

from __future__ import annotations

from collections.abc import Sequence

from linnaeus.explain.records import Explanation, Part, Reason
from linnaeus.explain.sentences import headline, part_name, sentences, shown, signed, tints
from linnaeus.explain.weights import TopFeatures, Weight
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
    stack,
    table,
    title,
)

BAR, NAME = 16, 40


def explanation_page(
    explanation: Explanation, glyphs: Glyphs, marks: Marks = COLORED, parts: int = 10, columns: int = 100
) -> Page:
    """The page of an explanation with the `parts` largest features; `marks` say how pieces stand out."""
    first = explanation.reasons[0]
    pages = [Page((line(Word(clean(headline(explanation)), "title")), line()))]
    if explanation.text:
        pages += [indent(highlight(tints(first), columns - 2, marks)), _legend(first, marks)]
    pages.append(_parts(first, f"What counts for {clean(first.name)}", parts, glyphs))
    if explanation.contrast and not explanation.two_sided:
        heading = f"Why not {clean(explanation.contrast.against or '')}"
        pages.append(_parts(explanation.contrast, heading, parts, glyphs))
    for reason in explanation.reasons[2 if explanation.contrast else 1 :]:
        pages.append(_parts(reason, f"What counts for {clean(reason.name)}", parts, glyphs))
    said = [line(clean(sentence)) for sentence in sentences(explanation)]
    return stack([*pages, Page((line(), *said)) if said else Page(), _neighbors(explanation, glyphs)])


def _legend(reason: Reason, marks: Marks) -> Page:
    name = clean(reason.name)
    shown = [Tint("weakly", 0.2), Tint(" "), Tint("strongly", 1.0)]
    against = [Tint("weakly", -0.2), Tint(" "), Tint("strongly", -1.0)]
    words = [Tint(f"for {name}: "), *shown, Tint("   against: "), *against]
    return Page((line(),)) + indent(highlight(words, 1000, marks))


def _parts(reason: Reason, heading: str, k: int, glyphs: Glyphs) -> Page:
    """The largest features with a bar each, what they come to in all, and the bias."""
    parts = reason.parts(k)
    top = max((abs(part.contribution) for part in parts), default=0.0) or 1.0
    rows: list[list[str | Word]] = [_part(part, top, glyphs) for part in parts if part.contribution]
    rest = reason.score - reason.bias - sum(part.contribution for part in parts)
    more = len(reason.found.columns) - len(parts)
    if more > 0:
        rows.append([f"{more:,} more", "", signed(rest), ""])
    rows += [
        ["bias", "", signed(reason.bias), ""],
        [Word("score", "title"), "", Word(signed(reason.score), "title"), ""],
    ]
    return title(heading) + indent(table(["", "value x weight", "adds", ""], rows, "<>><"))


def _part(part: Part, top: float, glyphs: Glyphs) -> list[str | Word]:
    style = "for" if part.contribution > 0 else "against"
    product = f"{part.value:.3g} x {part.weight:+.3g}"
    return [
        Word(cut(clean(part_name(part)), NAME, glyphs.ellipsis), "accent" if part.spots else ""),
        Word(product, "faint"),
        signed(part.contribution),
        Word(bar(abs(part.contribution) / top, BAR, glyphs), style),
    ]


def _neighbors(explanation: Explanation, glyphs: Glyphs) -> Page:
    if not explanation.neighbors:
        return Page()
    rows = [
        [f"{near.similarity:.2f}", clean(near.label), cut(clean(near.text), 60, glyphs.ellipsis)]
        for near in explanation.neighbors
    ]
    return title("Similar training examples") + indent(table(["", "", ""], rows, "><<"))


def top_page(tops: Sequence[TopFeatures], glyphs: Glyphs) -> Page:
    """What a model has learned: for each class the features that speak most for it, and against it."""
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
