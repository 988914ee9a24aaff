"""Explain a choice: what each feature adds to the score of the chosen candidate and of the next best one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.evaluation.choices import best_first
from linnaeus.explain.explanation import Explanation, Reason, contrast_of
from linnaeus.explain.found import Found, listed
from linnaeus.features.pairs.base import View
from linnaeus.learners.occlusion import without_each
from linnaeus.tasks.rank.scoring import row_scores
from linnaeus.types import Doubles, Ints

if TYPE_CHECKING:
    from linnaeus.data.groups import Groups
    from linnaeus.model.model import Model

NONE = "none of these"


def explain_choice(model: Model, groups: Groups, row: int) -> Explanation:
    """Explain one example. Features that use other examples of its document see these examples too."""
    start, end = int(groups.offsets[row]), int(groups.offsets[row + 1])
    text = str(groups.text[row].as_py() or "")
    if start == end:
        nothing = listed(text, (), (), np.zeros(0), ())
        return Explanation("candidate", nothing, (), (Reason(NONE, 0.0, 0.0, np.zeros(0), nothing, 0.0),))
    X = model.features.rows(View(groups)).rows_slice(start, end)
    s = row_scores(model.params, model.body, X)
    best = best_first(s, np.array([0, len(s)]))[:2].tolist()
    words = groups.candidates.slice(start, end - start).to_pylist()
    names = _told_apart([NONE if words[at] is None else words[at] for at in best])
    columns = np.unique(np.concatenate([_columns(X, at) for at in best])).tolist()
    said = model.features.names()
    found = listed(text, [said[column] for column in columns], columns, np.ones(len(columns)), [None] * len(columns))
    make = _weighed if model.body is None else _occluded
    reasons = tuple(make(model, X, at, found, (name, float(s[at]))) for at, name in zip(best, names, strict=True))
    contrast = contrast_of(reasons[0], reasons[1]) if len(reasons) > 1 else None
    exact = model.body is None
    return Explanation("candidate", reasons[0].found, (names[0],), reasons, contrast, exact=exact)


def _weighed(model: Model, X: CSR, row: int, found: Found, named: tuple[str, float]) -> Reason:
    """All candidates have the same weights; a contrast has the difference of their values."""
    name, score = named
    values: Doubles = np.zeros(X.width)
    values[_columns(X, row)] = X.data[int(X.indptr[row]) : int(X.indptr[row + 1])]
    own = replace(found, values=values[found.columns])
    return Reason(name, score, 0.0, model.params["W"][found.columns, 0].astype(np.float64), own, score)


def _occluded(model: Model, X: CSR, row: int, found: Found, named: tuple[str, float]) -> Reason:
    """The score of a candidate minus that without each of its features; what is left is the bias."""
    name, score = named
    effects: Doubles = np.zeros(X.width)
    effects[_columns(X, row)] = score - row_scores(model.params, model.body, without_each(X, row))
    amounts = effects[found.columns]
    return Reason(name, score, score - float(amounts.sum()), amounts, found, score)


def _columns(X: CSR, row: int) -> Ints:
    return X.indices[int(X.indptr[row]) : int(X.indptr[row + 1])]


def _told_apart(names: list[str]) -> list[str]:
    """Equal names get a number."""
    return [name if name not in names[:at] else f"{name} ({at + 1})" for at, name in enumerate(names)]
