"""Answers for which the best class and one curve of its score are enough, without rows and class scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from linnaeus.outputs import Binary, Multiclass, OneVsRest
from linnaeus.tasks.classify.prediction import Prediction

if TYPE_CHECKING:
    from linnaeus.model.model import Classifier


def curve_of(model: Classifier) -> tuple[float, float] | None:
    """That of a model whose decision is no more than the best score and a curve for all classes; None of others."""
    decision, quick = model.decision, model.quick
    if quick is None or decision is None or model.classes is None:
        return None
    rules = decision.rules
    plain = rules.costs is None and rules.abstain is None and decision.thresholds is None
    if not plain:
        return None
    # A single score stands for two classes: it is not that of one class.
    fits = isinstance(model.space, Binary) if len(quick.b) == 1 else isinstance(model.space, Multiclass | OneVsRest)
    return decision.calibrator.curve if fits else None


def single(model: Classifier) -> Callable[[str], Prediction] | None:
    """The answer to one text, where only its best class and a curve are needed; else None."""
    curve = curve_of(model)
    if curve is None or model.classes is None:
        return None
    choose, names = model.quick.choose, model.classes.tolist()

    def answer(text: str) -> Prediction:
        best, p = choose(text, curve)
        label = names[best]
        return Prediction(label, p, ((label, p),))

    return answer
