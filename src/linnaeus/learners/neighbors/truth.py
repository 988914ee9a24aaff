"""The labels of the rows of a nearest-neighbors model (classes, label sets or numbers), and their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from linnaeus.types import Doubles, Ints, Truth


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
            means: Doubles = np.einsum("nc,nck->nk", votes, self.y[rows])
            return means
        places = (np.arange(n)[:, None] * self.k + self.y[rows]).reshape(-1)
        return _sums(places, votes.reshape(-1), (n, self.k))

    def _sets(self, rows: Ints, votes: Doubles) -> Doubles:
        assert isinstance(self.y, LabelSets)
        n, count = rows.shape
        there = self.y[rows.reshape(-1)]
        sizes = np.diff(there.offsets)
        query = np.repeat(np.repeat(np.arange(n), count), sizes)
        return _sums(query * self.k + there.labels, np.repeat(votes.reshape(-1), sizes), (n, self.k))

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays."""
        found: dict[str, NDArray[Any]] = {} if self.weights is None else {"weights": self.weights}
        if isinstance(self.y, LabelSets):
            return found | {"truth.offsets": self.y.offsets, "truth.labels": self.y.labels}
        return found | {"truth": self.y}


def _sums(places: NDArray[Any], votes: Doubles, shape: tuple[int, int]) -> Doubles:
    """Sums of the votes by class, added in order."""
    found: Doubles = np.bincount(places, votes, shape[0] * shape[1]).astype(np.float64, copy=False).reshape(shape)
    return found


def known_of(tensors: Mapping[str, NDArray[Any]], n: int, k: int) -> Known:
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


def _inside(labels: NDArray[Any], k: int) -> bool:
    return not len(labels) or bool(0 <= labels.min() <= labels.max() < k)


def _refuse(fine: bool | np.bool_) -> None:
    if not fine:
        raise damaged("the labels do not match the rows")
