"""The votes of neighbors: the weight of each, and the labels they vote for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linnaeus.errors import damaged, expect_within
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Arrays, Doubles, Ints, LabelSets, Truth


@dataclass(frozen=True, kw_only=True)
class Plain:
    """Equal votes: every neighbor has one vote.

    >>> Plain()
    Plain()
    """

    def refuse(self, metric: str) -> str | None:
        """Accept every metric."""
        return None

    def weigh(self, scores: Doubles, metric: str) -> Doubles:
        """Ones (n, count)."""
        return np.ones_like(scores)


@dataclass(frozen=True, kw_only=True)
class ByDistance:
    """A neighbor's vote is 1 / distance; where some are at distance 0, only these vote (Dudani 1976).

    The distance is Euclidean, or 1 - cosine.

    >>> ByDistance().weigh(np.array([[-1.0, -2.0], [0.0, -2.0]]), "euclidean").tolist()
    [[1.0, 0.5], [1.0, 0.0]]
    """

    def refuse(self, metric: str) -> str | None:
        """Refuse the inner product, which is not a distance."""
        if metric == "inner":
            return "Votes by distance do not support the metric inner; use votes='plain' or votes='kernel'."
        return None

    def weigh(self, scores: Doubles, metric: str) -> Doubles:
        """The votes (n, count)."""
        gaps = np.maximum(0.0, 1.0 - scores if metric == "cosine" else -scores)
        here = gaps == 0
        return np.where(here.any(axis=1)[:, None], here, 1.0 / np.where(here, 1.0, gaps))


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A neighbor's vote is exp(closeness / width), relative to the nearest (Nadaraya 1964, Watson 1964).

    Closeness is the cosine or the inner product; for Euclidean distances the kernel is the Gaussian one,
    exp(-distance^2 / (2 width^2)).

    >>> Kernel(width=1.0).weigh(np.array([[1.0, 0.0]]), "inner").round(3).tolist()
    [[1.0, 0.368]]
    """

    width: float = 0.1

    def __post_init__(self) -> None:
        expect_within("width", self.width, float, "(0, inf)")

    def refuse(self, metric: str) -> str | None:
        """Accept every metric."""
        return None

    def weigh(self, scores: Doubles, metric: str) -> Doubles:
        """The votes (n, count)."""
        powers = -((scores / self.width) ** 2) / 2 if metric == "euclidean" else scores / self.width
        return np.exp(powers - powers.max(axis=1, keepdims=True))


CLASSES = 64
"""Most classes for each row; more cannot occur in the rows."""


@dataclass(frozen=True, eq=False)
class Known:
    """The labels y of n rows with k classes, labels or numbers, and weights if they are not all one."""

    y: Truth
    k: int
    weights: Doubles | None = None

    def share(self, rows: Ints, votes: Doubles) -> Doubles:
        """Combine the votes of neighbors (n, count): shares of classes or labels, or means of numbers (n, k)."""
        if self.weights is not None:
            votes = votes * self.weights[rows]
        votes = votes / votes.sum(axis=1, keepdims=True)
        if isinstance(self.y, LabelSets):
            return self._sets(rows, votes)
        n = len(rows)
        if self.y.dtype.kind == "f":
            return np.einsum("nc,nck->nk", votes, self.y[rows])
        places = (np.arange(n)[:, None] * self.k + self.y[rows]).reshape(-1)
        return _sums(places, votes.reshape(-1), (n, self.k))

    def _sets(self, rows: Ints, votes: Doubles) -> Doubles:
        assert isinstance(self.y, LabelSets)
        n, count = rows.shape
        there = self.y[rows.reshape(-1)]
        sizes = np.diff(there.offsets)
        query = np.repeat(np.repeat(np.arange(n), count), sizes)
        return _sums(query * self.k + there.labels, np.repeat(votes.reshape(-1), sizes), (n, self.k))

    def tensors(self) -> Arrays:
        """The arrays."""
        found: Arrays = {} if self.weights is None else {"weights": self.weights}
        if isinstance(self.y, LabelSets):
            return found | {"truth.offsets": self.y.offsets, "truth.labels": self.y.labels}
        return found | {"truth": self.y}


def _sums(places: Array, votes: Doubles, shape: tuple[int, int]) -> Doubles:
    """Sums of the votes by class, added in order."""
    return np.bincount(places, votes, shape[0] * shape[1]).astype(np.float64, copy=False).reshape(shape)


def known_of(tensors: Mapping[str, Array], n: int, k: int) -> Known:
    """Restore the labels of n rows; arrays whose shapes do not match are refused."""
    weights = tensors.get("weights")
    _refuse(1 <= k <= CLASSES * (n + 1))
    if weights is not None:
        _refuse(weights.shape == (n,) and weights.dtype == np.float64)
        _refuse(bool(np.isfinite(weights).all() and (weights > 0).all()))
    if "truth.offsets" in tensors:
        sets = LabelSets(tensors["truth.offsets"], tensors["truth.labels"])
        _refuse(sets.offsets.dtype == np.int64 and sets.labels.dtype == np.int32)
        _refuse(sets.offsets.shape == (n + 1,) and sets.labels.ndim == 1)
        _refuse(sets.offsets[0] == 0 and sets.offsets[-1] == len(sets.labels))
        _refuse(bool((np.diff(sets.offsets) >= 0).all()) and _inside(sets.labels, k))
        return Known(sets, k, weights)
    y = tensors["truth"]
    if y.dtype == np.float64:
        _refuse(y.shape == (n, k) and bool(np.isfinite(y).all()))
    else:
        _refuse(y.dtype == np.int32 and y.shape == (n,) and _inside(y, k))
    return Known(y, k, weights)


def _inside(labels: Array, k: int) -> bool:
    return not len(labels) or bool(0 <= labels.min() <= labels.max() < k)


def _refuse(fine: bool | np.bool_) -> None:
    if not fine:
        raise damaged("the labels do not match the rows")
