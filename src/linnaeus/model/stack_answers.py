"""What a stage answers, row by row, and the rows with these answers beside them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from linnaeus.model.stack_columns import labels_of

if TYPE_CHECKING:
    from linnaeus.model.stack_material import Texts, Tokens
    from linnaeus.recipes.stack_recipe import Stage

    Material: TypeAlias = Tokens | Texts


def answers_of(stage: Stage, model: Any, rows: Material) -> list[Any]:
    """The tags of each sentence, or the label of each text."""
    if stage.task == "tag":
        tags: list[Any] = rows.sentences.lists(model.tagged(rows.sentences))
        return tags
    return list(labels_of(model, rows.batch()))


def answered(stage: Stage, model: Any, rows: Material, said: list[Any]) -> Material:
    """The rows with these answers of the stage."""
    if stage.task == "tag":
        tags = pa.array(list(chain.from_iterable(said)), pa.large_string())
        return rows.tagged(stage.name, tags, model.recipe.encoding != "plain")
    return rows.labeled(stage.name, said)
