"""Pipelines of models: the predictions of one are features of the next, such as parts of speech, entities, topic.

recipe.py     Stage and StackRecipe: the stages in order, each a recipe of its own, with data of its own
training.py   out-of-fold predictions: no stage learns from a prediction for an earlier stage's training row
spoken.py     predictions of a stage for texts and sentences, as more columns
model.py      StackModel: all stages, from a text to the last prediction;  modelfile.py  in one file
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.pipeline.stack.model import StackModel as StackModel
    from linnaeus.pipeline.stack.recipe import StackRecipe as StackRecipe
    from linnaeus.pipeline.stack.recipe import Stage as Stage


__getattr__, __dir__ = room(__name__)
