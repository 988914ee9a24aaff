"""Dimensionality reduction by truncated SVD (latent semantic analysis)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.arrays.numerics import single_blas
from linnaeus.errors import DataError, damaged
from linnaeus.features.base import Block, Fitted, check_around, full_rows
from linnaeus.frozen import dataclass
from linnaeus.store.states import nest
from linnaeus.types import Place, State

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream
    from linnaeus.types import Doubles, Floats

MORE = 10
"""Additional directions of the random projection."""
ROUNDS = 4
"""Power iterations."""


@dataclass(frozen=True)
class Reduced(Block):
    """Truncated SVD of the features X (n, d) of a block: X V, with the first `width` right singular vectors V.

    The SVD of the training rows is computed by random projections with the random seed `seed`. Nothing is centered, so
    sparse rows stay sparse until the product. A text unlike all training texts has small values. There are fewer
    columns if the rows have lower rank.

    Deerwester, Dumais, Furnas, Landauer and Harshman, "Indexing by latent semantic analysis", 1990; Halko, Martinsson
    and Tropp, "Finding structure with randomness", 2011.

    >>> from linnaeus.features import Words
    >>> Reduced(Words(), width=2).fit_rows(["red red", "green", "red"])[1].to_scipy().toarray().round(3).tolist()
    [[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """

    block: Block
    width: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        check_around(self, Block)

    def learn(self, stream: Stream) -> Fitted:
        """Fit the block and find the directions of its rows."""
        return self.learn_rows(stream)[0]

    def learn_rows(self, stream: Stream) -> tuple[Fitted, CSR]:
        """The same, with the rows on these directions."""
        inner, X = self.block.learn_rows(stream)
        features = FittedReduced(inner, directions(X, self.width, self.seed).astype(np.float32))
        return features, features.project(X)


def directions(X: CSR, width: int, seed: int) -> Doubles:
    """The leading right singular vectors of X (d, width or fewer), each with its largest entry above zero.

    >>> X = CSR(np.array([0, 1, 2]), np.array([0, 1], np.int32), np.array([3.0, 4.0]), 2)
    >>> directions(X, 1, 0).round(6).tolist()
    [[0.0], [1.0]]
    """
    n, d = X.shape
    looked = min(width + MORE, n, d)
    if not looked:
        raise DataError("Reduced needs rows with features, and there are none; give at least one.")
    rng = np.random.default_rng(seed)
    with single_blas():
        Q = np.linalg.qr(X.dot(rng.standard_normal((d, looked))))[0]
        for _ in range(ROUNDS):
            Z = np.linalg.qr(X.tdot(Q))[0]
            Q = np.linalg.qr(X.dot(Z))[0]
        _, sizes, V = np.linalg.svd(X.tdot(Q).T, full_matrices=False)
    kept = int((sizes[:width] > 1e-6 * max(sizes[0], 1e-300)).sum())
    V = V[: max(1, kept)].T
    signs = np.sign(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])])
    return V * np.where(signs == 0, 1.0, signs)


@dataclass(frozen=True, eq=False)
class FittedReduced(Fitted):
    """Features, and the directions (d, width) they are seen along."""

    full: ClassVar[bool] = True
    """Rows have a number in every column."""

    features: Fitted
    projection: Floats

    @property
    def inside(self) -> tuple[Fitted, ...]:
        """The features it is made of."""
        return (self.features,)

    @property
    def width(self) -> int:
        """The directions."""
        return int(self.projection.shape[1])

    def extract(self, batch: Batch) -> CSR:
        """The rows of the features, along the directions."""
        return self.project(self.features.extract(batch))

    def project(self, X: CSR) -> CSR:
        """X V, with all its numbers stored."""
        return full_rows(X, lambda rows: rows.dot(self.projection), self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """Every place of a feature has its part in each direction: value times direction, over its occurrences."""
        X = self.features.extract(batch)
        found = []
        for i, places in enumerate(self.features.locate(batch)):
            row = slice(int(X.indptr[i]), int(X.indptr[i + 1]))
            values = dict(zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True))
            found.append(list(self._spread(places, values)))
        return found

    def _spread(self, places: list[Place], values: dict[int, float]) -> list[Place]:
        whole: Counter[int] = Counter()
        for place in places:
            whole[place.column] += place.amount  # type: ignore[assignment]
        spread = []
        for place in places:
            if not values.get(place.column) or not whole[place.column]:
                continue
            part = values[place.column] * place.amount / whole[place.column]
            parts = (part * self.projection[place.column].astype(np.float64)).tolist()
            spread += [Place(c, place.start, place.end, amount) for c, amount in enumerate(parts)]
        return spread

    def names(self) -> list[str]:
        """Directions have numbers, the most important first."""
        return [f"direction {i + 1}" for i in range(self.width)]

    def state(self) -> State:
        """The features and the directions."""
        return nest({"kind": "reduced"}, (self.features,), {"projection": self.projection})

    @classmethod
    def from_state(cls, state: State, features: Fitted) -> FittedReduced:
        """Restore from the stored state and the features."""
        projection = state.tensors.get("projection")
        if projection is None or projection.dtype != np.float32 or projection.ndim != 2 or not projection.shape[1]:
            raise damaged("it lacks directions")
        if len(projection) != features.width or not np.isfinite(projection).all():
            raise damaged("its directions do not fit its features")
        return cls(features, projection)
