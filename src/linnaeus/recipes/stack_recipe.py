"""`StackRecipe`: stages in order, each with its own recipe and data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.recipes.recipe import Recipe
from linnaeus.recipes.tag_recipe import TagRecipe
from linnaeus.recipes.toml import read_table

if TYPE_CHECKING:
    from linnaeus.model.stack import StackModel
    from linnaeus.types import Json

TASKS: dict[str, type] = {"tag": TagRecipe, "classify": Recipe}
"""What a stage may do, and the recipe it takes."""


@dataclass(frozen=True)
class Stage:
    """One model of a pipeline: its recipe, and a name by which later stages read its predictions.

    `data` is its training file, for recipes in files; in Python you can pass the data to `StackRecipe.fit`. The last
    stage needs no `data`: it is trained on the data of the whole pipeline. `truth` names the column of tags.

    >>> from linnaeus import Recipe
    >>> Stage("topic", Recipe()).name
    'topic'
    """

    name: str
    recipe: TagRecipe | Recipe
    data: str | None = None
    truth: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise UsageError(f"A stage is named by one word, such as pos, not {self.name!r}.")
        if not isinstance(self.recipe, tuple(TASKS.values())):
            raise InputTypeError(f"Stage {self.name!r} takes a Recipe or a TagRecipe, not {self.recipe!r}.")

    @property
    def task(self) -> str:
        """The task of the stage, as in `TASKS`."""
        return next(task for task, kind in TASKS.items() if isinstance(self.recipe, kind))

    def to_json(self) -> dict[str, Json]:
        """The stage as plain data."""
        told = {"name": self.name, "task": self.task, "recipe": self.recipe.to_json()}
        return told | {name: value for name in ("data", "truth") if (value := getattr(self, name)) is not None}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Stage:
        """A stage from plain data; its recipe is a table or the name of a recipe."""
        if not isinstance(value, Mapping) or value.get("task") not in TASKS or "name" not in value:
            raise UsageError(f"A stage is a table with a name, a task ({', '.join(TASKS)}) and a recipe.")
        unknown = sorted(set(value) - {"name", "task", "recipe", "data", "truth"})
        if unknown:
            raise UsageError(f"A stage has no {unknown[0]!r}; it has name, task, recipe, data and truth.")
        return cls(value["name"], _recipe(value["task"], value.get("recipe")), value.get("data"), value.get("truth"))


@dataclass(frozen=True)
class StackRecipe:
    """Stages in order; each can use the predictions of earlier stages as features.

    - A tagger reads the tags of an earlier tagger as the column of its name beside the tokens (`Window(source="pos")`).
    - A text classifier reads columns, as `Field("ner.entities", Words(tokenizer="whitespace"))`. A tagger gives
      `NAME.tags` (the tags alone), `NAME.words` (each word with its tag) and, if tags are spans, `NAME.entities`;
      the label of an earlier classifier is the column `NAME`.

    If two stages are trained on the same rows, the later one gets out-of-fold predictions of the earlier one: `folds`
    models for each such stage, each trained without one part of the rows, as in cross-validation. For all other rows,
    and in the finished pipeline, one model trained on all rows predicts.

    >>> from linnaeus import Recipe, Stage, TagRecipe
    >>> recipe = StackRecipe((Stage("tags", TagRecipe(), data="tagged"), Stage("topic", Recipe())))
    >>> [stage.name for stage in recipe.stages], recipe.folds
    (['tags', 'topic'], 5)
    """

    stages: tuple[Stage, ...]
    folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "stages", tuple(self.stages))
        names = [stage.name for stage in self.stages if isinstance(stage, Stage)]
        if not names or len(names) != len(self.stages):
            raise UsageError("StackRecipe takes one or more Stage(name, recipe).")
        if len(set(names)) != len(names):
            raise UsageError(f"Two stages are called {max(names, key=names.count)!r}; give each a name of its own.")
        for name, least in (("folds", 2), ("seed", 0)):
            expect(name, getattr(self, name), int)
            if getattr(self, name) < least:
                raise UsageError(f"{name} is a whole number from {least} up, not {getattr(self, name)}.")

    def fit(self, data: Any, progress: Any = None) -> StackModel:
        """Train all stages in order. `data` is the training data of the last stage, or a dict of data by stage.

        Stages without data in the dict read the file that they name.
        """
        from linnaeus.training.stack import train_stack

        return train_stack(self, data, progress)

    def to_json(self) -> dict[str, Json]:
        """The whole recipe as plain data."""
        return {"stages": [stage.to_json() for stage in self.stages], "folds": self.folds, "seed": self.seed}

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> StackRecipe:
        """A recipe from a TOML or JSON file; paths of the stages' files are relative to its folder."""
        table = read_table(path)
        for stage in table.get("stages", []):
            if isinstance(stage, dict) and isinstance(stage.get("data"), str):
                stage["data"] = str(Path(path).parent / stage["data"])
        return cls.from_json(table)

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> StackRecipe:
        """A recipe from plain data."""
        if not isinstance(value, Mapping) or not isinstance(value.get("stages"), list):
            raise UsageError("A recipe of a pipeline is a table with the list stages, and with folds and seed.")
        given = {name: value[name] for name in ("folds", "seed") if name in value}
        return cls(tuple(map(Stage.from_json, value["stages"])), **given)


def _recipe(task: str, value: Json) -> Any:
    """A recipe from a table or by name; the default one where there is none."""
    kind: Any = TASKS[task]
    if isinstance(value, Mapping):
        return kind.from_json(value)
    if task == "tag":
        from linnaeus.recipes.tagging import tag_recipe

        return tag_recipe(value or "pos")
    from linnaeus.recipes.cookbook import recipe

    return recipe(value or "default")
