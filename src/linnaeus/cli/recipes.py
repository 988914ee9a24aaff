"""`linnaeus recipes`: the list of recipes."""

from __future__ import annotations

import json

import click

from linnaeus.cli import options as shared


@shared.verb("recipes", works=False)
@click.argument("name", required=False)
@shared.as_json("Print JSON instead of a page or TOML.")
def command(name: str | None, **options: shared.Option) -> int:
    """List all recipes with a short description. With NAME, print that recipe as TOML.

    Examples:
      linnaeus recipes
      linnaeus recipes default > mine.toml
      linnaeus train data.csv --recipe mine.toml

    """
    from linnaeus.recipes.cookbook import RECIPES, recipe
    from linnaeus.render import Page, line, table
    from linnaeus.tasks import TASKS

    screen = shared.stdout_screen(options)
    if name is not None:
        found = recipe(name)
        screen.write(json.dumps(found.to_json()) + "\n" if options["as_json"] else found.to_toml())
    elif options["as_json"]:
        screen.write(json.dumps({name: row.help for name, row in RECIPES.items()}) + "\n")
    else:
        for task in TASKS:
            rows = [(name, row.help) for name, row in RECIPES.items() if row.task == task]
            screen.show(table([TASKS[task].heading, ""], rows, "<<") + Page((line(),)))
        screen.show(Page((line("`linnaeus recipes NAME` prints a recipe as TOML, to save and edit."),)))
    return 0
