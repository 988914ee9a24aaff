"""`linnaeus test MODEL DATA`: evaluate a model on labeled data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from linnaeus.cli import options as shared
from linnaeus.cli.models import open_model

if TYPE_CHECKING:
    from linnaeus.evaluation import Evaluation, Gate, Slices
    from linnaeus.evaluation.outcome import Task


@shared.verb("test", reads=True)
@click.argument("model")
@click.argument("data")
@shared.several("--min", "least", metavar="METRIC=VALUE", text="Exit with 1 if the metric is below VALUE")
@shared.several("--max", "most", metavar="METRIC=VALUE", text="Exit with 1 if the metric is above VALUE")
@shared.several("--by", "columns", metavar="COLUMN", text="Also evaluate each value of a column, or each text `length`")
@shared.abstain
@shared.count("--seed", least=0, default=0, text="Random seed of the bootstrap.")
@shared.as_json()
def command(model: str, data: str, **options: shared.Option) -> int:
    """Compare the predictions of MODEL with the labels of DATA.

    Shows metrics with confidence intervals, scores of each class, and the most frequent confusions.

    Examples:
      linnaeus test topics.lin test.csv
      linnaeus test topics.lin test.csv --min accuracy=0.9 --min macro-f1=0.85 --max log-loss=0.5
      linnaeus test topics.lin test.csv --json | jq .metrics.accuracy
      linnaeus test topics.lin test.csv --by source --by length

    Exit code: 0 if every --min and --max is kept, 1 if not, 3 if the data cannot be used, 4 if the model cannot.

    """
    from linnaeus.cli.progress import Mark, open_progress
    from linnaeus.tasks.judging import judge

    options = shared.choose_part(data, options, "test")
    with shared.remarking(options):
        found = open_model(model, data)
        gates = wanted(options, found.task.evaluated(found))
        source = shared.open_source(found, data, shared.labels_as(found, options))
        abstain = shared.abstention(options, found)
        with open_progress(options["quiet"]) as progress:
            watched = source.watch(lambda at: progress(Mark("testing", at.rows, at.done, at.total)))
            evaluation, parts = judge(found, watched, abstain, by=options["columns"], seed=options["seed"])
        return show(evaluation, parts, gates, options)


def wanted(options: shared.Options, task: Task) -> list[Gate]:
    """The bounds of `--min` and `--max`, for metrics of a task."""
    from linnaeus.evaluation import gate

    given = [("--min", text) for text in options["least"]] + [("--max", text) for text in options["most"]]
    return [gate(option, text, task) for option, text in given]


def show(evaluation: Evaluation, parts: Sequence[Slices], gates: list[Gate], options: shared.Options) -> int:
    """The evaluation and its slices as JSON or as pages; the exit code is 1 if a bound is missed."""
    from linnaeus.evaluation import missed

    screen, below = shared.stdout_screen(options), missed(evaluation, gates)
    if options["as_json"]:
        account = evaluation.to_json() | {"slices": [part.to_json() for part in parts]}
        account["missed"] = [gate.to_json() for gate in below]
        screen.write_json(account)
    else:
        for found in (evaluation, *parts):
            screen.show(found.page(screen.glyphs))
    for gate in below:
        shared.remark(gate.sentence(evaluation), {**options, "quiet": False})
    return 1 if below else 0
