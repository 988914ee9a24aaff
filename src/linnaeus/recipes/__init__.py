"""Recipes: a whole experiment as data, read and written as TOML and JSON.

    recipe, tag_recipe, rank_recipe, stack_recipe   what a training needs except data
    tuning        how rows are held out, and which strengths are tried
    codec, paths  recipes as plain data, and changes by path
    cookbook, tagging, ranking   recipes with names

To add a recipe: a row in `cookbook.RECIPES`, `tagging.TAGGERS` or `ranking.RANKERS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.recipes.cookbook import RECIPES as RECIPES
    from linnaeus.recipes.rank_recipe import RankRecipe as RankRecipe
    from linnaeus.recipes.ranking import RANKERS as RANKERS
    from linnaeus.recipes.recipe import Recipe as Recipe
    from linnaeus.recipes.stack_recipe import StackRecipe as StackRecipe
    from linnaeus.recipes.stack_recipe import Stage as Stage
    from linnaeus.recipes.tag_recipe import TagRecipe as TagRecipe
    from linnaeus.recipes.tagging import TAGGERS as TAGGERS
    from linnaeus.recipes.tuning import Tuning as Tuning


__getattr__, __dir__ = room(__name__)
