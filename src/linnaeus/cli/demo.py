"""`linnaeus demo`: the main jobs on the embedded data, so that a newcomer sees them work in a second."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from linnaeus.cli import options as shared

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.data import Corpus
    from linnaeus.features import Fitted
    from linnaeus.render import Page

_NAMES, _VALUES = 8, 8  # how many are shown


@click.command("demo")
@shared.common_options
def command(**options: Any) -> int:
    """Check the embedded requests to a voice assistant, and turn them into features."""
    from linnaeus import datasets
    from linnaeus.audit import check
    from linnaeus.audit.page import audit_page
    from linnaeus.features import Weighted, Words

    shared.remark_kernels(options)
    screen = shared.stdout_screen(options)
    with shared.use_threads(options):
        train, test = datasets.intents("train"), datasets.intents("test")
        audit = check(train, test, examples=1)
        screen.show(audit_page(audit, ["intents, to train on", "intents, to test on"], screen.glyphs))
        started = time.perf_counter()
        fitted, rows = Weighted(Words(ngrams=(1, 2)), "tfidf", "l2").fit_rows(train)
        seconds = time.perf_counter() - started
        screen.show(features_page(fitted, rows, seconds, audit.data.bytes))
        screen.show(example_page(fitted, rows, train))
    return 0


def features_page(fitted: Fitted, rows: CSR, seconds: float, read: int) -> Page:
    """How many features, how fast, and the names of some."""
    from linnaeus.render import Page, clean, duration, indent, line, size, title

    names = fitted.names()
    some = [clean(names[i]) for i in range(0, len(names), max(1, len(names) // _NAMES))][:_NAMES]
    facts = (
        line(f"{len(rows):,} rows, {rows.width:,} features, {rows.nnz:,} values that are not zero"),
        line(f"{duration(seconds)} for {size(read)} of text ({size(read / max(seconds, 1e-9))}/s)"),
        line("some of them: ", ", ".join(some)),
    )
    return title("Features: words and pairs of words, tf-idf") + indent(Page(facts))


def example_page(fitted: Fitted, rows: CSR, corpus: Corpus) -> Page:
    """The features of the first text, the strongest first."""
    from linnaeus.render import Page, Word, clean, indent, line, table

    text, names, end = corpus.text, fitted.names(), int(rows.indptr[1])
    said = clean(text[0].as_py()) if text is not None else ""
    found = sorted(zip(rows.data[:end].tolist(), rows.indices[:end].tolist(), strict=True), reverse=True)[:_VALUES]
    cells = [(clean(names[column]), f"{value:.3f}") for value, column in found]
    return indent(Page((line(), line("the strongest of ", Word(said, "accent")))) + table(["", ""], cells, "<>"))
