"""Training of pipelines: stage after stage, each shown what the stages before say about rows they have not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linnaeus.erm.progress import Phase, Watcher
from linnaeus.errors import DataError, UsageError
from linnaeus.features.base import Batches
from linnaeus.model.file import model_of, state_of
from linnaeus.model.model import Model
from linnaeus.model.stages import Texts, Tokens, answered, answers_of
from linnaeus.store.parts import PartsFile
from linnaeus.tasks.examples import Examples
from linnaeus.training.train import train_examples
from linnaeus.types import Longs, Source

if TYPE_CHECKING:
    from linnaeus.recipes.recipe import Recipe, Stage


Material: TypeAlias = Tokens | Texts


def train_stages(
    recipe: Recipe, data: Source, progress: Watcher | None, given: Mapping[str, Source], kept: PartsFile | None = None
) -> Model:
    """All stages in order, then the recipe itself on rows that have the answers of the stages as columns.

    Models of stages that `kept` knows are not trained again.
    """
    say = progress or (lambda _: None)
    names = [stage.name for stage in recipe.before]
    if strangers := sorted(set(given) - set(names)):
        raise UsageError(f"There is no stage {strangers[0]!r}; the stages are {', '.join(names)}.")
    learned: list[LearnedStage] = []
    for number, stage in enumerate(recipe.before):
        name, share = f"stage {stage.name}", number / (len(names) + 1)
        say(Phase(name, share, "reading"))
        rows = _shown(learned, material(stage.recipe, _data(stage, given), stage.truth), name, say)
        say(Phase(name, share, f"training on {len(rows):,} rows"))
        learned.append(LearnedStage(stage, rows, recipe.seed, kept))
    rows = _shown(learned, material(recipe, data), "the last stage", say)
    model = fit(replace(recipe, before=()), rows, progress, kept)
    facts = {one.stage.name: {"rows": len(one.rows), "folds": len(one.others)} for one in learned}
    stages = tuple((one.stage.name, one.model) for one in learned)
    return replace(model, plan=recipe, stages=stages, facts=model.facts | {"stages": facts})


def _shown(learned: list[LearnedStage], rows: Material, name: str, say: Watcher) -> Material:
    """The rows with the answers of all earlier stages."""
    for before in learned:
        say(Phase(name, None, f"predictions of {before.stage.name} for rows that it has not seen"))
        rows = before.beside(rows)
    return rows


class LearnedStage:
    """A trained stage, and models of it that have not seen some of its rows: these are made when they are needed."""

    def __init__(self, stage: Stage, rows: Material, seed: int, kept: PartsFile | None = None) -> None:
        self.stage, self.rows, self.kept = stage, rows, kept
        self.model = self._fitted(rows, "whole")
        self.parts = _parts(row_keys(stage.recipe, rows), stage.folds, seed)
        self.others: dict[int, Model] = {}

    def beside(self, rows: Material) -> Material:
        """The rows with what this stage says about them; what it learned from is answered by one that did not."""
        said = answers_of(self.model, rows)
        part = np.array([self.parts.get(key, -1) for key in row_keys(self.stage.recipe, rows)])
        for fold in np.unique(part[part >= 0]).tolist():
            at = np.flatnonzero(part == fold)
            new = answers_of(self._without(fold), _units(self.stage.recipe, rows, at))
            for row, answer in zip(at.tolist(), new, strict=True):
                said[row] = answer
        return answered(self.stage.name, self.model, rows, said)

    def _without(self, fold: int) -> Model:
        """A model of this stage that has not seen one part of its rows."""
        if fold not in self.others:
            mine = np.array([self.parts[key] for key in row_keys(self.stage.recipe, self.rows)])
            left = np.flatnonzero(mine != fold)
            if not len(left):
                raise DataError(
                    f"Stage {self.stage.name!r} has only copies of one row, so no other rows are left to train on for "
                    "its out-of-fold prediction; give the stage more rows."
                )
            self.others[fold] = self._fitted(self.rows.take(left), str(fold))
        return self.others[fold]

    def _fitted(self, rows: Material, name: str) -> Model:
        """A model of this stage: that of the checkpoint, or trained now and kept."""
        place = None if self.kept is None else self.kept.part(f"{self.stage.name}.{name}")
        if place is not None and (state := place.get()) is not None:
            return model_of(state)
        found = fit(self.stage.recipe, rows)
        if place is not None:
            place.put(state_of(found))
        return found


def fit(recipe: Recipe, rows: Material, progress: Watcher | None = None, kept: PartsFile | None = None) -> Model:
    """The model of a recipe on its rows."""
    examples: Examples = recipe.task.examples(rows.sentences) if recipe.task.tokens else rows.examples  # type: ignore[union-attr, assignment]
    return train_examples(recipe, examples, progress, kept)


def row_keys(recipe: Recipe, rows: Material) -> list[int]:
    """What makes a row the same as another: its tokens, or its text; case and white space aside."""
    found = recipe.task.keys(rows.sentences if recipe.task.tokens else Batches((rows.batch(),)))
    return [] if found is None else found.tolist()


def _units(recipe: Recipe, rows: Material, at: Longs) -> Material:
    """Some rows as a stage counts them: sentences for a tagger, texts for a classifier."""
    return Tokens(rows.sentences.take(at)) if recipe.task.tokens else rows.take(at)


def _parts(keys: list[int], folds: int, seed: int) -> dict[int, int]:
    """The part of each different row: equal rows are in one, so that none is known from its twin."""
    distinct = list(dict.fromkeys(keys))
    order = np.random.default_rng(seed).permutation(len(distinct))
    return {key: int(place % folds) for key, place in zip(distinct, order.tolist(), strict=True)}


def _data(stage: Stage, given: Mapping[str, Source]) -> Source:
    source = given.get(stage.name, stage.data)
    if source is None:
        raise UsageError(
            f"Stage {stage.name!r} has no data; name its file in the recipe, or give a dict of data by stage."
        )
    return source


def material(recipe: Recipe, source: Source, truth: str | None = None) -> Material:
    """The examples of a stage, as rows that answers can be added to."""
    examples = source if isinstance(source, Examples) else recipe.task.examples(source, truth)
    return Tokens(examples.stream) if recipe.task.tokens else Texts.of(examples.stream, examples)
