"""Explain why one candidate scores above another: the difference of their features, weight by weight."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.evaluation.choices import best_first
from linnaeus.explain.explanation import Explanation, Reason, contrast_of
from linnaeus.explain.found import listed
from linnaeus.features.pairs.base import View

if TYPE_CHECKING:
    from linnaeus.arrays.csr import CSR
    from linnaeus.data.groups import Groups
    from linnaeus.model.model import Model

NONE = "none of these"


def reason(model: Model, groups: Groups, row: int) -> Explanation:
    """Explain one example. Features that use other examples of its document see these examples too.

    Both candidates have the same weights; their contrast has the difference of their values.
    """
    start, end = int(groups.offsets[row]), int(groups.offsets[row + 1])
    text = str(groups.text[row].as_py() or "")
    if start == end:
        nothing = listed(text, (), (), np.zeros(0), ())
        return Explanation("candidate", nothing, (), (Reason(NONE, 0.0, 0.0, np.zeros(0), nothing, 0.0),))
    X, w = model.features.rows(View(groups)), model.params["W"][:, 0].astype(np.float64)
    s = X.rows_slice(start, end).dot(w)
    best = best_first(s, np.array([0, len(s)]))[:2].tolist()
    words = groups.candidates.slice(start, end - start).to_pylist()
    inside = [_features(X, start + at) for at in best]
    columns = sorted(set().union(*inside))
    names = model.features.names()
    found = listed(text, [names[column] for column in columns], columns, np.zeros(len(columns)), [None] * len(columns))
    reasons: list[Reason] = []
    for at, values in zip(best, inside, strict=True):
        name = NONE if words[at] is None else words[at]
        name = f"{name} ({at + 1})" if any(other.name == name for other in reasons) else name
        own = replace(found, values=np.array([values.get(column, 0.0) for column in columns]))
        reasons.append(Reason(name, float(s[at]), 0.0, w[columns], own, float(s[at])))
    contrast = contrast_of(reasons[0], reasons[1]) if len(reasons) > 1 else None
    return Explanation("candidate", reasons[0].found, (reasons[0].name,), tuple(reasons), contrast)


def _features(X: CSR, row: int) -> dict[int, float]:
    inside = slice(int(X.indptr[row]), int(X.indptr[row + 1]))
    return dict(zip(X.indices[inside].tolist(), X.data[inside].astype(np.float64).tolist(), strict=True))
