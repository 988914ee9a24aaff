"""`linnaeus demo`: train, test and explain a model on built-in data, in seconds."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linnaeus.cli import options as shared

if TYPE_CHECKING:
    from linnaeus.cli.screen import Screen
    from linnaeus.data import Corpus
    from linnaeus.model.model import Model
    from linnaeus.render import Page

TEXT = "Could you wake me up at half past six tomorrow?"


@shared.verb("demo")
@click.option("-o", "--output", metavar="MODEL", help="The model file (default: in the Linnaeus state folder).")
def command(output: str | None, **options: shared.Option) -> int:
    """Train on built-in requests to a voice assistant, evaluate the model, explain a prediction.

    Examples:
      linnaeus demo
      linnaeus demo -o intents.lin

    """
    from linnaeus import datasets
    from linnaeus.audit import check
    from linnaeus.audit.page import audit_page

    screen = shared.stdout_screen(options)
    train, test = datasets.intents("train"), datasets.intents("test")
    audit = check(train, test, examples=1)
    screen.show(audit_page(audit, ["intents, to train on", "intents, to test on"], screen.glyphs))
    _judge(_train(train, output, screen), test, screen)
    return 0


def _train(train: Corpus, output: str | None, screen: Screen) -> Model:
    from linnaeus.cli.crash import state_directory
    from linnaeus.recipes.cookbook import recipe

    began = time.perf_counter()
    model = recipe("default").fit(train)
    seconds = time.perf_counter() - began
    path = Path(output) if output else state_directory() / "intents.lin"
    path.parent.mkdir(parents=True, exist_ok=True)
    model.save(path, force=True)
    screen.show(_trained(model, path, seconds))
    return model


def _trained(model: Model, path: Path, seconds: float) -> Page:
    from linnaeus.render import Page, clean, duration, indent, line, size, title

    rows, features = model.facts["rows"], model.features.width
    facts = (
        line(f"{rows:,} rows, {features:,} features: words, pairs of words and characters"),
        line(f"{duration(seconds)} with tuning and calibration; strength {model.facts['strength']:g}"),
        line(f"the model is {clean(str(path))} ({size(path.stat().st_size)})"),
        line(),
    )
    return title("Training: linnaeus train") + indent(Page(facts))


def _judge(model: Model, test: Corpus, screen: Screen) -> None:
    from linnaeus.render import Page, line, title

    screen.show(title("Testing: linnaeus test"))
    screen.show(model.evaluate(test).page(screen.glyphs, "test rows"))
    screen.show(title("Explaining: linnaeus explain"))
    screen.show(model.explain(TEXT).page(screen.glyphs, screen.marks, 6))
    screen.show(Page((line(), line("Now your own data: linnaeus train FILE.csv"))))
