"""Training of pipelines: stage after stage, each shown what the stages before say about rows they have not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnaeus.erm.progress import Phase
from linnaeus.errors import DataError, UsageError
from linnaeus.features.base import Batches
from linnaeus.model.stack import StackModel
from linnaeus.model.stack_answers import answered, answers_of
from linnaeus.model.stack_material import Texts, Tokens, of_sentences, of_texts
from linnaeus.tasks.keys import sentence_keys, text_keys

if TYPE_CHECKING:
    from linnaeus.recipes.stack_recipe import StackRecipe, Stage
    from linnaeus.types import Longs

    Material: TypeAlias = Tokens | Texts
    Progress = Callable[[Phase], None] | None


def train_stack(recipe: StackRecipe, data: Any, progress: Progress = None) -> StackModel:
    """All stages in order."""
    say = progress or (lambda _: None)
    given = _given(recipe, data)
    learned: list[Learned] = []
    for number, stage in enumerate(recipe.stages):
        name, share = f"stage {stage.name}", number / len(recipe.stages)
        say(Phase(name, share, "reading"))
        rows = _material(stage, given)
        for before in learned:
            say(Phase(name, share, f"predictions of {before.stage.name} for rows that it has not seen"))
            rows = before.beside(rows)
        say(Phase(name, share, f"training on {len(rows):,} rows"))
        learned.append(Learned(stage, rows, recipe.folds, recipe.seed))
    facts = {one.stage.name: {"rows": len(one.rows), "folds": len(one.others)} for one in learned}
    return StackModel(recipe, tuple(one.model for one in learned), {"stages": facts})


class Learned:
    """A trained stage, and models of it that have not seen some of its rows: these are made when they are needed."""

    def __init__(self, stage: Stage, rows: Material, folds: int, seed: int) -> None:
        self.stage, self.rows = stage, rows
        self.model = fit(stage, rows)
        self.parts = _parts(row_keys(stage, rows), folds, seed)
        self.others: dict[int, Any] = {}

    def beside(self, rows: Material) -> Material:
        """The rows with what this stage says about them; what it learned from is answered by one that did not."""
        said = answers_of(self.stage, self.model, rows)
        part = np.array([self.parts.get(key, -1) for key in row_keys(self.stage, rows)])
        for fold in np.unique(part[part >= 0]).tolist():
            at = np.flatnonzero(part == fold)
            new = answers_of(self.stage, self._without(fold), _units(self.stage, rows, at))
            for row, answer in zip(at.tolist(), new, strict=True):
                said[row] = answer
        return answered(self.stage, self.model, rows, said)

    def _without(self, fold: int) -> Any:
        """A model of this stage that has not seen one part of its rows."""
        if fold not in self.others:
            mine = np.array([self.parts[key] for key in row_keys(self.stage, self.rows)])
            left = np.flatnonzero(mine != fold)
            if not len(left):
                raise DataError(
                    f"Stage {self.stage.name!r} has only copies of one row, so no other rows are left to train on for "
                    "its out-of-fold prediction; give the stage more rows."
                )
            self.others[fold] = fit(self.stage, self.rows.take(left))
        return self.others[fold]


def fit(stage: Stage, rows: Material) -> Any:
    """The model of a stage on its rows."""
    if stage.task == "tag":
        return stage.recipe.fit(rows.sentences)
    from linnaeus.training.train import train

    assert isinstance(rows, Texts)
    return train(stage.recipe, rows.examples)  # type: ignore[arg-type]


def row_keys(stage: Stage, rows: Material) -> list[int]:
    """What makes a row of this stage the same as another: its tokens, or its text; case and white space aside."""
    found = sentence_keys(rows.sentences) if stage.task == "tag" else text_keys(Batches((rows.batch(),)))
    return [] if found is None else found.tolist()


def _units(stage: Stage, rows: Material, at: Longs) -> Material:
    """Some rows as this stage counts them: sentences for a tagger, texts for a classifier."""
    return Tokens(rows.sentences.take(at)) if stage.task == "tag" else rows.take(at)


def _parts(keys: list[int], folds: int, seed: int) -> dict[int, int]:
    """The part of each different row: equal rows are in one, so that none is known from its twin."""
    distinct = list(dict.fromkeys(keys))
    order = np.random.default_rng(seed).permutation(len(distinct))
    return {key: int(place % folds) for key, place in zip(distinct, order.tolist(), strict=True)}


def _given(recipe: StackRecipe, data: Any) -> dict[str, Any]:
    """The data of each stage that were handed over."""
    names = [stage.name for stage in recipe.stages]
    if isinstance(data, Mapping) and set(data) & set(names):
        strangers = sorted(set(data) - set(names))
        if strangers:
            raise UsageError(f"There is no stage {strangers[0]!r}; the stages are {', '.join(names)}.")
        return dict(data)
    return {names[-1]: data}


def _material(stage: Stage, given: dict[str, Any]) -> Material:
    source = given.get(stage.name, stage.data)
    if source is None:
        raise UsageError(
            f"Stage {stage.name!r} has no data; name its file in the recipe, or give a dict of data by stage."
        )
    return of_sentences(source, stage.truth) if stage.task == "tag" else of_texts(source)
