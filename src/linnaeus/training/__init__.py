"""Training: from examples to a model, with folds, strengths, calibration and an evaluation on held-out rows.

train      the steps of a training;  tagging, ranking, stack  those of other tasks
crossfit   scores of rows by models that have not seen them
account    decision, evaluation and facts of a training
tallying   counting models in one pass over the texts
compact    smaller models;  merging  models of more data
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.training.compact import Compact as Compact


__getattr__, __dir__ = room(__name__)
