"""An audit as a page: a summary of the data, then the findings."""

from __future__ import annotations

from collections.abc import Sequence

from linnaeus.audit.records import Audit, Example, Finding, Share, Spread, Summary
from linnaeus.render import (
    Glyphs,
    Line,
    Page,
    Word,
    bar,
    clean,
    counted,
    cut,
    histogram,
    indent,
    line,
    number,
    percent,
    size,
    stack,
    table,
    title,
)

LABELS = 20
"""The number of labels that are listed; the JSON form has all."""

BAR, TEXT = 24, 44

COUNTED = "rows are counted from 1"
HEADED = f"{COUNTED}, after the header"


def audit_page(audit: Audit, names: Sequence[str], glyphs: Glyphs, rows: str = COUNTED) -> Page:
    """The page of an audit; `names` are those of its data sets, for people, and `rows` says how they are counted."""
    summaries = [audit.data] + ([audit.other] if audit.other else [])
    parts = [Page(tuple(_headline(name, s) for name, s in zip(names, summaries, strict=False)))]
    parts += [_labels(summaries, glyphs), _lengths(summaries, glyphs), _findings(audit, glyphs, rows)]
    return stack(parts)


def _headline(name: str, summary: Summary) -> Line:
    facts = [counted(summary.rows, "row")]
    if summary.characters:
        facts += [f"{size(summary.bytes)} of text", counted(summary.vocabulary, "different word")]
    return line(Word(clean(name), "title"), ": ", ", ".join(facts))


def _labels(summaries: list[Summary], glyphs: Glyphs) -> Page:
    first = summaries[0]
    if first.numbers:
        return title("Labels (numbers)") + indent(_spreads([("label", first.numbers)]))
    if not first.labels:
        return title("Labels") + indent(Page((line("none"),)))
    others = [{label.name: label for label in summary.labels} for summary in summaries[1:]]
    top = first.labels[0].share
    rows: list[list[str | Word]] = [
        [
            clean(label.name),
            *_count(label),
            Word(bar(label.share / top, BAR, glyphs), "accent"),
            *(cell for other in others for cell in _count(other.get(label.name))),
        ]
        for label in first.labels[:LABELS]
    ]
    head = ["", "rows", "share", "", *(["other rows", "share"] * len(others))]
    listing = table(head, rows, "<>>=" + ">>" * len(others))
    more = len(first.labels) - LABELS
    rest = (
        [line(f"{glyphs.ellipsis} and {more:,} more, down to {counted(first.labels[-1].count, 'row')}")]
        if more > 0
        else []
    )
    kind = ", several for each row" if first.label_kind == "many" else ""
    return title(f"Labels ({len(first.labels):,}{kind})") + indent(listing + Page(tuple(rest)))


def _count(label: Share | None) -> tuple[str, str]:
    return (f"{label.count:,}", percent(label.share)) if label else ("0", "")


def _lengths(summaries: list[Summary], glyphs: Glyphs) -> Page:
    rows: list[tuple[str, Spread]] = []
    for where, summary in zip(("", ", other"), summaries, strict=False):
        rows += [(what + where, s) for what, s in (("characters", summary.characters), ("words", summary.words)) if s]
    words = summaries[0].words
    if not rows or not words:
        return Page()
    bins = [_bin(low, high, glyphs) for low, high in zip(words.edges, words.edges[1:], strict=False)]
    shares = [Page((line(), line("words in a text")))]
    shares += [histogram(bins, words.counts, BAR, glyphs), _scripts(summaries[0])]
    return title("Lengths") + indent(_spreads(rows) + stack(shares))


def _bin(low: float, high: float, glyphs: Glyphs) -> str:
    return f"{low:,.0f}" if high - low <= 1 else f"{low:,.0f}{glyphs.dash}{high - 1:,.0f}"


def _spreads(rows: list[tuple[str, Spread]]) -> Page:
    head = ["", "smallest", "median", "mean", "95 %", "largest"]
    cells = [[name, *map(number, (s.smallest, s.median, s.mean, s.high, s.largest))] for name, s in rows]
    return table(head, cells, "<>>>>>")


def _scripts(summary: Summary) -> Page:
    if not summary.scripts:
        return Page()
    shares = ", ".join(f"{script.name} {percent(script.share)}" for script in summary.scripts)
    return Page((line(), line("scripts: ", shares)))


def _findings(audit: Audit, glyphs: Glyphs, rows: str) -> Page:
    if not audit.findings:
        return title("Findings") + indent(Page((line(Word(f"{glyphs.good} nothing to report", "good")),)))
    body = indent(stack(_finding(finding, glyphs) for finding in audit.findings))
    if any(finding.examples for finding in audit.findings):
        body += indent(Page((line(Word(rows, "faint")),)))
    count = len(audit.problems)
    if not count:
        verdict = Word(f"{glyphs.good} no problems: every finding is within its limit", "good")
    else:
        verdict = Word(f"{glyphs.bad} {count} problem{'s' if count > 1 else ''}", "bad")
    return title("Findings") + body + Page((line(), line(verdict)))


def _finding(finding: Finding, glyphs: Glyphs) -> Page:
    sign = Word(glyphs.bad, "bad") if finding.problem else Word(glyphs.note, "warn")
    limit = f" ({percent(finding.share)}, limit {percent(finding.limit)})"
    name = Word(finding.kind, "title")
    head = line(sign, " ", name, ": ", clean(finding.sentence), Word(limit, "faint"))
    return Page((head, *(_example(example, glyphs) for example in finding.examples)))


def _example(example: Example, glyphs: Glyphs) -> Line:
    where = f"    row {example.row + 1:,}{_label(example.label)}"
    if example.match is not None:
        sign = glyphs.same if example.similarity == 1 else glyphs.near
        where += f" {sign} row {example.match + 1:,}{_label(example.match_label)}"
    return line(Word(where, "faint"), f"  {cut(clean(example.text), TEXT, glyphs.ellipsis)}")


def _label(label: str | None) -> str:
    return f" [{cut(clean(label), 24)}]" if label is not None else ""
