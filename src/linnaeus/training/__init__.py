"""Training: from examples to a model, with folds, strengths, calibration and an evaluation on held-out rows.

train      the steps of a training, for every task;  stages  those of a pipeline
fingerprint   whether two models were trained on the same data
compact    smaller models;  merging  models of more data
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.training.compact import Compact as Compact


__getattr__, __dir__ = room(__name__)
