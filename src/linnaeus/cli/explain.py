"""`linnaeus explain MODEL [TEXT|DATA]`: explain a prediction, or show what a model has learned."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linnaeus.cli import options as shared
from linnaeus.cli.models import open_model
from linnaeus.cli.texts import names_data
from linnaeus.errors import DataError, UsageError
from linnaeus.types import Source

if TYPE_CHECKING:
    from linnaeus.explain import Explanation
    from linnaeus.model.model import Model

SHOWN = 20
"""At most this many classes are shown if none is named."""


@shared.verb("explain", reads=True)
@click.argument("model")
@click.argument("source", required=False, metavar="[TEXT|DATA]")
@shared.several("--class", "classes", metavar="NAME", text="Also explain this class")
@shared.count("--rows", default=1, text="Number of rows of DATA to explain.")
@shared.count("--features", default=10, text="Number of words to show.")
@click.option("--detail", is_flag=True, help="Also show the features within each word, such as its runs of characters.")
@click.option("--html", "as_html", is_flag=True, help="Print HTML that needs no other files.")
@shared.as_json("Print JSON with character offsets, one object per line.")
@shared.no_seed
def command(model: str, source: str | None, **options: shared.Option) -> int:
    """Show how much each word of a text adds to the score of the predicted class.

    Contributions and bias add up to the score. Without TEXT or DATA, show the strongest features of each class.

    Examples:
      linnaeus explain spam.lin "free prize, call now"
      linnaeus explain spam.lin "free prize, call now" --class ham
      linnaeus explain spam.lin "free prize, call now" --detail
      linnaeus explain spam.lin new.csv --rows 3
      linnaeus explain spam.lin "free prize" --html > why.html

    What a model has learned, class by class:
      linnaeus explain spam.lin

    """
    found = open_model(model, source)
    if options["as_html"]:
        _begin_html(source, options)
    if source is None:
        _show_features(found, options)
        return 0
    for example, at in _examples(found, source, options):
        _show(found.explain(example, at, options["classes"]), options)
    return 0


def _examples(model: Model, source: str, options: shared.Options) -> Iterator[tuple[Source, int]]:
    """The text itself, or the first examples of a file; of a tagger each of their tokens."""
    if names_data(source):
        opened = shared.open_source(model, source, options, labeled=False)
    else:
        if Path(source).suffix and not source.split(maxsplit=1)[1:]:
            shared.remark(f"there is no file {source}, so this is explained as a text", options)
        opened = model.task.of_text(source)
    some = False
    for example in model.task.explained(opened, options["rows"]):
        some = True
        yield example
    if not some:
        raise DataError("There are no rows to explain.")


def _show(explanation: Explanation, options: shared.Options) -> None:
    screen = shared.stdout_screen(options)
    if options["as_json"]:
        screen.write_json(explanation.to_json())
    elif options["as_html"]:
        screen.write(explanation.to_html(options["features"]) + "\n")
    else:
        screen.show(explanation.page(screen.glyphs, screen.marks, options["features"], options["detail"]))


def _begin_html(source: str | None, options: shared.Options) -> None:
    """What makes the explanations that follow a page, which browsers read in the encoding that it is written in."""
    from linnaeus.render import cut, html_text

    if source is None:
        raise UsageError("--html shows the explanation of a text; give a TEXT or DATA.")
    screen = shared.stdout_screen(options)
    charset = (screen.stream.encoding or "utf-8").lower()
    screen.write(f'<!doctype html>\n<meta charset="{charset}">\n<title>{html_text(cut(source, 60))}</title>\n')


def _show_features(model: Model, options: shared.Options) -> None:
    from linnaeus.explain import top_page

    if not model.task.texts:
        raise UsageError(
            "To explain predictions of this model, give a text or a file of examples; it has no classes of texts."
        )
    screen = shared.stdout_screen(options)
    names = options["classes"] or model.linear.classes
    shown = names if options["as_json"] or options["classes"] else names[:SHOWN]
    tops = model.top_features(options["features"], shown)
    if options["as_json"]:
        for top in tops:
            sides = {side: [[w.name, w.weight] for w in getattr(top, side)] for side in ("positive", "negative")}
            screen.write_json({"label": top.name, **sides})
        return
    screen.show(top_page(tops, screen.glyphs))
    if len(shown) < len(names):
        more = f"{len(names) - len(shown):,} more of {len(names):,} classes"
        screen.write(f"\n{more}: name those to show with --class, or use --json for all\n")
