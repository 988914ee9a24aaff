"""`Recipe`: the whole experiment as nested frozen dataclasses, readable and writable as TOML and JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linnaeus.decision import Decision
from linnaeus.errors import DataError, InputTypeError, MachineError, UsageError, expect, said
from linnaeus.features.restore import Functions, bound
from linnaeus.frozen import dataclass
from linnaeus.recipes import codec
from linnaeus.recipes.paths import SHORT, change
from linnaeus.recipes.tuning import Tuning
from linnaeus.tasks import as_task
from linnaeus.types import Json, Source

if TYPE_CHECKING:
    from linnaeus.erm.progress import Phase
    from linnaeus.model.model import Model

MAX_RECIPE_BYTES = 1 << 20

KEEPS = ("nothing", "texts")
"""What of the training data a recipe may keep in the model."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Task, features, learner, tuning, decision and random seed: everything that training needs except data.

    `task` is "classify" (which becomes "regress" if the labels are numbers), "tag", "parse", "rank", or an object such
    as `Tag(encoding="bio")`. Features and learner that are not given are those usual for the task. `keep` is "nothing"
    or "texts"; "texts" stores the training texts in the model file, for `search` and for neighbors. `before` are the
    earlier stages of a pipeline: their predictions are columns that the features can read. In a pipeline, of the
    columns that templates call optional those are read that an earlier stage makes: texts have no others.

    >>> from linnaeus.learners.linear import Linear
    >>> recipe = Recipe(learner=Linear(loss="hinge"))
    >>> recipe.changed({"regularizer.strength": 0.1}).learner.regularizer
    L2(strength=0.1)
    >>> Recipe(task="tag").changed({"encoding": "bio"}).task
    Tag(encoding='bio', dictionary=0)
    """

    task: Any = "classify"
    features: Any = None
    learner: Any = None
    tuning: Tuning | None = None
    decision: Decision = field(default_factory=Decision)
    keep: str = "nothing"
    seed: int = 0
    before: tuple[Stage, ...] = ()

    def __post_init__(self) -> None:
        task = as_task(self.task)
        usual = {"task": task, "before": tuple(self.before)}
        usual |= {} if self.features is not None else {"features": task.usual_features()}
        usual |= {} if self.learner is not None else {"learner": task.usual_learner()}
        for name, value in usual.items():
            object.__setattr__(self, name, value)
        expect("seed", self.seed, int)
        if self.seed < 0:
            raise UsageError(f"seed is a whole number from 0 up, not {self.seed}.")
        if self.keep not in KEEPS:
            raise UsageError(f"keep is one of {', '.join(KEEPS)}, not {self.keep!r}.")
        _refuse_stages(self.before)
        if self.before:
            object.__setattr__(self, "before", _with_made_columns(self.before))
            made = [stage.name for stage in self.before]
            object.__setattr__(self, "features", task.with_columns(self.features, made))
        task.check(self)

    def fit(
        self,
        data: Source,
        progress: Callable[[Phase], None] | None = None,
        stages: Mapping[str, Source] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Model:
        """Train on data: anything that `linnaeus.read`, `read_sentences` or `read_groups` takes, as the task needs it.

        `progress` is called with the current step. `stages` are the data of earlier stages, by their names; a stage
        without data there reads the file that it names. `checkpoint` is a file that keeps what is done; the same
        training goes on from it if it was interrupted, and removes it in the end.
        """
        from linnaeus.training.train import train

        return train(self, data, progress, stages or {}, checkpoint)

    def changed(self, changes: Mapping[str, Json]) -> Recipe:
        """A copy of the recipe with new values, by path: `learner.loss`, `features.ngrams`, `features.blocks.0.values`.

        A path may leave out `learner`, `decision`, `tuning`, `features` or `task` if only one of them has its first
        name.
        """
        return change(self, changes, SHORT)

    def to_json(self) -> dict[str, Json]:
        """The whole recipe as plain data."""
        told = {part.name: codec.encode(getattr(self, part.name)) for part in fields(self)}
        return told if self.before else {name: value for name, value in told.items() if name != "before"}

    @classmethod
    def from_json(cls, value: Mapping[str, Json], functions: Functions | None = None) -> Recipe:
        """A recipe from plain data; missing entries get their defaults, or the values of the named recipe in `recipe`.

        `functions` are those that its features name.

        >>> Recipe.from_json({"recipe": "pos", "seed": 3}).seed
        3
        """
        if not isinstance(value, Mapping):
            raise UsageError("A recipe is a table with the entries task, features, learner, tuning, decision and seed.")
        given = dict(value)
        if (name := given.pop("recipe", None)) is not None:
            from linnaeus.recipes.cookbook import recipe

            given = recipe(name).to_json() | given
        return codec.build(cls, bound(given, functions), "recipe")

    def to_toml(self) -> str:
        """The whole recipe as TOML, to keep with the data and to edit by hand."""
        return to_toml(codec.spoken(self.to_json()))

    @classmethod
    def read(cls, path: str | os.PathLike[str], functions: Functions | None = None) -> Recipe:
        """A recipe from a TOML or JSON file; the files of stages are looked for in its folder."""
        table = read_table(path)
        for stage in table.get("before", []) if isinstance(table.get("before"), list) else []:
            if isinstance(stage, dict) and isinstance(stage.get("data"), str):
                stage["data"] = str(Path(path).parent / stage["data"])
        return cls.from_json(table, functions)


@dataclass(frozen=True)
class Stage:
    """An earlier model of a pipeline: its recipe, and a name by which later stages read its predictions.

    `recipe` is a `Recipe` or the name of one. `data` is its training file; in Python you can pass the data to `fit`.
    `truth` names the column of tags. Tags of a tagger are the column NAME beside the tokens. A text gets the columns
    `NAME.tags` (tags alone), `NAME.words` (each word with its tag) and, if tags are spans, `NAME.entities`; the label
    of a classifier is the column NAME.

    If two stages are trained on the same rows, the later one gets out-of-fold predictions of the earlier one, from
    `folds` models, each trained without one part of the rows: equal rows are in one part, or, with `by`, rows with the
    same value in this column. For all other rows, and in the finished pipeline, one model trained on all rows predicts.

    Before a ranker, the stage is a label tree that proposes candidates. It learns from the same rows (the answers are
    its labels), and from its own `data`, if it has any, such as names of all candidates.

    >>> Stage("pos", "pos-crf").recipe.task
    Tag(encoding='plain', dictionary=0)
    """

    name: str
    recipe: Recipe
    data: str | None = None
    truth: str | None = None
    folds: int = 5
    by: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise UsageError(f"A stage is named by one word, such as pos, not {self.name!r}.")
        if isinstance(self.recipe, str):
            from linnaeus.recipes.cookbook import recipe

            object.__setattr__(self, "recipe", recipe(self.recipe))
        if not isinstance(self.recipe, Recipe):
            raise InputTypeError(f"Stage {self.name!r} takes a Recipe, not {self.recipe!r}.")
        expect("folds", self.folds, int)
        if self.folds < 2:
            raise UsageError(f"folds is a whole number from 2 up, not {self.folds}.")


def _with_made_columns(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """The stages; the features of each look at columns that those before it make."""
    found = []
    for number, stage in enumerate(stages):
        recipe, made = stage.recipe, [before.name for before in stages[:number]]
        found.append(replace(stage, recipe=replace(recipe, features=recipe.task.with_columns(recipe.features, made))))
    return tuple(found)


def _refuse_stages(stages: tuple[Stage, ...]) -> None:
    for stage in stages:
        if not isinstance(stage, Stage):
            raise InputTypeError(f"before takes Stage(name, recipe) objects, not {stage!r}.")
        if not stage.recipe.task.stacks:
            raise UsageError(f"Stage {stage.name!r} ranks candidates, which later stages cannot read.")
        if stage.recipe.before:
            raise UsageError(f"Stage {stage.name!r} has stages of its own; list all stages in one recipe.")
    names = [stage.name for stage in stages]
    if len(set(names)) != len(names):
        raise UsageError(f"Two stages are called {max(names, key=names.count)!r}; give each a name of its own.")


# Files: Python reads TOML and does not write it; a recipe needs little of it.


def read_table(path: str | os.PathLike[str]) -> dict[str, Json]:
    """The table in a recipe's file, TOML or JSON."""
    import tomllib

    from linnaeus.data.options import ReadOptions
    from linnaeus.data.streams import File, read_whole

    is_json = str(path).endswith(".json")
    try:
        text = read_whole(File(Path(path), str(path)), ReadOptions(), MAX_RECIPE_BYTES)[0].decode()
        value = json.loads(text) if is_json else tomllib.loads(text)
    except RecursionError as error:
        raise UsageError(f"The recipe {path} is nested too deeply; write fewer tables inside tables.") from error
    except (DataError, MachineError) as error:
        raise UsageError(f"Cannot read the recipe {error}") from error
    except ValueError as error:
        raise UsageError(f"The recipe {path} is not {'JSON' if is_json else 'TOML'}: {said(error)}.") from error
    if not isinstance(value, dict):
        raise UsageError(f"The recipe {path} is not a table of parts and values.")
    return value


def to_toml(table: Mapping[str, Json], above: str = "") -> str:
    """A table and those inside it.

    >>> print(to_toml({"seed": 0, "learner": {"kind": "linear", "tol": 0.1}}), end="")
    seed = 0
    <BLANKLINE>
    [learner]
    kind = "linear"
    tol = 0.1
    """
    lines = [f"{_key(name)} = {_value(value)}\n" for name, value in table.items() if not _nested(value)]
    for name, value in table.items():
        path = f"{above}.{_key(name)}" if above else _key(name)
        for part in [value] if isinstance(value, Mapping) else value if _nested(value) else []:
            head = f"[{path}]" if isinstance(value, Mapping) else f"[[{path}]]"
            lines.append(f"\n{head}\n{to_toml(part, path)}")
    return "".join(lines)


def _nested(value: Json) -> bool:
    """Whether a value is a table, or a list of tables."""
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)
    )


def _value(value: Json) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else json.dumps(name)
