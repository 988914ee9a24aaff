"""`linnaeus inspect MODEL`: the contents of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from linnaeus.cli import options as shared
from linnaeus.cli.models import CHECKED, digests, read_state
from linnaeus.protocols import RanksLabels, capability
from linnaeus.types import Json

if TYPE_CHECKING:
    from linnaeus.model.model import Model
    from linnaeus.render import Page

_SHOWN = 20


@shared.verb("inspect", works=False)
@click.argument("model")
@click.option("--verify", is_flag=True, help="Check the digest of every tensor, also of large ones.")
@click.option("--recipe", "as_recipe", is_flag=True, help="Print only the recipe, as TOML.")
@shared.as_json()
@shared.no_seed
def command(model: str, **options: shared.Option) -> int:
    """Show the recipe, classes, training data, held-out metrics and file contents of MODEL.

    Examples:
      linnaeus inspect topics.lin
      linnaeus inspect topics.lin --verify
      linnaeus inspect topics.lin --recipe > again.toml

    """
    from linnaeus.model.file import model_of

    state = read_state(model, True if options["verify"] else None)
    found = model_of(state)
    if options["verify"] and (own := capability(found.body, RanksLabels)) is not None:
        own.verify()
    checked = digests(state)
    screen = shared.stdout_screen(options)
    if options["as_recipe"]:
        screen.write(found.recipe.to_toml())
    elif options["as_json"]:
        screen.write_json(described(found, model, checked))
    else:
        from linnaeus.cli.account import held_out
        from linnaeus.render import stack

        pages = [_page(found, model, checked)]
        if found.evaluation is not None:
            pages.append(found.evaluation.page(screen.glyphs, held_out(found)))
        screen.show(stack(pages))
    return 0


def described(model: Model, path: str, checked: str = CHECKED) -> dict[str, Json]:
    """All contents except the arrays."""
    from linnaeus.model.summary import remains
    from linnaeus.store.blocks import raw

    W, held = raw(model.params, "W"), remains(model)
    return {
        "model": path,
        "task": model.task.name,
        "bytes": Path(path).stat().st_size,
        "keeps_texts": model.kept is not None or held.texts,
        "keeps_rows": held.rows,
        "labels": model.label_kind if model.task.texts else model.form,
        "stages": [name for name, _ in model.stages],
        "classes": None if model.classes is None else [str(name) for name in model.classes.tolist()],
        "label_count": None if model.many is None else len(model.many),
        "features": model.features.width,
        "weights": None if W is None else list(W.shape),
        "recipe": model.recipe.to_json(),
        "evaluation": None if model.evaluation is None else model.evaluation.to_json(),
        "facts": model.facts,
        "digests": checked,
    }


def _page(model: Model, path: str, checked: str) -> Page:
    from linnaeus.cli.account import compacted, examples, out_of_fold
    from linnaeus.evaluation import KINDS
    from linnaeus.render import Page, clean, counted, indent, line, size, table, title

    facts = model.facts
    names = [] if model.classes is None else [clean(str(name)) for name in model.classes.tolist()]
    many = model.many
    if many is not None:
        names = [clean(str(many[at])) for at in range(min(len(many), _SHOWN + 1))]
    mark = f", fingerprint {str(facts['fingerprint'])[:16]}" if "fingerprint" in facts else ""
    count = len(names) if many is None else len(many)
    more = f" and {count - _SHOWN:,} more" if count > _SHOWN else ""
    cells = [
        ("texts", _texts(model)),
        ("task", model.task.name),
        *([("estimator", estimator["name"])] if (estimator := facts.get("estimator")) else []),
        (
            KINDS[model.task.evaluated(model)].outputs if names else "predicts",
            ", ".join(names[:_SHOWN]) + more if names else model.form,
        ),
        ("trained on", examples(model) + mark),
        ("features", f"{model.features.width:,}"),
        *_learned(model),
        ("strength", _strength(facts)),
        ("file", f"{size(Path(path).stat().st_size)}, written by Linnaeus {facts.get('version', '')}"),
        ("digests", checked),
    ]
    if "compact" in facts:
        cells.insert(5, ("compact", compacted(facts["compact"])))
    for name, stage in facts.get("stages", {}).items():
        cells.append((f"stage {name}", f"{counted(int(stage['rows']), 'row')}{out_of_fold(stage)}"))
    return title(clean(path)) + indent(table(["", ""], cells, "<<")) + Page((line(),))


def _strength(facts: dict[str, Json]) -> str:
    """The regularization strength, and how many values were tried if it was tuned."""
    if facts.get("strength") is None:
        return "as in the recipe"
    tried = len(facts.get("tried", []))
    return f"{facts['strength']:g}" + (f", the best of {tried}" if tried > 1 else "")


def _learned(model: Model) -> list[tuple[str, str]]:
    """How the model was trained, and the size of its parameters."""
    from linnaeus.render import counted, size
    from linnaeus.store.blocks import raw

    cells, facts = [], model.facts
    if model.params:
        W = raw(model.params, "W")
        cells.append(("weights", f"{W.shape[0]:,} x {W.shape[1]:,} {W.dtype}, {size(W.nbytes)}"))
    if model.body is not None:
        own = capability(model.body, RanksLabels)  # the state of a large one would be checked as a whole
        held = own.nbytes if own is not None else sum(a.nbytes for a in model.body.state().tensors.values())
        return [*cells, ("learner", f"{type(model.recipe.learner).__name__}, {size(held)} of parameters")]
    ended = f"{facts.get('ending', '')} after {counted(int(facts.get('epochs', 0)), 'epoch')}"
    return [*cells, ("loss", type(model.recipe.learner.loss).__name__), ("ended", ended)]


def _texts(model: Model) -> str:
    """Whether the file contains training texts, which matters before sharing it."""
    from linnaeus.model.summary import remains
    from linnaeus.render import counted

    if model.kept is None:
        return str(remains(model))
    return f"KEPT: {counted(len(model.kept), 'training text')} are in the file, with their labels; share it with care"
