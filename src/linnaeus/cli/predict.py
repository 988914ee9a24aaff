"""`linnaeus predict MODEL [DATA|TEXT|-]`: a prediction for every row, in order, in constant memory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linnaeus.cli import options as shared
from linnaeus.cli.models import open_model
from linnaeus.cli.texts import is_text, names_data
from linnaeus.errors import DataError
from linnaeus.types import Source

if TYPE_CHECKING:
    from linnaeus.cli.writers import Write
    from linnaeus.model.model import Model
    from linnaeus.tasks.base import Wish


@shared.verb("predict", reads=True)
@click.argument("model")
@click.argument("data", default="-", metavar="[DATA|TEXT|-]")
@click.option("--top", type=click.IntRange(0), default=0, metavar="K", help="Also write the K best answers.")
@shared.abstain
@shared.several("--keep", metavar="COLUMN", text="Copy a column of the input to the output")
@click.option("--scope", is_flag=True, help="Also write how unlike the training data each row is, from 0 to 1.")
@click.option("--lines", is_flag=True, help="Print a line for each token: with a tab and its tag, or as CoNLL-U.")
@click.option("--entities", is_flag=True, help="Of a tagger: print only the entities that tags mark, one per line.")
@click.option("-o", "--output", metavar="FILE", help="Output file: .jsonl, .csv, .tsv, .parquet, .conll or .conllu.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@shared.as_json("Print JSON lines (the default without -o).")
@shared.no_seed
def command(model: str, data: str, **options: shared.Option) -> int:
    """Predict an answer for every row of DATA with MODEL; `-` means standard input.

    An answer is a label, several labels, a number, tags or heads of tokens, or a candidate. An argument of several
    words that is not a file name is treated as one TEXT.

    Examples:
      linnaeus predict spam.lin new.csv -o answers.csv
      linnaeus predict spam.lin new.jsonl --top 3 --keep id > answers.jsonl
      linnaeus predict spam.lin new.parquet -o answers.parquet --abstain confidence=0.8
      linnaeus predict spam.lin "free prize, call now"
      echo "free prize, call now" | linnaeus predict spam.lin
      linnaeus predict pos.lin "The fox jumps." --lines

    Without -o, one JSON object per row goes to stdout. Standard input has one text per line, unless --format is given.
    Exit code: 0 success, 3 if the data cannot be used, 4 if the model cannot.

    """
    return run(model, data, options)


def run(path: str, data: str, options: shared.Options, words: bool = False) -> int:
    """Predict, and write the answers; with `words` a single word that names no data is a text, too."""
    from linnaeus.cli.writers import open_writer, refuse_lists, refuse_suffix
    from linnaeus.tasks.base import Wish

    refuse_suffix(options["output"])
    shared.refuse_existing(options["output"], options["force"])
    shared.refuse_itself(options["output"], data)
    model = open_model(path, data)
    refuse_lists(model, options, words)
    text = is_text(data) or (words and not names_data(data))
    source = model.task.of_text(data) if text else _open(model, data, options)
    abstain = shared.abstention(options, model)
    wish = Wish(top=options["top"], abstain=abstain, keep=_kept(source, options), scope=options["scope"])
    model.task.refuse_wish(wish)
    with open_writer(sys.stdout, model, _separator(model, wish, options), options) as write:
        _write(model, source, wish, write, options)
    return 0


def _separator(model: Model, wish: Wish, options: shared.Options) -> str:
    """The separator of labels in one cell; refused before any work if it occurs in a label."""
    from linnaeus.cli.writers import SEPARATOR, has_cells, refuse_separator
    from linnaeus.decision.abstention import Coverage

    separator = shared.label_separator(model, options) or SEPARATOR
    rule = wish.abstain or (model.decision.rules.abstain if model.decision else None)
    many = model.label_kind == "many" or isinstance(rule, Coverage)
    if has_cells(options["output"]) and many and model.classes is not None:
        refuse_separator(separator, map(str, model.classes.tolist()))
    if has_cells(options["output"]) and many and model.many is not None:
        refuse_separator(separator, model.many.containing(separator))
    return separator


def _write(model: Model, source: Source, wish: Wish, write: Write, options: shared.Options) -> None:
    from linnaeus.cli.progress import Mark, open_progress

    empty = True
    with open_progress(options["quiet"] or options["output"] is None) as progress:
        watched = source.watch(lambda at: progress(Mark("predicting", at.rows, at.done, at.total)))
        for batch in model.task.units(model, watched):
            write(model.task.columns(model, batch, wish))
            empty = False
    if empty:  # a file without rows still has its columns
        write(model.task.columns(model, source.batch(), wish))
    if watched.skipped.count:
        shared.remark(str(watched.skipped), options)


def _open(model: Model, data: str, options: shared.Options) -> Source:
    """Data without labels: a label column, if any, is ignored."""
    _refuse_word(data)
    return shared.open_source(model, data, options, labeled=False)


def _refuse_word(data: str) -> None:
    """Refuse a single word, which may be a text or a misspelled file name."""
    if Path(data).suffix or "/" in data or names_data(data):
        return
    raise DataError(
        f"There is no file {data!r}; check the name, or pass this text on standard input: "
        "`echo TEXT | linnaeus predict MODEL`; `linnaeus explain MODEL TEXT` also says why."
    )


def _kept(source: Source, options: shared.Options) -> tuple[str, ...]:
    """The requested columns; an `id` column is always kept."""
    asked = tuple(name for text in options["keep"] for name in text.split(","))
    return asked if asked or "id" not in source.columns else ("id",)
