"""Recipes: a whole experiment as data, read and written as TOML and JSON.

    recipe        `Recipe`, what a training needs except data, and `Stage`, an earlier model of a pipeline
    tuning        how rows are held out, and which strengths are tried
    codec, paths  recipes as plain data, and changes by path
    cookbook      recipes with names;  tagging, ranking  how those for tags and candidates are made

To add a recipe: a row in `cookbook.RECIPES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.recipes.cookbook import RECIPES as RECIPES
    from linnaeus.recipes.recipe import Recipe as Recipe
    from linnaeus.recipes.recipe import Stage as Stage
    from linnaeus.recipes.tuning import Tuning as Tuning


__getattr__, __dir__ = room(__name__)
