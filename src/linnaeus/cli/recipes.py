"""`linnaeus recipes`: what can be trained, by name."""

from __future__ import annotations

import json
from typing import Any

import click

from linnaeus.cli import options as shared

_EXAMPLES = """\b
Examples:
  linnaeus recipes
  linnaeus recipes default > mine.toml
  linnaeus train data.csv --recipe mine.toml
"""


@click.command("recipes", epilog=_EXAMPLES)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="JSON instead of a page or TOML.")
@shared.common_options
def command(name: str | None, **options: Any) -> int:
    """List the recipes with a sentence each; with NAME, show all of one as TOML."""
    from linnaeus.pipeline.cookbook import RECIPES, recipe
    from linnaeus.render import Page, line, table

    screen = shared.stdout_screen(options)
    if name is not None:
        found = recipe(name)
        screen.write(json.dumps(found.to_json()) + "\n" if options["as_json"] else found.to_toml())
        return 0
    if options["as_json"]:
        screen.write(json.dumps({name: entry.help for name, entry in RECIPES.items()}) + "\n")
        return 0
    screen.show(table(["recipe", ""], [(name, entry.help) for name, entry in RECIPES.items()], "<<"))
    screen.show(Page((line(), line("linnaeus recipes NAME shows all of one, to keep and to change."))))
    return 0
