"""Evaluations, slices, comparisons and learning curves as pages to read."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from linnaeus.evaluation.evaluation import ClassScore, Evaluation
from linnaeus.evaluation.intervals import METHOD
from linnaeus.evaluation.metrics import KINDS, METRICS
from linnaeus.render import (
    Glyphs,
    Line,
    Page,
    Word,
    bar,
    clean,
    counted,
    cut,
    indent,
    line,
    number,
    percent,
    stack,
    table,
    title,
)

if TYPE_CHECKING:
    from linnaeus.evaluation.comparison import Comparison
    from linnaeus.evaluation.curve import Curve
    from linnaeus.evaluation.slicing import Slice, Slices

CLASSES, PART, LABEL = 24, 10, 80
"""Up to this many classes are all listed; of more, the largest and the worst. Labels are cut to a width."""

CONFUSIONS = 10


def evaluation_page(evaluation: Evaluation, glyphs: Glyphs, name: str = "") -> Page:
    """The page of an evaluation; `name` is the name of the data in the headline."""
    parts = [
        Page((_headline(evaluation, name), *_remarks(evaluation, glyphs), line())),
        indent(_metrics(evaluation, glyphs, KINDS[evaluation.task].shown) + _method(evaluation)),
        _once(evaluation, glyphs),
    ]
    return stack([*parts, _classes(evaluation, glyphs), _confusions(evaluation, glyphs)])


def _headline(evaluation: Evaluation, name: str) -> Line:
    facts = counted(evaluation.rows, KINDS[evaluation.task].row)
    if evaluation.units:
        facts += f", {evaluation.units:,} {KINDS[evaluation.task].units}"
    if evaluation.classes:
        facts += f", {evaluation.classes:,} {_outputs(evaluation)}"
    return line(Word(clean(name), "title"), ": ", facts) if name else line(Word(facts, "title"))


def _outputs(evaluation: Evaluation) -> str:
    """What the classes are called."""
    return "types of entities" if "f1" in evaluation.metrics else KINDS[evaluation.task].outputs


def _remarks(evaluation: Evaluation, glyphs: Glyphs) -> list[Line]:
    found = []
    if evaluation.unknown:
        has = "has a label" if evaluation.unknown == 1 else "have labels"
        said = f"{counted(evaluation.unknown, 'row')} {has} that the model does not know; they count as errors"
        found.append(line(Word(f"{glyphs.note} {said}", "warn")))
    if evaluation.abstained:
        found.append(line(Word(f"{glyphs.note} {counted(evaluation.abstained, 'row')} without a prediction", "warn")))
    return found


def _method(evaluation: Evaluation) -> Page:
    return Page((line(Word(METHOD, "faint")),)) if evaluation.intervals else Page()


def _once(evaluation: Evaluation, glyphs: Glyphs) -> Page:
    """The first metrics on texts that occur once, beside those on all rows."""
    once = evaluation.once
    if once is None:
        return Page()
    said = f"On the {counted(once.rows, KINDS[once.task].row)} whose text occurs once in the data"
    return title(said) + indent(_metrics(once, glyphs, (*KINDS[once.task].headlines, "log_loss")))


def _metrics(evaluation: Evaluation, glyphs: Glyphs, names: Sequence[str]) -> Page:
    shown = [name for name in names if name in evaluation.metrics]
    rows: list[list[str | Word]] = []
    for name in shown:
        low, high = evaluation.intervals.get(name, (None, None))
        span = "" if low is None or high is None else f"{decimal(low)} {glyphs.dash} {decimal(high)}"
        sentence = METRICS[name].about(evaluation.task)
        value = evaluation.metrics[name]
        if isnan(value):
            rows.append([name, Word(glyphs.dash, "title"), "", Word(f"{sentence}: no row was answered", "faint")])
            continue
        lower = ", lower is better" if METRICS[name].better == "lower" else ""
        rows.append([name, Word(decimal(value), "title"), span, Word(sentence + lower, "faint")])
    head = ["", "", f"{percent(evaluation.level)} interval" if evaluation.intervals else "", ""]
    return table(head, rows, "<>><")


def decimal(value: float) -> str:
    """A metric with four digits after the point; fewer for numbers of 100 and more."""
    return f"{value:.4f}" if abs(value) < 100 else number(value)


def _classes(evaluation: Evaluation, glyphs: Glyphs) -> Page:
    every = evaluation.per_class
    if not every:
        return Page()
    what = _outputs(evaluation).capitalize()
    largest = sorted(every, key=lambda row: -row.support)
    if len(every) <= CLASSES:
        return title(f"{what} ({len(every):,})") + indent(_table(largest, glyphs))
    worst = sorted((row for row in every if row.support > 0 and row.f1 < 1), key=lambda row: (row.f1, -row.support))[
        :PART
    ]
    lists = (("worst", worst), ("largest", largest[:PART]))
    return stack(
        title(f"{what}: the {name} {len(rows)} of {len(every):,}") + indent(_table(rows, glyphs))
        for name, rows in lists
        if rows
    )


def _table(rows: Sequence[ClassScore], glyphs: Glyphs) -> Page:
    ranked = any(row.average_precision is not None for row in rows)
    cells = []
    for row in rows:
        scores = [f"{score:.3f}" for score in (row.precision, row.recall, row.f1)]
        area = "" if row.average_precision is None else f"{row.average_precision:.3f}"
        label = cut(clean(row.label), LABEL, glyphs.ellipsis)
        cells.append([label, *scores, *([area] if ranked else []), number(row.support)])
    head = ["", "precision", "recall", "F1", *(["avg. precision"] if ranked else []), "support"]
    return table(head, cells, "<>>>>" + (">" if ranked else ""))


def _confusions(evaluation: Evaluation, glyphs: Glyphs) -> Page:
    confusion = evaluation.confusion
    most = confusion.most(CONFUSIONS) if confusion else []
    if not most:
        return Page()
    support = {row.label: row.support for row in evaluation.per_class}
    rows = []
    for truth, predicted, weight in most:
        names = [cut(clean(label), LABEL, glyphs.ellipsis) for label in (truth, predicted)]
        share = percent(weight / support[truth]) if support.get(truth) else ""
        rows.append([*names, number(weight), share])
    return title("Most frequent confusions") + indent(
        table(["true label", "predicted", "rows", "of support"], rows, "<<>>")
    )


BAR = 24


def slices_page(found: Slices, glyphs: Glyphs) -> Page:
    """A row for each slice, with the interval of each metric; small slices and those that differ are marked."""
    from linnaeus.evaluation.slicing import SMALL

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
