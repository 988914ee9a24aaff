"""What is checked of the model of a file that classifies texts, or predicts numbers: it answers one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.errors import damaged
from linnaeus.learners.restore import scores_of

if TYPE_CHECKING:
    from linnaeus.model.model import Model


def check_answers(model: Model) -> None:
    """Decide on one row of zeros: parts of a decision that are for other scores show here, not when it is used."""
    if not model.params:
        _score_one_row(model)
    if model.classes is None:
        return
    if model.decision is None:
        raise damaged("it has classes and no way to decide between them")
    S = model.class_scores(np.zeros((1, model.space.width(len(model.classes)))))
    P = model.decision.probabilities(S)
    if P.shape != (1, len(model.classes)) or (model.decision.calibrator.kind == "labels") != (model.form != "single"):
        raise damaged("its way to decide does not fit its classes")
    model.decision.decide(S)
    if model.decision.scope is not None:
        model.decision.out_of_scope(S)
    if model.decision.conformal is not None:
        model.decision.conformal.sets(P, 0.5)


def _score_one_row(model: Model) -> None:
    """Score a row that has the last feature: a model for other features, or for other classes, shows here."""
    if model.body is None:
        raise damaged("it has no weights")
    there = min(1, model.features.width)
    columns = np.full(there, model.features.width - 1, np.int32)
    row = CSR(np.array([0, there]), columns, np.ones(there, np.float32), model.features.width)
    S = scores_of(model.body, row, model.space)
    if model.classes is not None and S.shape != (1, model.space.width(len(model.classes))):
        raise damaged("its model does not fit its classes")
