"""`linnaeus predict MODEL [DATA|TEXT|-]`: a prediction for every row, in order, in constant memory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linnaeus.cli import options as shared
from linnaeus.cli.tasks import open_model
from linnaeus.cli.texts import is_text, names_data
from linnaeus.errors import DataError

if TYPE_CHECKING:
    from linnaeus.data import Corpus
    from linnaeus.model.model import Classifier
    from linnaeus.tasks.classify.answers import Wish

_EXAMPLES = """\b
Examples:
  linnaeus predict spam.lin new.csv -o answers.csv
  linnaeus predict spam.lin new.jsonl --top 3 --keep id > answers.jsonl
  linnaeus predict spam.lin new.parquet -o answers.parquet --abstain confidence=0.8
  linnaeus predict spam.lin "free prize, call now"
  echo "free prize, call now" | linnaeus predict spam.lin

\b
Without -o, one JSON object per row goes to stdout. Standard input has one text per line, unless --format is given.
Exit code: 0 success, 3 if the data cannot be used, 4 if the model cannot.
"""


@click.command("predict", epilog=_EXAMPLES)
@click.argument("model")
@click.argument("data", default="-", metavar="[DATA|TEXT|-]")
@shared.read_options
@click.option("--top", type=click.IntRange(0), default=0, metavar="K", help="Also write the K most probable classes.")
@click.option(
    "--abstain", metavar="RULE", help="Predict only if sure: confidence=0.8, margin=0.2, coverage=0.9 or scope=0.95."
)
@click.option("--keep", multiple=True, metavar="COLUMN", help="Copy a column of the input to the output; repeatable.")
@click.option("--scope", is_flag=True, help="Also write how unlike the training data each row is, from 0 to 1.")
@click.option("-o", "--output", metavar="FILE", help="Output file: .jsonl, .csv, .tsv or .parquet.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines (the default without -o).")
@click.option("--seed", type=int, default=0, hidden=True, help="Predictions draw nothing.")
@shared.common_options
def command(model: str, data: str, **options: Any) -> int:
    """Predict a label for every row of DATA with MODEL; `-` means standard input.

    An argument of several words that is not a file name is treated as one TEXT.
    """
    from linnaeus.cli.writers import refuse_existing
    from linnaeus.model.file import classifier_of

    shared.remark_kernels(options)
    refuse_existing(options["output"], options["force"])
    shared.refuse_itself(options["output"], data)
    with shared.use_threads(options):
        task, state = open_model(model, data=data)
        if task is not None:
            code: int = task.predict(state, data, options)
            return code
        return classifier(classifier_of(state), data, options)


def classifier(found: Classifier, data: str, options: dict[str, Any], ready: Any = None) -> int:
    """The predictions of a classifier or regression; `ready` adds the outputs of earlier stages to the corpus."""
    from linnaeus.cli.writers import open_writer
    from linnaeus.tasks.classify.answers import Wish

    corpus = _read(found, data, options)
    corpus = corpus if ready is None else ready(corpus)
    abstain = shared.abstention(options, found)
    wish = Wish(top=options["top"], abstain=abstain, keep=_kept(corpus, options), scope=options["scope"])
    separator = _separator(found, wish, options)
    with open_writer(options["output"], sys.stdout, separator) as write:
        _run(found, corpus, (wish, write), options)
    return 0


def _separator(model: Classifier, wish: Wish, options: dict[str, Any]) -> str:
    """The separator of labels in one cell; refused before any work if it occurs in a label."""
    from linnaeus.cli.cells import SEPARATOR, refuse_separator
    from linnaeus.cli.writers import has_cells
    from linnaeus.decision.abstain import Coverage

    separator = shared.label_separator(model, options) or SEPARATOR
    rule = wish.abstain or (model.decision.rules.abstain if model.decision else None)
    many = model.label_kind == "many" or isinstance(rule, Coverage)
    if has_cells(options["output"]) and many and model.classes is not None:
        refuse_separator(separator, map(str, model.classes.tolist()))
    return separator


def _run(model: Classifier, corpus: Corpus, how: tuple[Wish, Any], options: dict[str, Any]) -> None:
    from linnaeus.cli.progress import Mark, open_progress
    from linnaeus.tasks.classify.answers import answers

    (wish, write), empty = how, True
    with open_progress(options["quiet"] or options["output"] is None) as progress:
        for batch in corpus.watch(lambda at: progress(Mark("predicting", at.rows, at.done, at.total))).batches():
            write(answers(model, batch, wish))
            empty = False
    if empty:  # a file without rows still has its columns
        write(answers(model, corpus.batch(), wish))
    if corpus.skipped.count:
        shared.remark(str(corpus.skipped), options)


def _read(model: Classifier, data: str, options: dict[str, Any]) -> Corpus:
    """Data without labels: a label column, if any, is ignored. Lines of standard input are texts."""
    if is_text(data):
        from linnaeus.data import read

        return read([data])
    _refuse_word(data)
    given = {**options, "label": options["label"] or ""}
    if data == "-" and not options["format"]:
        given["format"] = "lines"
    return shared.read_source(data, given, model)


def _refuse_word(data: str) -> None:
    """Refuse a single word, which may be a text or a misspelled file name."""
    if Path(data).suffix or "/" in data or names_data(data):
        return
    raise DataError(
        f"There is no file {data!r}; check the name, or pass this text on standard input: "
        "`echo TEXT | linnaeus predict MODEL`; `linnaeus explain MODEL TEXT` also says why."
    )


def _kept(corpus: Corpus, options: dict[str, Any]) -> tuple[str, ...]:
    """The requested columns; an `id` column is always kept."""
    asked = tuple(name for text in options["keep"] for name in text.split(","))
    return asked if asked or "id" not in corpus.columns else ("id",)
