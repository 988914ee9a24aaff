"""Conformal prediction: label sets that contain the true label with a given coverage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from linnaeus.decision.scores import check_share
from linnaeus.errors import UsageError, damaged, damaged_or_newer
from linnaeus.frozen import dataclass
from linnaeus.store.states import tensor
from linnaeus.types import Array, Bools, Doubles, Json, LabelSets, Longs, State, offsets_of

Within: TypeAlias = Literal["all", "class"]
WITHIN: tuple[Within, ...] = ("all", "class")
KEPT, EXACT = 2000, 200
"""The number of quantiles of the strangeness that are kept, and of the largest values that are kept exactly."""

PENALTY, FREE = 0.01, 4


def least_ambiguous(P: Doubles) -> Doubles:
    """1 - P(y): the smallest sets on average (Sadinle, Lei and Wasserman 2019). Unsure rows may get an empty set.

    >>> least_ambiguous(np.array([[0.7, 0.3]])).round(2).tolist()
    [[0.3, 0.7]]
    """
    return 1.0 - P


def adaptive(P: Doubles) -> Doubles:
    """The probability of all more likely classes plus half of the class's own: larger sets for harder rows.

    Romano, Sesia and Candes 2020 draw at random where inside its own probability a class stands; taking the middle
    keeps the coverage, and gives one text the same set every time.

    >>> adaptive(np.array([[0.7, 0.3]])).round(2).tolist()
    [[0.35, 0.85]]
    """
    order = np.argsort(-P, axis=1, kind="stable")
    ranked = np.take_along_axis(P, order, axis=1)
    strange = np.empty_like(P)
    np.put_along_axis(strange, order, np.cumsum(ranked, axis=1) - 0.5 * ranked, axis=1)
    return strange


def regularized(P: Doubles) -> Doubles:
    """As `adaptive`, and 0.01 more for each more likely class after the fifth: no long tails of unlikely classes.

    Angelopoulos et al. 2021, with the penalty and the number of free ranks they recommend.

    >>> regularized(np.full((1, 8), 0.125)).round(4).tolist()
    [[0.0625, 0.1875, 0.3125, 0.4375, 0.5625, 0.6975, 0.8325, 0.9675]]
    """
    ranks = np.empty(P.shape, np.int64)
    np.put_along_axis(ranks, np.argsort(-P, axis=1, kind="stable"), np.arange(P.shape[1])[None, :], axis=1)
    return adaptive(P) + PENALTY * np.maximum(0, ranks - FREE)


STRANGENESS: dict[str, Callable[[Doubles], Doubles]] = {"lac": least_ambiguous, "aps": adaptive, "raps": regularized}
"""How strange each class would be as the true one (n, k), from probabilities (n, k); larger is stranger.

By plain name: least ambiguous classes, adaptive prediction sets, regularized ones.
"""


@dataclass(frozen=True)
class Conformal:
    """Label sets {y: strangeness(y) <= q}, q the ceil((n + 1) coverage)-th smallest strangeness of n true labels.

    If new rows come from the same distribution, the set contains the true label with the given probability, for any
    model (Vovk, Gammerman and Shafer 2005). Within "class" that holds for the rows of each class; a class
    with too few rows for it uses those of all. The n rows must be ones that the model was not trained on.

    >>> P, y = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]]), np.array([0, 1, 1, 1])
    >>> sets = Conformal().fit(P, y).sets(np.array([[0.65, 0.35], [0.45, 0.55]]), 0.8)
    >>> sets.offsets.tolist(), sets.labels.tolist()
    ([0, 1, 3], [0, 0, 1])
    """

    strangeness: str = "lac"
    within: Within = "all"

    def __post_init__(self) -> None:
        if self.strangeness not in STRANGENESS:
            raise UsageError(f"strangeness takes {' or '.join(map(repr, STRANGENESS))}, not {self.strangeness!r}.")
        if self.within not in WITHIN:
            raise UsageError(f"within takes {' or '.join(map(repr, WITHIN))}, not {self.within!r}.")

    def fit(self, P: Doubles, truth: Array) -> FittedConformal:
        """Learn the quantiles for any later coverage from probabilities (n, k) and true classes (n,)."""
        return self.learn(self.strange(P, truth), truth, P.shape[1])

    def strange(self, P: Doubles, truth: Array) -> Doubles:
        """The strangeness of the true class of each row (n,)."""
        return STRANGENESS[self.strangeness](P)[np.arange(len(P)), np.asarray(truth)]

    def learn(self, strange: Doubles, truth: Array, k: int) -> FittedConformal:
        """The same from the results of `strange`, for rows that come in batches."""
        y = np.asarray(truth)
        groups = [strange] if self.within == "all" else [strange, *(strange[y == c] for c in range(k))]
        kept = [_quantiles(group) for group in groups]
        ends = offsets_of([len(ranks) for ranks, _ in kept])
        ranks, values = (np.concatenate(arrays) for arrays in zip(*kept, strict=True))
        return FittedConformal(self, np.array([len(g) for g in groups], np.int64), ends, ranks, values)


@dataclass(frozen=True, eq=False)
class FittedConformal:
    """Ranks and values of sorted strangeness: of all rows first, then of each class if the recipe says so.

    The r-th smallest of group g is the value at the first rank of ranks[ends[g]:ends[g+1]] that is at least r.
    """

    recipe: Conformal
    counts: Longs
    ends: Longs
    ranks: Longs
    values: Doubles

    def bounds(self, coverage: float) -> Doubles:
        """Q for all classes (1,), or for each (k,)."""
        check_share("coverage", coverage)
        found = np.array([self._bound(group, coverage) for group in range(len(self.counts))])
        return found if len(found) == 1 else np.where(np.isfinite(found[1:]), found[1:], found[0])

    def _bound(self, group: int, coverage: float) -> float:
        rank = np.ceil((self.counts[group] + 1) * coverage * (1.0 - 1e-12))
        if rank > self.counts[group]:
            return np.inf
        a, b = self.ends[group], self.ends[group + 1]
        return float(self.values[a + np.searchsorted(self.ranks[a:b], rank)])

    def members(self, P: Doubles, coverage: float) -> Bools:
        """Which classes are in the set of each row (n, k)."""
        return STRANGENESS[self.recipe.strangeness](P) <= self.bounds(coverage)

    def sets(self, P: Doubles, coverage: float) -> LabelSets:
        """The label set of each row; an empty set means that no class is likely enough."""
        return as_sets(self.members(P, coverage))

    def state(self) -> State:
        """The recipe by name, and vectors."""
        manifest = {"kind": "conformal", "strangeness": self.recipe.strangeness, "within": self.recipe.within}
        tensors = {"counts": self.counts, "ends": self.ends, "ranks": self.ranks, "values": self.values}
        return State(manifest, tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedConformal:
        """Restore from the result of `state`."""
        named: dict[str, Json] = {name: state.manifest.get(name) for name in ("strangeness", "within")}
        if state.manifest.get("kind") != "conformal" or named["strangeness"] not in STRANGENESS:
            raise damaged_or_newer(f"its label sets are of kind {named['strangeness']!r}")
        if named["within"] not in WITHIN:
            raise damaged(f"its label sets are within {named['within']!r}")
        counts, ends, ranks = (tensor(state.tensors, name, np.int64) for name in ("counts", "ends", "ranks"))
        values = tensor(state.tensors, "values", np.float64)
        _check(counts, ends, ranks, values)
        if (len(counts) == 1) != (named["within"] == "all"):
            raise damaged("its label sets have another number of groups than they say")
        return cls(Conformal(**named), counts, ends, ranks, values)


def as_sets(members: Bools) -> LabelSets:
    """Rows of yes and no (n, k) as label sets.

    >>> as_sets(np.array([[True, False], [False, False]])).offsets.tolist()
    [0, 1, 1]
    """
    return LabelSets(offsets_of(members.sum(axis=1)), np.nonzero(members)[1].astype(np.int32))


def _quantiles(strange: Doubles) -> tuple[Longs, Doubles]:
    """Ranks (from 1) and values: evenly spread, and the largest ones as they are."""
    n = len(strange)
    even = np.ceil(np.linspace(0.0, n, KEPT + 1)[1:]).astype(np.int64) if n else np.zeros(0, np.int64)
    ranks = np.union1d(even, np.arange(max(1, n - EXACT), n + 1))
    return ranks, np.sort(strange)[ranks - 1]


def _check(counts: Longs, ends: Longs, ranks: Longs, values: Doubles) -> None:
    """Refuse vectors that do not fit together."""
    fit = len(counts) > 0 and len(ends) == len(counts) + 1 and ends[0] == 0 and (np.diff(ends) >= 0).all()
    if not fit or not ends[-1] == len(ranks) == len(values) or not np.isfinite(values).all():
        raise damaged("the quantiles of its label sets do not fit")
    for g, count in enumerate(counts.tolist()):
        mine = ranks[ends[g] : ends[g + 1]]
        if count < 0 or (np.diff(mine) <= 0).any() or (len(mine) == 0) != (count == 0):
            raise damaged("the quantiles of its label sets are not in order")
        if count and (mine[0] < 1 or mine[-1] != count):
            raise damaged("the quantiles of its label sets do not reach to the last row")
