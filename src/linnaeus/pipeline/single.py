"""One text at a time: the few steps between its scores and its answer, without arrays of rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.decision.temperature import FittedTemperature
from linnaeus.outputs import Binary, Multiclass, OneVsRest
from linnaeus.pipeline.prediction import Prediction

if TYPE_CHECKING:
    from linnaeus.pipeline.classifier import Classifier

EXTREME = 700.0
"""Beyond this, e to the power of it is no number."""


def single(model: Classifier) -> Callable[[str], Prediction] | None:
    """The answer to one text, where a decision is no more than the best score over a temperature; else None."""
    decision, quick = model.decision, model.quick
    if quick is None or decision is None or model.classes is None:
        return None
    rules, calibrator = decision.rules, decision.calibrator
    plain = rules.costs is None and rules.abstain is None and decision.thresholds is None
    if not plain or not isinstance(calibrator, FittedTemperature):
        return None
    names, heat = model.classes.tolist(), calibrator.temperature
    if isinstance(model.space, Binary):
        return _of_two(quick.score, names, heat)
    return _of_many(quick.score, names, heat) if isinstance(model.space, Multiclass | OneVsRest) else None


def _of_two(score: Callable[[str], Any], names: list[Any], heat: float) -> Callable[[str], Prediction]:
    def answer(text: str) -> Prediction:
        s = float(score(text)[0])
        p = 1.0 / (1.0 + math.exp(-min(abs(s) / heat, EXTREME)))
        label = names[s > 0.0]
        return Prediction(label, p, ((label, p),))

    return answer


def _of_many(score: Callable[[str], Any], names: list[Any], heat: float) -> Callable[[str], Prediction]:
    def answer(text: str) -> Prediction:
        S = score(text)
        best = int(S.argmax())
        p = 1.0 / float(np.exp((S - S[best]) / heat).sum())
        label = names[best]
        return Prediction(label, p, ((label, p),))

    return answer
