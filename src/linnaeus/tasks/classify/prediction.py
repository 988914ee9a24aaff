"""What is said about one row: the answer, how sure it is, and the other answers by rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from linnaeus.types import Doubles


@dataclass(frozen=True, slots=True)  # the standard one: one is made for each text, and its objects are made faster
class Prediction:
    """The answer to one row.

    `label` is a class, a tuple of labels, a number, or None where the model abstains; `probability` that of the label
    (of a set of labels: None). `ranking` has (label, probability) of the best classes, the best first.

    >>> found = Prediction("music", 0.9, (("music", 0.9), ("alarm", 0.1)))
    >>> found.label, found.ranking[1]
    ('music', ('alarm', 0.1))
    """

    label: Any
    probability: float | None = None
    ranking: tuple[tuple[Any, float], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """One JSON object."""
        label = list(self.label) if isinstance(self.label, tuple) else self.label
        found: dict[str, Any] = {"label": label}
        if self.probability is not None:
            found["probability"] = self.probability
        if self.ranking:
            found["ranking"] = [{"label": name, "probability": p} for name, p in self.ranking]
        return found


def best(P: Doubles, count: int) -> Any:
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


def predictions(model: Any, texts: list[str], top: int = 1) -> list[Prediction]:
    """The answers to texts, as records."""
    S = model.scores(texts)
    if model.classes is None:
        return [Prediction(value) for value in model.spoken(S).tolist()]
    P, found = model.decision.probabilities(S), model.decide(S, known=model.known(texts))
    order = best(P, min(top, P.shape[1]))
    names = model.classes.tolist()
    said = []
    for i, label in enumerate(model.spoken(found).tolist()):
        ranking = tuple((names[j], float(P[i, j])) for j in order[i].tolist())
        # Costs and thresholds may choose another class than the most probable one.
        probability = None if label is None or isinstance(label, tuple) else float(P[i, found[i]])
        said.append(Prediction(label, probability, ranking))
    return said
