"""Explain why one candidate scores above another: the difference of their features, weight by weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.evaluation.choices import best_first
from linnaeus.features.pairs.base import View
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.groups import Groups
    from linnaeus.types import Json


@dataclass(frozen=True, slots=True)
class ChoiceReason:
    """The chosen candidate and the second best: their scores, and what each feature adds to the difference.

    `parts` are (feature, contribution), the largest first; they add up to `score - against_score`. A candidate of None
    means "none of these", or that there was no candidate.
    """

    chosen: str | None
    score: float
    against: str | None
    against_score: float
    parts: tuple[tuple[str, float], ...]

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        scores = {"chosen": self.chosen, "score": self.score, "against": self.against}
        parts = [{"feature": name, "contribution": value} for name, value in self.parts]
        return {**scores, "against_score": self.against_score, "parts": parts}


def reason(model: Any, groups: Groups, row: int) -> ChoiceReason:
    """Explain one example. Features that use other examples of its document see these examples too."""
    start, end = int(groups.offsets[row]), int(groups.offsets[row + 1])
    if start == end:
        return ChoiceReason(None, 0.0, None, 0.0, ())
    X, w = model.features.rows(View(groups)), model.weights.astype(np.float64)
    s = X.rows_slice(start, end).dot(w)
    order = best_first(s, np.array([0, len(s)])).tolist()
    words = groups.candidates.slice(start, end - start).to_pylist()
    total = _contributions(X, w, start + order[0], 1.0)
    if len(order) > 1:
        for column, value in _contributions(X, w, start + order[1], -1.0).items():
            total[column] = total.get(column, 0.0) + value
    names = model.features.names()
    parts = sorted(((names[column], value) for column, value in total.items() if value), key=lambda p: -abs(p[1]))
    second = order[1] if len(order) > 1 else None
    against, least = (None, 0.0) if second is None else (words[second], float(s[second]))
    return ChoiceReason(words[order[0]], float(s[order[0]]), against, least, tuple(parts))


def _contributions(X: Any, w: Any, row: int, sign: float) -> dict[int, float]:
    inside = slice(int(X.indptr[row]), int(X.indptr[row + 1]))
    columns, values = X.indices[inside], X.data[inside].astype(np.float64)
    return dict(zip(columns.tolist(), (sign * values * w[columns]).tolist(), strict=True))
