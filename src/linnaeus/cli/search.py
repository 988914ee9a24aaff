"""`linnaeus search MODEL [TEXT|DATA]`: the training texts most similar to a text, with their labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from linnaeus.cli import options as shared
from linnaeus.cli.texts import names_data
from linnaeus.errors import UsageError
from linnaeus.types import Source

if TYPE_CHECKING:
    from linnaeus.explain import Neighbor
    from linnaeus.model.model import Model
    from linnaeus.render import Page


@shared.verb("search", reads=True)
@click.argument("model")
@click.argument("source", metavar="TEXT|DATA")
@shared.count("-k", "--count", default=10, text="Number of results for each text.")
@shared.as_json("Print one JSON object per text.")
@shared.no_seed
def command(model: str, source: str, **options: shared.Option) -> int:
    """Find the training texts that are most similar to TEXT, or to each row of DATA.

    MODEL must contain its training texts, as models trained with `--set keep=texts` do.

    Examples:
      linnaeus train intents.csv --recipe knn --set keep=texts -o intents.lin
      linnaeus search intents.lin "where is my card"
      linnaeus search intents.lin "where is my card" -k 3 --json
      linnaeus search intents.lin questions.csv --json > found.jsonl

    """
    from linnaeus.cli.models import open_model

    found = open_model(model, source)
    if not found.task.texts:
        raise UsageError(f"{model} is not a text classifier, so it has no training texts to search.")
    for batch in _batches(found, source, options):
        nearest = found.search(batch, options["count"])  # refused where there are no texts
        texts = batch if isinstance(batch, list) else batch.text.to_pylist()
        for text, near in zip(texts, nearest, strict=True):
            _show(text, near, options)
    return 0


def _batches(model: Model, source: str, options: shared.Options) -> Iterator[Source]:
    """The text itself, or the rows of a file in batches."""
    if not names_data(source):
        yield [source]
        return
    opened = shared.open_source(model, source, options, labeled=False)
    yield from opened.batches()


def _show(text: str, near: list[Neighbor], options: shared.Options) -> None:
    screen = shared.stdout_screen(options)
    if options["as_json"]:
        found = [{"text": n.text, "label": n.label, "similarity": n.similarity, "row": n.row} for n in near]
        screen.write_json({"query": text, "found": found})
    else:
        screen.show(_page(text, near))


def _page(text: str, near: list[Neighbor]) -> Page:
    from linnaeus.render import Page, clean, cut, indent, line, table, title

    rows = [[f"{n.similarity:.3f}", clean(n.label), cut(clean(n.text), 80, "...")] for n in near]
    found = table(["likeness", "label", "text"], rows, "><<")
    return title(cut(clean(text), 80, "...")) + indent(found) + Page((line(),))
