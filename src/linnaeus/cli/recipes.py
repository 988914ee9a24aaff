"""`linnaeus recipes`: the list of recipes."""

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
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a page or TOML.")
@shared.common_options
def command(name: str | None, **options: Any) -> int:
    """List all recipes with a short description. With NAME, print that recipe as TOML."""
    from linnaeus.render import Page, line, table

    screen = shared.stdout_screen(options)
    if name is not None:
        found = _named(name)
        screen.write(json.dumps(found.to_json()) + "\n" if options["as_json"] else _toml(found))
        return 0
    kinds = {"texts": _texts(), "tags of tokens": _taggers(), "candidates": _rankers()}
    if options["as_json"]:
        screen.write(json.dumps({name: said for told in kinds.values() for name, said in told.items()}) + "\n")
        return 0
    for kind, told in kinds.items():
        screen.show(table([f"for {kind}", ""], list(told.items()), "<<") + Page((line(),)))
    screen.show(Page((line("`linnaeus recipes NAME` prints a recipe as TOML, to save and edit."),)))
    return 0


def _texts() -> dict[str, str]:
    from linnaeus.recipes.cookbook import RECIPES

    return {name: entry.help for name, entry in RECIPES.items()}


def _taggers() -> dict[str, str]:
    from linnaeus.recipes.tagging import TAGGERS

    return {name: entry.says for name, entry in TAGGERS.items()}


def _rankers() -> dict[str, str]:
    from linnaeus.recipes.ranking import RANKERS

    return {name: str(make.__doc__).splitlines()[0] for name, make in RANKERS.items()}


def _named(name: str) -> Any:
    """A recipe of any kind."""
    from linnaeus.errors import UsageError, did_you_mean
    from linnaeus.recipes.cookbook import recipe
    from linnaeus.recipes.names import KINDS, kind_of, table_of
    from linnaeus.recipes.ranking import rank_recipe
    from linnaeus.recipes.tagging import tag_recipe

    kind = kind_of(name)
    if kind is None:
        known = [there for kind in KINDS for there in table_of(kind)]
        raise UsageError(f"There is no recipe {name!r}; {did_you_mean(name, known)}")
    return {"texts": recipe, "tags": tag_recipe, "candidates": rank_recipe}[kind](name)


def _toml(found: Any) -> str:
    from linnaeus.recipes import codec
    from linnaeus.recipes.toml import to_toml

    return to_toml(codec.spoken(found.to_json()))
