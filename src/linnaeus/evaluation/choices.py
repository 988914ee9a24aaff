"""The facts of choices among candidates: the rank of the right one."""

from __future__ import annotations

import numpy as np

from linnaeus.errors import DataError
from linnaeus.evaluation.facts import Facts, singles
from linnaeus.evaluation.metrics import DEPTHS
from linnaeus.types import Arrays, Bools, Choices, Doubles, Longs


def observe_choices(s: Doubles, y: Choices, answered: Bools | None = None) -> Facts:
    """The facts of the scores (m,) of all candidates against the truth; an example without a right candidate is wrong.

    `answered` (n,) says for which examples the model chooses; where it abstains, the choice counts as a mistake.

    >>> from linnaeus.evaluation import evaluate
    >>> from linnaeus.types import Choices
    >>> y = Choices(np.array([0, 2, 5]), np.array([False, True, True, False, False]))
    >>> evaluate(observe_choices(np.array([1.0, 2.0, 0.0, 3.0, 1.0]), y)).value("reciprocal-rank").__round__(3)
    0.667
    """
    n = len(y)
    if not n:
        raise DataError("There are no examples to evaluate; give at least one.")
    ranks = right_ranks(s, y)
    values: Arrays = {f"recalled_at_{at}": (ranks <= at).astype(np.uint8) for at in DEPTHS}
    if answered is not None:
        values["recalled_at_1"] *= answered
        values["answered"] = answered.astype(np.uint8)
    values["found_at_1"] = values["recalled_at_1"]
    values |= {"reciprocal_rank": 1.0 / ranks, "candidates": np.diff(y.offsets)}
    none = singles(np.full(n, -1))
    return Facts("candidates", (), np.ones(n) if y.weights is None else y.weights, none, none, values)


def right_ranks(s: Doubles, y: Choices) -> Doubles:
    """The rank, from 1, of the best right candidate of each example; infinity where there is none."""
    order = best_first(s, y.offsets)
    group = np.repeat(np.arange(len(y)), np.diff(y.offsets))
    rank = np.empty(len(s))
    rank[order] = np.arange(len(s)) - y.offsets[group] + 1.0
    found = np.full(len(y), np.inf)
    np.minimum.at(found, group[y.gold], rank[y.gold])
    return found


def best_first(s: Doubles, offsets: Longs) -> Longs:
    """The candidates of each example, best first; equal scores keep their order.

    >>> best_first(np.array([1.0, 2.0, 2.0, 0.0]), np.array([0, 3, 4])).tolist()
    [1, 2, 0, 3]
    """
    group = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.lexsort((np.arange(len(s)), -s, group)).astype(np.int64)
