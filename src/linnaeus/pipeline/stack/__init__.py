"""Pipelines of classifiers: what one says is a feature of the next. Part of speech, then entities, then the topic.

recipe.py     Stage and StackRecipe: the stages in order, each a recipe of its own, with data of its own
training.py   out-of-fold answers: no stage learns from an answer to a row that the stage before was shown
spoken.py     what a stage says about texts and sentences, as further columns
model.py      StackModel: all stages, from a text to the last answer;  modelfile.py  in one file
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import lazily

if TYPE_CHECKING:
    from linnaeus.pipeline.stack.model import StackModel as StackModel
    from linnaeus.pipeline.stack.recipe import StackRecipe as StackRecipe
    from linnaeus.pipeline.stack.recipe import Stage as Stage

_HOMES = {"Stage": "recipe", "StackModel": "model", "StackRecipe": "recipe"}

__all__ = ["StackModel", "StackRecipe", "Stage"]

__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
