"""`linnaeus search MODEL [TEXT|DATA]`: the training texts most similar to a text, with their labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from linnaeus.cli import options as shared
from linnaeus.cli.texts import names_data
from linnaeus.errors import UsageError

if TYPE_CHECKING:
    from linnaeus.explain import Neighbor
    from linnaeus.model.model import Model
    from linnaeus.render import Page

_EXAMPLES = """\b
Examples:
  linnaeus train intents.csv --recipe knn --set keep=texts -o intents.lin
  linnaeus search intents.lin "where is my card"
  linnaeus search intents.lin "where is my card" -k 3 --json
  linnaeus search intents.lin questions.csv --json > found.jsonl
"""


@click.command("search", epilog=_EXAMPLES)
@click.argument("model")
@click.argument("source", metavar="TEXT|DATA")
@shared.read_options
@click.option(
    "-k", "--count", type=click.IntRange(1), default=10, show_default=True, help="Number of results for each text."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per text.")
@click.option("--seed", type=int, default=0, hidden=True, help="A search draws nothing.")
@shared.common_options
def command(model: str, source: str, **options: Any) -> int:
    """Find the training texts that are most similar to TEXT, or to each row of DATA.

    MODEL must contain its training texts, as models trained with `--set keep=texts` do.
    """
    from linnaeus.cli.models import open_model

    shared.remark_kernels(options)
    with shared.use_threads(options):
        found = open_model(model, source)
        if not found.task.texts:
            raise UsageError(f"{model} is not a text classifier, so it has no training texts to search.")
        for batch in _batches(found, source, options):
            nearest = found.search(batch, options["count"])  # refused where there are no texts
            texts = batch if isinstance(batch, list) else batch.text.to_pylist()
            for text, near in zip(texts, nearest, strict=True):
                _show(text, near, options)
    return 0


def _batches(model: Model, source: str, options: dict[str, Any]) -> Any:
    """The text itself, or the rows of a file in batches."""
    if not names_data(source):
        return [[source]]
    return shared.open_source(model, source, options, labeled=False).batches()


def _show(text: str, near: list[Neighbor], options: dict[str, Any]) -> None:
    screen = shared.stdout_screen(options)
    if options["as_json"]:
        found = [{"text": n.text, "label": n.label, "similarity": n.similarity, "row": n.row} for n in near]
        screen.write(json.dumps({"query": text, "found": found}, ensure_ascii=False) + "\n")
    else:
        screen.show(_page(text, near))


def _page(text: str, near: list[Neighbor]) -> Page:
    from linnaeus.render import Page, clean, cut, indent, line, table, title

    rows = [[f"{n.similarity:.3f}", clean(n.label), cut(clean(n.text), 80, "...")] for n in near]
    found = table(["likeness", "label", "text"], rows, "><<")
    return title(cut(clean(text), 80, "...")) + indent(found) + Page((line(),))
