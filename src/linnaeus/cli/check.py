"""`linnaeus check DATA [OTHER]`: check labeled data before training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from linnaeus.cli import options as shared
from linnaeus.errors import DataError

if TYPE_CHECKING:
    from linnaeus.audit import Audit
    from linnaeus.data import Corpus


@shared.verb("check", reads=True)
@click.argument("data")
@click.argument("other", required=False)
@shared.several("--limit", "limits", metavar="NAME=SHARE", text="Largest accepted share of a finding")
@click.option("--near", default=0.8, show_default=True, help="Jaccard similarity of near-duplicates, up to 1.")
@shared.count("--examples", least=0, default=3, text="Number of rows to show for each finding.")
@shared.as_json()
def command(data: str, other: str | None, **options: shared.Option) -> int:
    """Check DATA before training. Compare them with OTHER, such as test data, if it is given.

    Shows labels, lengths, scripts and vocabulary. Finds empty texts, duplicates, near-duplicates, wrongly decoded
    texts, conflicting labels, rare labels, and rows that are in both DATA and OTHER. `-` means standard input.

    Examples:
      linnaeus check reviews.csv
      linnaeus check train.jsonl test.jsonl --limit leaks=0
      linnaeus check data.csv --text body --label topic --json | jq .findings
      zcat big.tsv.gz | linnaeus check - --format tsv

    Exit code: 0 if every finding is within its limit, 1 if not, 3 if the data cannot be read.

    """
    audit, headed = audit_sources(data, other, options)
    screen = shared.stdout_screen(options)
    if options["as_json"]:
        screen.write_json(audit.to_json())
    else:
        from linnaeus.audit.page import COUNTED, HEADED, audit_page

        names = [_name(source) for source in (data, other) if source is not None]
        screen.show(audit_page(audit, names, screen.glyphs, HEADED if headed else COUNTED))
    return 0 if audit.ok else 1


def audit_sources(data: str, other: str | None, options: shared.Options) -> tuple[Audit, bool]:
    """Read and check the data that the arguments name, with progress on stderr; and whether all have headers."""
    from linnaeus.audit import Limits, Near, check
    from linnaeus.cli.progress import Phases, open_progress

    limits, near = Limits().changed(list(options["limits"])), Near(options["near"])
    if "" in (data, other):
        raise click.UsageError("The file name is empty; perhaps a shell variable is not set.")
    if data == other == "-":
        raise click.UsageError("Standard input can be read only once; name a file for one of the two.")
    with open_progress(options["quiet"]) as progress:
        phases = Phases(progress)
        corpora = [
            _read(source, shared.choose_part(source, options, part)).watch(phases.move)
            for source, part in ((data, "train"), (other, "test"))
            if source is not None
        ]
        audit = check(*corpora, limits=limits, near=near, examples=options["examples"], watch=phases.begin)
    for source, corpus in zip((data, other), corpora, strict=False):
        if not len(corpus):
            raise DataError(f"{_name(str(source))}: it has no rows, so there is nothing to check.")
        if any(name != role for role, name in corpus.roles.items() if role in corpus.roles.guessed):
            shared.remark(f"{_name(str(source))}: {corpus.roles.describe()}", options)
        if corpus.skipped.count:
            shared.remark(f"{_name(str(source))}: {corpus.skipped}", options)
    return audit, all(corpus.headed for corpus in corpora)


def _read(source: str, options: shared.Options) -> Corpus:
    """The rows of a source as texts with labels; a column of texts that is named is read as it is."""
    from linnaeus.cli.train import recognized, task_named

    shared.refuse_model(source)
    task = recognized(source, {**options, "task": "auto"})
    if options["text"] is not None and not task.tokens:
        task = task_named("classify")
    return task.audited(source, shared.given(options))


def _name(source: str) -> str:
    return "standard input" if source == "-" else source
