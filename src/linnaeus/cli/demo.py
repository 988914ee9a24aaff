"""`linnaeus demo`: the main jobs on the embedded data, so that a newcomer sees them work in a second."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from linnaeus.cli import options as shared

if TYPE_CHECKING:
    from linnaeus.data import Corpus
    from linnaeus.render import Page

_EXAMPLE = 8  # features of one utterance


@click.command("demo")
@shared.common_options
def command(**options: Any) -> int:
    """Check the embedded utterances of a voice assistant, and turn them into features."""
    from linnaeus import datasets
    from linnaeus.audit import check
    from linnaeus.audit.page import audit_page

    shared.remark_kernels(options)
    screen = shared.stdout_screen(options)
    with shared.use_threads(options):
        train, test = datasets.intents("train"), datasets.intents("test")
        audit = check(train, test, examples=1)
        screen.show(audit_page(audit, ["intents, to train", "intents, to test"], screen.glyphs))
        screen.show(features_page(train))
    return 0


def features_page(corpus: Corpus) -> Page:
    """Word features of a corpus: how many, how fast, and those of its first text."""
    from linnaeus.features import Words
    from linnaeus.render import Page, Word, clean, indent, line, number, size, table, title
    from linnaeus.render.numbers import duration

    started = time.perf_counter()
    features, rows = Words(ngrams=(1, 2)).fit_rows(corpus)
    seconds = time.perf_counter() - started
    batch = corpus.head(1).batch()
    text, names = batch.text[0].as_py(), features.names()
    bytes_read = sum(part.text.nbytes for part in corpus.batches())
    first = rows.indices[: rows.indptr[1]], rows.data[: rows.indptr[1]]
    strongest = sorted(zip(first[1].tolist(), first[0].tolist(), strict=True), reverse=True)[:_EXAMPLE]
    facts = (
        f"{len(rows):,} rows, {rows.width:,} features, {rows.nnz:,} values that are not zero,",
        f"in {duration(seconds)} ({size(bytes_read / seconds)}/s)",
    )
    return (
        title("Features: Words(ngrams=(1, 2)), tf-idf")
        + indent(Page((line(*" ".join(facts)), line(), line("of ", Word(clean(text), "accent"), ":"))))
        + indent(table(["feature", "value"], [(clean(names[j]), number(round(v, 3))) for v, j in strongest], "<>"), 4)
    )
