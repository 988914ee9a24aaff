"""The page that `train` shows at the end: the model, its metrics, and the next commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from linnaeus.cli.texts import quoted
from linnaeus.data.split import MANY
from linnaeus.evaluation.metrics import KINDS
from linnaeus.render import Page, clean, command, counted, duration, indent, line, percent, size, stack, title
from linnaeus.types import Json

if TYPE_CHECKING:
    from linnaeus.evaluation import Evaluation
    from linnaeus.model.model import Model
    from linnaeus.render import Glyphs

GAP = Page((line(),))


def trained_page(model: Model, tested: Evaluation | None, how: dict[str, Json], glyphs: Glyphs) -> Page:
    """Facts, scores and next commands."""
    pages = [title(f"Trained {clean(how['model'])}") + indent(_facts(model, how))]
    if model.evaluation is not None:
        pages += [GAP, model.evaluation.page(glyphs, held_out(model))]
    if tested is not None:
        pages += [GAP, tested.page(glyphs, "test data")]
    return stack([*pages, title("Next") + indent(_next(model, quoted(clean(how["model"]))))])


def held_out(model: Model) -> str:
    """The name of the examples that were held out."""
    return f"held-out {KINDS[model.task.evaluated(model)].row}s of the training data"


def _facts(model: Model, how: dict[str, Json]) -> Page:
    facts, kind = model.facts, KINDS[model.task.evaluated(model)]
    strength = f", regularization strength {facts['strength']:g}" if "strength" in facts else ""
    lines = [
        line(f"{examples(model)}, {counted(model.features.width, 'feature')}, {outputs(model)}{strength}"),
        line(f"{duration(how['seconds'])}, {size(Path(how['model']).stat().st_size)} on disk"),
    ]
    if int(facts.get("repeated", 0)) > MANY * int(facts["rows"]):
        share = percent(facts["repeated"] / facts["rows"])
        said, what = ("have a text that occurs", "text") if model.task.texts else ("occur", kind.row)
        lines.append(line(f"{share} of the {kind.row}s {said} more than once; equal {what}s are held out together"))
    if "compact" in facts:
        lines.append(line(f"compact: {compacted(facts['compact'])}"))
    for name, stage in facts.get("stages", {}).items():
        lines.append(line(f"stage {name}: {counted(int(stage['rows']), 'row')}{out_of_fold(stage)}"))
    return Page(tuple(lines))


def out_of_fold(stage: dict[str, Json]) -> str:
    """How many further models a stage has, for rows that later stages learn from."""
    return f", {counted(int(stage['folds']), 'model')} without a part of them" if stage.get("folds") else ""


def examples(model: Model) -> str:
    """How many examples a model was trained on, and what they consist of."""
    kind = KINDS[model.task.evaluated(model)]
    if "imported" in model.facts:
        return f"unknown data, by {clean(str(model.facts['imported']))}"
    parts = [counted(int(model.facts.get("rows", 0)), kind.row)]
    parts += [counted(int(model.facts[kind.units]), kind.units.rstrip("s"))] if kind.units in model.facts else []
    return ", ".join(parts)


def outputs(model: Model) -> str:
    """What the model predicts, and how many there are."""
    if model.many is not None:
        return f"{len(model.many):,} {KINDS[model.task.evaluated(model)].outputs}"
    if model.classes is None:
        return model.form
    return f"{len(model.classes):,} {KINDS[model.task.evaluated(model)].outputs}"


def compacted(facts: dict[str, Json]) -> str:
    """The size of a compact model, and its loss of accuracy."""
    kept = f"{facts['features']:,} of {counted(int(facts['of']), 'feature')}, {facts['weights']} weights"
    if facts["lost"] is None:
        return f"{kept}; too few rows to measure the loss of accuracy"
    lost = 100 * facts["lost"]
    said = f"{lost:.2f} points of accuracy lost" if lost > 0 else "no accuracy lost"
    return f"{kept}; {said} on {counted(int(facts['held_out']), 'held-out row')} (from a second training)"


def _next(model: Model, path: str) -> Page:
    return Page(tuple(command(f"linnaeus {words.format(model=path)}") for words in model.task.commands))
