"""What the verbs show of taggers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from linnaeus.cli.texts import quoted
from linnaeus.render import (
    Page,
    clean,
    command,
    counted,
    duration,
    indent,
    line,
    size,
    stack,
    table,
    title,
)

if TYPE_CHECKING:
    from linnaeus.evaluation import Evaluation
    from linnaeus.model.tagger import TagModel
    from linnaeus.render import Glyphs

GAP = Page((line(),))
SHOWN = 20
"""At most this many tags are listed."""


def trained_tagger_page(model: TagModel, scores: Evaluation | None, how: dict[str, Any], glyphs: Glyphs) -> Page:
    """Facts, scores and next commands."""
    facts, path = model.facts, clean(how["model"])
    rows = f"{counted(int(facts['sentences']), 'sentence')}, {counted(int(facts['tokens']), 'token')}"
    lines = (
        line(f"{rows}, {counted(model.features.width, 'feature')}, {counted(len(model.tags), 'tag')}"),
        line(f"{duration(how['seconds'])}, {size(Path(how['model']).stat().st_size)} on disk"),
    )
    pages = [title(f"Trained {path}") + indent(Page(lines))]
    if scores is not None:
        name = "held-out sentences (from a second training)" if how["on"] == "held-out" else "test data"
        pages += [GAP, scores.page(glyphs, name)]
    word = quoted(path)
    commands = (
        f'linnaeus tag {word} "a text of yours"',
        f"linnaeus test {word} test.conllu",
        f"linnaeus inspect {word}",
    )
    return stack([*pages, title("Next") + indent(Page(tuple(map(command, commands))))])


def inspected_page(told: dict[str, Any]) -> Page:
    """The contents of the file."""
    tags = [clean(tag) for tag in told["tags"]]
    more = f" and {len(tags) - SHOWN:,} more" if len(tags) > SHOWN else ""
    facts = told["facts"]
    cells = [
        ("texts", "none: the file contains no training sentences, only words and parts of words that are features"),
        ("tags", ", ".join(tags[:SHOWN]) + more),
        ("trained on", f"{counted(int(facts['sentences']), 'sentence')}, {counted(int(facts['tokens']), 'token')}"),
        ("features", f"{told['features']:,}"),
        ("encoding", str(told["recipe"].get("encoding", "plain"))),
        ("file", size(told["bytes"])),
        ("digests", told["digests"]),
    ]
    return title(clean(told["model"])) + indent(table(["", ""], cells, "<<")) + GAP
