"""`linnaeus import MODEL -o FILE`: a classifier of another program as a model of Linnaeus."""

from __future__ import annotations

from pathlib import Path

import click

from linnaeus.cli import options as shared
from linnaeus.cli.texts import quoted
from linnaeus.errors import UsageError


@shared.verb("import")
@click.argument("source", metavar="MODEL")
@click.option("-o", "--output", metavar="FILE", help="Output file (default: the name of MODEL with .lin).")
@click.option(
    "--prefix", metavar="TEXT", default="__label__", show_default=True, help="What stands before labels, taken off."
)
@click.option("--force", is_flag=True, help="Overwrite an existing FILE.")
@shared.no_seed
def command(source: str, output: str | None, prefix: str, **options: shared.Option) -> int:
    """Read a classifier that fastText saved, and write a model that gives the same labels and probabilities.

    MODEL is a .bin file of `fasttext supervised`, or a quantized .ftz file, whose tables stay quantized.

    Examples:
      linnaeus import model.bin -o topics.lin
      linnaeus import lid.176.ftz
      linnaeus predict lid.176.lin "Wie geht es dir?" --top 3

    """
    from linnaeus.model.fasttext import import_fasttext
    from linnaeus.store.header import is_model

    output = output or source.removesuffix(Path(source).suffix) + ".lin"
    shared.refuse_existing(output, options["force"])
    shared.refuse_itself(output, source)
    if is_model(source):
        raise UsageError(f"{source} is a model of Linnaeus already; use it as it is.")
    model = import_fasttext(source, prefix)
    model.save(output, force=True)
    loss, labels, features = model.recipe.learner.loss, len(model.names), model.features.width
    shared.remark(f"{labels:,} labels, {features:,} features, loss {loss}: {output}", options)
    shared.remark(f'next: linnaeus predict {quoted(output)} "a text of yours"', options)
    return 0
