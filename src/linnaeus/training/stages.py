"""Training of pipelines: stage after stage, each shown what the stages before say about rows they have not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.data import read
from linnaeus.data.batch import join
from linnaeus.data.groups import ANSWER, Groups
from linnaeus.erm.progress import Phase, Watcher
from linnaeus.errors import DataError, UsageError
from linnaeus.model.file import model_of, state_of
from linnaeus.model.model import Model
from linnaeus.model.stages import Rows, Texts, Tokens, Unlisted
from linnaeus.store.parts import PartsFile
from linnaeus.tasks.examples import Examples, labeled_stream
from linnaeus.training.train import train_examples
from linnaeus.types import Source

if TYPE_CHECKING:
    from linnaeus.recipes.recipe import Recipe, Stage


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
    last, learned = material(recipe, data), list[LearnedStage]()
    for number, stage in enumerate(recipe.before):
        name, share = f"stage {stage.name}", number / (len(names) + 1)
        say(Phase(name, share, "reading"))
        rows = _shown(learned, rows_of(stage, given, last), name, say)
        say(Phase(name, share, f"training on {len(rows):,} rows"))
        learned.append(LearnedStage(stage, rows, recipe.seed, kept))
    rows = _shown(learned, last, "the last stage", say)
    model = fit(replace(recipe, before=(), task=recipe.task.alone()), rows, progress, kept)
    task = recipe.task if isinstance(last, Unlisted) else model.task
    facts = {one.stage.name: {"rows": len(one.rows), "folds": len(one.others)} for one in learned}
    stages = tuple((one.stage.name, one.model) for one in learned)
    return replace(model, task=task, plan=recipe, stages=stages, facts=model.facts | {"stages": facts})


def _shown(learned: list[LearnedStage], rows: Rows, name: str, say: Watcher) -> Rows:
    """The rows with the answers of all earlier stages."""
    for before in learned:
        say(Phase(name, None, f"predictions of {before.stage.name} for rows that it has not seen"))
        rows = before.beside(rows)
    return rows


class LearnedStage:
    """A trained stage, and models of it that have not seen some of its rows: these are made when they are needed."""

    def __init__(self, stage: Stage, rows: Rows, seed: int, kept: PartsFile | None = None) -> None:
        self.stage, self.rows, self.kept = stage, rows, kept
        self.model = self._fitted(rows, "whole")
        self.parts = _parts(row_keys(stage, rows), stage.folds, seed)
        self.others: dict[int, Model] = {}

    def beside(self, rows: Rows) -> Rows:
        """The rows with what this stage says about them; what it learned from is answered by one that did not."""
        said, task = rows.answers(self.model), self.stage.recipe.task
        part = np.array([self.parts.get(key, -1) for key in row_keys(self.stage, rows)])
        for fold in np.unique(part[part >= 0]).tolist():
            at = np.flatnonzero(part == fold)
            new = rows.units(task, at).answers(self._without(fold))
            for row, answer in zip(at.tolist(), new, strict=True):
                said[row] = answer
        return rows.answered(self.stage.name, self.model, said)

    def _without(self, fold: int) -> Model:
        """A model of this stage that has not seen one part of its rows."""
        if fold not in self.others:
            mine = np.array([self.parts.get(key, -1) for key in row_keys(self.stage, self.rows)])
            left = np.flatnonzero(mine != fold)
            if not len(left):
                raise DataError(
                    f"Stage {self.stage.name!r} has only copies of one row, so no other rows are left to train on for "
                    "its out-of-fold prediction; give the stage more rows."
                )
            self.others[fold] = self._fitted(self.rows.take(left), str(fold))
        return self.others[fold]

    def _fitted(self, rows: Rows, name: str) -> Model:
        """A model of this stage: that of the checkpoint, or trained now and kept."""
        place = None if self.kept is None else self.kept.part(f"{self.stage.name}.{name}")
        if place is not None and (state := place.get()) is not None:
            return model_of(state)
        found = fit(self.stage.recipe, rows)
        if place is not None:
            place.put(state_of(found))
        return found


def fit(recipe: Recipe, rows: Rows, progress: Watcher | None = None, kept: PartsFile | None = None) -> Model:
    """The model of a recipe on its rows."""
    return train_examples(recipe, rows.examples(recipe.task), progress, kept)


def row_keys(stage: Stage, rows: Rows) -> list[Any]:
    """What puts rows into one part: the value of a column, if there is one; or equal tokens, or an equal text."""
    if stage.by is None:
        return rows.keys(stage.recipe.task)
    columns = rows.batch().columns
    if stage.by not in columns:
        raise DataError(f"There is no column {stage.by!r} by which rows of stage {stage.name!r} are held out.")
    return columns[stage.by].to_pylist()


def _parts(keys: list[Any], folds: int, seed: int) -> dict[Any, int]:
    """The part of each different row: equal rows are in one, so that none is known from its twin; None is in none."""
    distinct = [key for key in dict.fromkeys(keys) if key is not None]
    order = np.random.default_rng(seed).permutation(len(distinct))
    return {key: int(place % folds) for key, place in zip(distinct, order.tolist(), strict=True)}


def rows_of(stage: Stage, given: Mapping[str, Source], last: Rows) -> Rows:
    """The rows that a stage learns from: its own; if it proposes candidates, those of the last stage, and its own."""
    if not isinstance(last, Unlisted):
        return material(stage.recipe, _data(stage, given), stage.truth)
    groups, own = last.groups, given.get(stage.name, stage.data)
    if ANSWER not in groups.columns:
        raise DataError("The examples have no answers to learn from; give a column with the right candidate of each.")
    by = groups.columns.get(stage.by or "")
    if by is not None and by.null_count:
        raise DataError(f"{by.null_count:,} examples have nothing in {stage.by!r}, by which they are held out.")
    groups = groups.take(np.flatnonzero(groups.columns[ANSWER].is_valid()))
    tables = [pa.table({**groups.columns, "text": groups.text})]
    if own is not None:
        batch = join(list(labeled_stream(own).batches()))
        if batch.labels is None or not pa.types.is_string(batch.labels.type):
            raise DataError(f"The data of stage {stage.name!r} need one label for each row.")
        tables.append(pa.table({**batch.columns, "text": batch.text, ANSWER: batch.labels}))
    rows = pa.concat_tables(tables, promote_options="permissive")
    return material(stage.recipe, read(rows, text="text", label=ANSWER), stage.truth)


def _data(stage: Stage, given: Mapping[str, Source]) -> Source:
    source = given.get(stage.name, stage.data)
    if source is None:
        raise UsageError(
            f"Stage {stage.name!r} has no data; name its file in the recipe, or give a dict of data by stage."
        )
    return source


def material(recipe: Recipe, source: Source, truth: str | None = None) -> Rows:
    """The examples of a stage, as rows that answers can be added to."""
    examples = source if isinstance(source, Examples) else recipe.task.examples(source, truth)
    if isinstance(examples.stream, Groups):
        return Unlisted.of(recipe.task, examples.stream)
    return Tokens(examples.stream) if recipe.task.tokens else Texts.of(examples.stream, examples)
