"""What is said about one text: the answer, how sure it is, and the other answers by rank; quickly where possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.outputs import Multiclass, OneVsRest
from linnaeus.protocols import OneScore, has
from linnaeus.types import Doubles, Json, Label, LabelSets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.model.model import Model


@dataclass(frozen=True, slots=True)  # the standard one: one is made for each text, and its objects are made faster
class Prediction:
    """The answer to one row.

    `label` is a class, a tuple of labels, a number, or None where the model abstains; `probability` that of the label
    (of a set of labels: None). `ranking` has (label, probability) of the best classes, the best first.

    >>> found = Prediction("music", 0.9, (("music", 0.9), ("alarm", 0.1)))
    >>> found.label, found.ranking[1]
    ('music', ('alarm', 0.1))
    """

    label: Label
    probability: float | None = None
    ranking: tuple[tuple[Label, float], ...] = ()

    def to_json(self) -> dict[str, Json]:
        """One JSON object."""
        label = list(self.label) if isinstance(self.label, tuple) else self.label
        found: dict[str, Json] = {"label": label}
        if self.probability is not None:
            found["probability"] = self.probability
        if self.ranking:
            found["ranking"] = [{"label": name, "probability": p} for name, p in self.ranking]
        return found


def best(P: Doubles, count: int) -> NDArray[np.intp]:
    """The indices of the `count` largest of each row, the largest first, of equals the lowest index.

    >>> best(np.array([[0.2, 0.5, 0.3]]), 2).tolist()
    [[1, 2]]
    """
    k = P.shape[1]
    if count >= k or k <= 64:
        return np.argsort(-P, axis=1, kind="stable")[:, :count]
    some = np.sort(np.argpartition(-P, count, axis=1)[:, : count + 1], axis=1)
    values = np.take_along_axis(P, some, axis=1)
    return np.take_along_axis(some, np.argsort(-values, axis=1, kind="stable"), axis=1)[:, :count]


def predictions(model: Model, texts: list[str], top: int = 1) -> list[Prediction]:
    """The answers to texts, as records."""
    from linnaeus.tasks.classify.answers import decide, known, spoken

    S = model.scores(texts)
    if model.classes is None:
        return [Prediction(value) for value in spoken(model, S).tolist()]
    P, found = model.decided().probabilities(S), decide(model, S, known=known(model, texts))
    said = []
    for i, (label, ranking) in enumerate(zip(spoken(model, found).tolist(), ranked(model, P, top), strict=True)):
        # Costs and thresholds may choose another class than the most probable one.
        probability = None if label is None or isinstance(found, LabelSets) else float(P[i, found[i]])
        said.append(Prediction(label, probability, tuple(ranking)))
    return said


def ranked(model: Model, P: Doubles, count: int) -> list[list[tuple[Label, float]]]:
    """The most probable classes of each row, best first, with their probabilities."""
    assert model.classes is not None
    order, names = best(P, min(count, P.shape[1])), model.classes.tolist()
    return [[(names[j], float(P[i, j])) for j in row] for i, row in enumerate(order.tolist())]


def curve_of(model: Model) -> tuple[float, float] | None:
    """That of a model whose decision is no more than the best score and a curve for all classes; None of others."""
    decision, quick = model.decision, model.quick
    if quick is None or decision is None or model.classes is None:
        return None
    rules = decision.rules
    plain = rules.costs is None and rules.abstain is None and decision.thresholds is None
    if not plain:
        return None
    # A single score stands for two classes: it is not that of one class.
    fits = has(model.space, OneScore) if len(quick.b) == 1 else isinstance(model.space, Multiclass | OneVsRest)
    return decision.calibrator.curve if fits else None


def single(model: Model) -> Callable[[str], Prediction] | None:
    """The answer to one text, where only its best class and a curve are needed; else None."""
    curve, quick = curve_of(model), model.quick
    if curve is None or quick is None or model.classes is None:
        return None
    choose, names = quick.choose, model.classes.tolist()

    def answer(text: str) -> Prediction:
        best, p = choose(text, curve)
        label = names[best]
        return Prediction(label, p, ((label, p),))

    return answer
