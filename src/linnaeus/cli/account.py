"""The page that `train` shows at the end: the model, its metrics, and the next commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from linnaeus.cli.texts import quoted
from linnaeus.data.split import MANY
from linnaeus.render import Page, clean, command, counted, duration, indent, line, percent, size, stack, title

if TYPE_CHECKING:
    from linnaeus.evaluation import Evaluation
    from linnaeus.model.model import Classifier
    from linnaeus.render import Glyphs

GAP = Page((line(),))


def trained_page(model: Classifier, tested: Evaluation | None, how: dict[str, Any], glyphs: Glyphs) -> Page:
    """Facts, scores and next commands."""
    pages = [title(f"Trained {clean(how['model'])}") + indent(_facts(model, how))]
    if model.evaluation is not None:
        pages += [GAP, model.evaluation.page(glyphs, "held-out rows of the training data")]
    if tested is not None:
        pages += [GAP, tested.page(glyphs, "test data")]
    return stack([*pages, title("Next") + indent(_next(quoted(clean(how["model"]))))])


def _facts(model: Classifier, how: dict[str, Any]) -> Page:
    facts = model.facts
    rows = f"{counted(int(facts['rows']), 'row')}, {counted(model.features.width, 'feature')}"
    kind = "labels" if model.label_kind == "many" else "classes"
    classes = "numbers" if model.classes is None else f"{len(model.classes):,} {kind}"
    strength = f", regularization strength {facts['strength']:g}" if "strength" in facts else ""
    lines = [
        line(f"{rows}, {classes}{strength}"),
        line(f"{duration(how['seconds'])}, {size(Path(how['model']).stat().st_size)} on disk"),
    ]
    if int(facts.get("repeated", 0)) > MANY * int(facts["rows"]):
        share = percent(facts["repeated"] / facts["rows"])
        lines.append(
            line(f"{share} of the rows have a text that occurs more than once; equal texts are held out together")
        )
    if "compact" in facts:
        lines.append(line(f"compact: {compacted(facts['compact'])}"))
    return Page(tuple(lines))


def compacted(facts: dict[str, Any]) -> str:
    """The size of a compact model, and its loss of accuracy."""
    kept = f"{facts['features']:,} of {counted(int(facts['of']), 'feature')}, {facts['weights']} weights"
    if facts["lost"] is None:
        return f"{kept}; too few rows to measure the loss of accuracy"
    lost = 100 * facts["lost"]
    said = f"{lost:.2f} points of accuracy lost" if lost > 0 else "no accuracy lost"
    return f"{kept}; {said} on {counted(int(facts['held_out']), 'held-out row')} (from a second training)"


def _next(path: str) -> Page:
    lines = (
        f"linnaeus predict {path} new.csv -o answers.csv",
        f"linnaeus test {path} test.csv",
        f'linnaeus explain {path} "a text of yours"',
        f"linnaeus inspect {path}",
    )
    return Page(tuple(map(command, lines)))
