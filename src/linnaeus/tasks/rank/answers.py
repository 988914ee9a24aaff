"""Answers of rankers: scores of candidates, the chosen one, all in order; as Arrow columns, and judged."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.arrays.numerics import finite_scores
from linnaeus.evaluation.choices import best_first
from linnaeus.features.pairs.base import View
from linnaeus.outputs import Candidates
from linnaeus.types import Choices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.data.groups import Groups
    from linnaeus.evaluation import Facts
    from linnaeus.model.model import Model
    from linnaeus.tasks.classify.answers import Wish
    from linnaeus.types import Doubles, Longs


def pair_scores(model: Model, groups: Groups) -> Doubles:
    """The scores of all candidates (m,)."""
    return finite_scores(model.features.scores(View(groups), model.params["W"][:, 0].astype(np.float64)))


def choices(model: Model, groups: Groups, abstain: Any = None) -> Longs:
    """The position of the chosen candidate of each example; -1: "none of these", no candidates, or abstained."""
    s = pair_scores(model, groups)
    found = Candidates().decode(s[:, None], groups.offsets)
    last = np.diff(groups.offsets) - 1
    task: Any = model.task
    kept = np.where(found == last, -1, found) if task.none == "option" else found
    return kept if abstain is None else np.where(_sure(s, groups, abstain), kept, -1)


def _sure(s: Doubles, groups: Groups, abstain: Any) -> NDArray[np.bool_]:
    """Whether each choice is sure enough; probabilities are those of the best two candidates."""
    from linnaeus.decision.abstention import sure

    p, order = softmax(s, groups), best_first(s, groups.offsets)
    counts = np.diff(groups.offsets)
    P = np.zeros((len(groups), 2))
    for place in (0, 1):
        has = counts > place
        P[has, place] = p[order[groups.offsets[:-1][has] + place]]
    return sure(abstain, np.zeros(len(groups), np.intp), P)


def softmax(s: Doubles, groups: Groups) -> Doubles:
    """The probability of each candidate among those of its example (m,)."""
    every = Choices(groups.offsets, np.ones(len(s), bool))
    return Candidates().soft(s[:, None], every).parts[:, 0]


def ranked(model: Model, groups: Groups) -> list[list[tuple[str | None, float]]]:
    """The candidates of each example, best first, with their probabilities."""
    s = pair_scores(model, groups)
    p = softmax(s, groups)
    order, words = best_first(s, groups.offsets), groups.candidates.to_pylist()
    found = [(words[at], float(p[at])) for at in order.tolist()]
    return [found[a:b] for a, b in pairwise(groups.offsets.tolist())]


def columns(model: Model, groups: Groups, wish: Wish) -> pa.RecordBatch:
    """The chosen candidate of each example, its index and its probability; with `top` the best ones."""
    rows = ranked(model, groups)
    places = choices(model, groups, wish.abstain).tolist()
    first = [row[0] if row else (None, None) for row in rows]
    if wish.abstain is not None:
        first = [told if at >= 0 else (None, None) for told, at in zip(first, places, strict=True)]
    found: dict[str, Any] = {name: groups.column(name) for name in wish.keep}
    found |= {
        "choice": pa.array([name for name, _ in first], pa.string()),
        "place": pa.array([None if at < 0 else at for at in places], pa.int64()),
        "probability": pa.array([p for _, p in first], pa.float64()),
    }
    if wish.top:
        top = [[{"choice": a, "probability": p} for a, p in row[: wish.top]] for row in rows]
        found["top"] = pa.array(top, pa.list_(pa.struct([("choice", pa.string()), ("probability", pa.float64())])))
    return pa.RecordBatch.from_pydict(found)


def observed(model: Model, groups: Groups, abstain: Any = None) -> Facts:
    """The facts of the scores of all candidates, by which choices are evaluated."""
    from linnaeus.evaluation import observe_choices

    s = pair_scores(model, groups)
    answered = None if abstain is None else _sure(s, groups, abstain)
    return observe_choices(s, groups.truth(), answered)


def looks_around(piece: Any) -> bool:
    """Whether a feature, or one inside it, puts examples together by a column."""
    if isinstance(piece, tuple):
        return any(map(looks_around, piece))
    if not is_dataclass(piece):
        return False
    inside = {part.name: getattr(piece, part.name) for part in fields(piece)}
    return inside.get("by") is not None or any(map(looks_around, inside.values()))
