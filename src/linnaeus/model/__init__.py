"""Models: what a recipe trains, in memory and in one file.

model       `Model`, whatever its task;  stages  the earlier models of a pipeline
file        how it is stored, and `load`;  manifests  what the manifest of a file may hold
scorer      features and weights compiled into one kernel
kept_texts  training texts that a model keeps;  summary  what is said of a model, and what of the data is in it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.model.file import load as load
    from linnaeus.model.model import Model as Model
    from linnaeus.tasks.classify.prediction import Prediction as Prediction


__getattr__, __dir__ = room(__name__)
