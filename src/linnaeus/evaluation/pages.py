"""Slices, comparisons and learning curves as pages to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.evaluation.intervals import METHOD
from linnaeus.evaluation.page import LABEL, decimal
from linnaeus.evaluation.slicing import SMALL
from linnaeus.render import Glyphs, Page, Word, bar, clean, cut, indent, line, percent, table, title

if TYPE_CHECKING:
    from linnaeus.evaluation.comparison import Comparison
    from linnaeus.evaluation.curve import Curve
    from linnaeus.evaluation.slicing import Slice, Slices

BAR = 24


def slices_page(found: Slices, glyphs: Glyphs) -> Page:
    """A row for each slice, with the interval of each metric; small slices and those that differ are marked."""
    names = list(found.whole.metrics)
    rows = [_slice(found, part, names, glyphs) for part in (found.whole, *found.parts)]
    head = ["", "rows", "", *(cell for name in names for cell in (f"{name}, {percent(found.level)}", ""))]
    body = indent(table(head, rows, "<><" + "><" * len(names)))
    said = [METHOD, "worse, better: the interval does not contain the value on all rows"]
    if any(part.small for part in (found.whole, *found.parts)):
        said.append(f"few: fewer than {SMALL} rows, too few to say much")
    notes = (line(), *(line(Word(note, "faint")) for note in said))
    return title(f"By {clean(found.name)}") + body + indent(Page(notes))


def _slice(found: Slices, part: Slice, names: list[str], glyphs: Glyphs) -> list[str | Word]:
    few = Word("few" if part.small else "", "warn")
    cells: list[str | Word] = [cut(clean(part.value), LABEL, glyphs.ellipsis), f"{part.rows:,}", few]
    for name in names:
        if name not in part.metrics:
            cells += ["", ""]
            continue
        low, high = part.intervals[name]
        side = "" if part is found.whole else found.side(part, name)
        mark = Word(side, {"better": "good", "worse": "bad"}.get(side, ""))
        cells += [f"{decimal(part.metrics[name])}  {decimal(low)} {glyphs.dash} {decimal(high)}", mark]
    return cells


def comparison_page(found: Comparison, glyphs: Glyphs, names: tuple[str, str] = ("first", "second")) -> Page:
    """The difference of each metric with its interval, the rows that only one predicts correctly, and a conclusion."""
    first, second = (clean(name) for name in names)
    rows: list[list[str | Word]] = []
    for d in found.differences:
        span = f"{d.low:+.4f} {glyphs.dash} {d.high:+.4f}"
        ahead = {"first": first, "second": second}.get(d.winner, "")
        rows.append([d.metric, decimal(d.first), decimal(d.second), f"{d.difference:+.4f}", span, Word(ahead, "good")])
    head = ["", first, second, "difference", f"{percent(found.level)} interval", "better"]
    lines = [line(), line(found.sentence(first, second))]
    if found.p_value is not None:
        counts = f"only {first} is correct on {found.only_first:,} rows, only {second} on {found.only_second:,}"
        lines.insert(1, line(Word(counts, "faint")))
    return (
        title(f"{first} and {second}, {found.rows:,} rows") + indent(table(head, rows, "<>>>><")) + Page(tuple(lines))
    )


def curve_page(curve: Curve, glyphs: Glyphs) -> Page:
    """A row for each number of training rows, with a bar for the first score."""
    names = curve.names
    top = max(abs(point.scores[names[0]]) for point in curve.points) or 1.0
    rows: list[list[str | Word]] = []
    for point in curve.points:
        cells: list[str | Word] = [f"{point.rows:,}"]
        for name in names:
            low, high = point.spans[name]
            span = f"{decimal(low)} {glyphs.dash} {decimal(high)}" if curve.repeats > 1 else ""
            cells += [decimal(point.scores[name]), span]
        rows.append([*cells, Word(bar(abs(point.scores[names[0]]) / top, BAR, glyphs), "accent")])
    spread = f"of {curve.repeats}" if curve.repeats > 1 else ""
    head = ["rows", *(cell for name in names for cell in (clean(name), spread)), ""]
    body = indent(table(head, rows, ">" + ">>" * len(names) + "="))
    return title("Learning curve") + body + Page((line(), line(curve.sentence())))
