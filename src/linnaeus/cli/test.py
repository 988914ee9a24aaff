"""`linnaeus test MODEL DATA`: evaluate a model on labeled data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from linnaeus.cli import options as shared
from linnaeus.cli.tasks import open_model
from linnaeus.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from linnaeus.data import Corpus
    from linnaeus.evaluation import Evaluation, Gate, Slices
    from linnaeus.evaluation.outcome import Task
    from linnaeus.model.model import Classifier

TASKS: dict[str, Task] = {"one": "single", "many": "sets", "numeric": "numbers"}
"""What is evaluated, by the kind of labels."""

_EXAMPLES = """\b
Examples:
  linnaeus test topics.lin test.csv
  linnaeus test topics.lin test.csv --min accuracy=0.9 --min macro-f1=0.85 --max log-loss=0.5
  linnaeus test topics.lin test.csv --json | jq .metrics.accuracy
  linnaeus test topics.lin test.csv --by source --by length

\b
Exit code: 0 if every --min and --max is kept, 1 if not, 3 if the data cannot be used, 4 if the model cannot.
"""


@click.command("test", epilog=_EXAMPLES)
@click.argument("model")
@click.argument("data")
@shared.read_options
@click.option(
    "--min",
    "least",
    multiple=True,
    metavar="METRIC=VALUE",
    help="Exit with 1 if the metric is below VALUE; repeatable.",
)
@click.option(
    "--max", "most", multiple=True, metavar="METRIC=VALUE", help="Exit with 1 if the metric is above VALUE; repeatable."
)
@click.option(
    "--by",
    "columns",
    multiple=True,
    metavar="COLUMN",
    help="Also evaluate each value of a column, or each text `length`; repeatable.",
)
@click.option(
    "--abstain", metavar="RULE", help="Predict only if sure: confidence=0.8, margin=0.2, coverage=0.9 or scope=0.95."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed of the bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a page.")
@shared.common_options
def command(model: str, data: str, **options: Any) -> int:
    """Compare the predictions of MODEL with the labels of DATA.

    Shows metrics with confidence intervals, scores of each class, and the most frequent confusions.
    """
    from linnaeus.model.file import classifier_of

    shared.remark_kernels(options)
    options = shared.choose_part(data, options, "test")
    with shared.use_threads(options):
        task, state = open_model(model, data=data)
        if task is not None:
            code: int = task.test(state, data, options)
            return code
        return classifier(classifier_of(state), data, options)


def classifier(found: Classifier, data: str, options: dict[str, Any], ready: Any = None) -> int:
    """Test a classifier, or a regression, of texts; `ready` gives the corpus what earlier stages say of it."""
    gates = wanted(options, TASKS[found.label_kind])
    given = {
        **options,
        "label_kind": options["label_kind"] or found.label_kind,
        "label_separator": _separator(found, options),
    }
    corpus = shared.read_source(data, given, found)
    evaluation, parts = run(found, corpus if ready is None else ready(corpus), options)
    return show(evaluation, parts, gates, options)


def run(model: Classifier, corpus: Corpus, options: dict[str, Any]) -> tuple[Evaluation, list[Slices]]:
    """The evaluation of all rows, and that of slices."""
    from linnaeus.cli.progress import Mark, open_progress
    from linnaeus.evaluation import Accumulator, by_length, column, slices
    from linnaeus.tasks.classify.unknown_labels import UnknownLabels

    abstain = shared.abstention(options, model)
    seen, unknown = Accumulator(), UnknownLabels(model.classes)
    values: dict[str, list[Any]] = {name: [] for name in options["columns"]}
    with open_progress(options["quiet"]) as progress:
        for batch in corpus.watch(lambda at: progress(Mark("testing", at.rows, at.done, at.total))).batches():
            seen.add(model.outcome(batch, abstain=abstain))
            unknown.add(batch.labels)
            for name, kept in values.items():
                kept.extend(_column(batch, name))
    if not len(seen):
        raise DataError("There are no rows to test on.")
    found = seen.evaluation(1000, options["seed"])
    if said := unknown.sentence(found.unknown, found.rows):
        shared.remark(said, options)
    by = [by_length(kept) if name == "length" else column(name, kept) for name, kept in values.items()]
    return found, [slices(seen.facts(), part, seed=options["seed"]) for part in by]


def _separator(model: Classifier, options: dict[str, Any]) -> str | None:
    """What stands between labels in one cell; where nobody says, as `predict` writes them."""
    from linnaeus.cli.cells import SEPARATOR

    given = shared.label_separator(model, options)
    if given is not None or model.label_kind != "many" or model.classes is None:
        return given
    return None if any(SEPARATOR in str(name) for name in model.classes.tolist()) else SEPARATOR


def _column(batch: Any, name: str) -> list[Any]:
    if name == "length":
        return list(batch.text.to_pylist())
    if name not in batch.columns:
        known = ["length", *batch.columns]
        raise DataError(f"There is no column {name!r} to test by; {did_you_mean(name, known)}")
    return list(batch.columns[name].to_pylist())


def wanted(options: dict[str, Any], task: Task) -> list[Gate]:
    """The bounds of `--min` and `--max`, for metrics of a task."""
    from linnaeus.evaluation import gate

    given = [("--min", text) for text in options["least"]] + [("--max", text) for text in options["most"]]
    return [gate(option, text, task) for option, text in given]


def show(evaluation: Evaluation, parts: Sequence[Slices], gates: list[Gate], options: dict[str, Any]) -> int:
    """The evaluation and its slices as JSON or as pages; the exit code is 1 if a bound is missed."""
    from linnaeus.evaluation import missed

    screen, below = shared.stdout_screen(options), missed(evaluation, gates)
    if options["as_json"]:
        account = evaluation.to_json() | {"slices": [part.to_json() for part in parts]}
        account["missed"] = [gate.to_json() for gate in below]
        screen.write(json.dumps(account, ensure_ascii=False) + "\n")
    else:
        for found in (evaluation, *parts):
            screen.show(found.page(screen.glyphs))
    for gate in below:
        shared.remark(gate.sentence(evaluation), {**options, "quiet": False})
    return 1 if below else 0
