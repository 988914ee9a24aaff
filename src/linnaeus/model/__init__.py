"""Models: what a recipe trains, in memory and in one file.

model, tagger, ranker, stack   a trained model of each kind, and `*file` how it is stored
opening     `load`: whatever a file holds
scorer      features and weights compiled into one kernel
manifests   what the manifest of a file may hold
kept_texts  training texts that a model keeps;  contents  what of the data is in it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.model.model import Classifier as Classifier
    from linnaeus.model.opening import load as load
    from linnaeus.model.ranker import RankModel as RankModel
    from linnaeus.model.stack import StackModel as StackModel
    from linnaeus.model.tagger import TagModel as TagModel
    from linnaeus.tasks.classify.prediction import Prediction as Prediction


__getattr__, __dir__ = room(__name__)
