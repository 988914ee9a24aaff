"""Nystrom features: any kernel, approximated by similarities to some training rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linnaeus.arrays.csr import CSR, vstack
from linnaeus.arrays.dense import Dense
from linnaeus.arrays.numerics import single_blas
from linnaeus.arrays.stored_rows import pack_rows, unpack_rows
from linnaeus.errors import DataError, damaged
from linnaeus.features.base import Block, Fitted, check_around, full_rows
from linnaeus.features.names import Names
from linnaeus.frozen import dataclass
from linnaeus.kernels.hashes import GOLDEN, scramble
from linnaeus.similarities import describe, described, similarity
from linnaeus.store.states import nest
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Similarity, Stream
    from linnaeus.types import Doubles, Longs, Place

SMALL = 1e-12
"""Eigenvalues below this share of the largest are none: rows that are alike add nothing."""
BELOW = 1e-8
"""Eigenvalues further below zero than this share of the largest are not rounding."""


@dataclass(frozen=True)
class Nystrom(Block):
    """Nystrom features of a kernel, with `width` random training rows as landmarks: z(x) . z(x') is about k(x, x').

        z(x) = K(x, L) K(L, L)^(-1/2)

    The pseudo-inverse is used if landmarks are equal. The products are exact on the landmarks, and everywhere for a
    kernel of lower rank. There are fewer columns if there are fewer rows. Time is `width` kernel values and width^2
    products for each row. A model file contains the landmark rows (numbers; with `Letters` these are texts).

    Williams and Seeger, "Using the Nystrom method to speed up kernel machines", 2001.

    >>> from linnaeus.features import Words
    >>> X = Nystrom(Words(), "rbf", width=3).fit_rows(["red", "red red", "green"])[1].to_scipy().toarray()
    >>> np.allclose(X @ X[0], np.exp([0, -1, -2]), atol=1e-5)
    True
    """

    block: Block
    kernel: Any = "rbf"
    width: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        check_around(self, Block)
        object.__setattr__(self, "kernel", similarity(self.kernel))

    def learn(self, stream: Stream) -> FittedNystrom:
        """Fit the block, and find the landmarks in one walk."""
        inner = self.block.learn(stream)
        rows: list[CSR] = []
        numbers, start = np.zeros(0, np.int64), 0
        for batch in stream.batches():
            X = inner.extract(batch)
            numbers = np.concatenate([numbers, np.arange(start, start + len(X))])
            start += len(X)
            kept = _chosen(numbers, self.width, self.seed)
            rows = [vstack([*rows, X]).take(kept)]
            numbers = numbers[kept]
        return self._around(inner, rows[0] if rows else None)

    def learn_rows(self, stream: Stream) -> tuple[FittedNystrom, CSR]:
        """The same from rows that are there, with their features."""
        inner, X = self.block.learn_rows(stream)
        features = self._around(inner, X.take(_chosen(np.arange(len(X)), self.width, self.seed)))
        return features, features.compare(X)

    def _around(self, inner: Fitted, landmarks: CSR | None) -> FittedNystrom:
        if landmarks is None or not len(landmarks):
            raise DataError("Nystrom needs training rows, and there are none; give at least one.")
        return FittedNystrom(inner, self.kernel, landmarks, _whitening(self.kernel.matrix(landmarks, landmarks)))


@dataclass(frozen=True, eq=False)
class FittedNystrom(Fitted):
    """Features, landmarks among their rows, and K(L, L)^(-1/2)."""

    opaque: ClassVar[bool] = True
    """The weights of its columns do not belong to single words."""
    full: ClassVar[bool] = True
    """Rows have a number in every column."""

    features: Fitted
    kernel: Similarity
    landmarks: CSR
    whitening: Doubles

    @property
    def width(self) -> int:
        """The landmarks."""
        return len(self.landmarks)

    @property
    def keeps_rows(self) -> int:
        """The number of training rows in the model."""
        return len(self.landmarks)

    def extract(self, batch: Batch) -> CSR:
        """How alike the rows are to the landmarks."""
        return self.compare(self.features.extract(batch))

    def compare(self, X: CSR) -> CSR:
        """K(X, L) K(L, L)^(-1/2)."""
        return full_rows(
            X, lambda rows: Dense(self.kernel.matrix(rows, self.landmarks)).dot(self.whitening), self.width
        )

    def locate(self, batch: Batch) -> list[list[Place]]:
        """No places: all of the text is compared."""
        return [[] for _ in range(len(batch))]

    def names(self) -> Names:
        """Landmarks have numbers."""
        return Names(self.width, lambda start, end: [f"like landmark {i + 1}" for i in range(start, end)])

    def state(self) -> State:
        """The features, the landmarks and what makes their similarities plain features."""
        rows = pack_rows("landmarks", self.landmarks)
        manifest = {"kind": "nystrom", "kernel": describe(self.kernel), **rows.manifest}
        return nest(manifest, (self.features,), {**rows.tensors, "whitening": self.whitening})

    @classmethod
    def from_state(cls, state: State, features: Fitted) -> FittedNystrom:
        """Restore from the stored state and its features."""
        landmarks, whitening = unpack_rows("landmarks", state), state.tensors.get("whitening")
        if not isinstance(landmarks, CSR) or landmarks.width != features.width or not len(landmarks):
            raise damaged("its landmarks are not rows of its features")
        if whitening is None or whitening.dtype != np.float64 or whitening.shape != (len(landmarks),) * 2:
            raise damaged("the shapes of its landmarks do not match")
        if not np.isfinite(whitening).all():
            raise damaged("a number of its landmarks is not finite")
        return cls(features, described(state.manifest.get("kernel")), landmarks, whitening)


def _chosen(numbers: Longs, width: int, seed: int) -> Longs:
    """Places of the rows to keep, in order: those whose numbers have the smallest hashes, however they come."""
    with np.errstate(over="ignore"):
        keys = scramble(scramble(np.uint64(seed & (2**64 - 1)) + GOLDEN) + numbers.astype(np.uint64) * GOLDEN)
    return np.sort(np.argsort(keys, kind="stable")[:width])


def _whitening(K: Doubles) -> Doubles:
    """K^(-1/2), of the eigenvalues that are above zero."""
    if not np.isfinite(K).all():
        raise DataError("The kernel of some rows is not a finite number; use another kernel, or scale the features.")
    with single_blas():
        sizes, vectors = np.linalg.eigh((K + K.T) / 2)
        if sizes[0] < -BELOW * max(sizes[-1], 1e-300):
            raise DataError(
                f"The kernel matrix is not positive semidefinite: it has an eigenvalue of {sizes[0]:.3g}; use a "
                "kernel such as LinearKernel, RBF, or Polynomial with a shift of at least zero."
            )
        kept = sizes > SMALL * max(sizes[-1], 1e-300)
        whitening: Doubles = (vectors[:, kept] / np.sqrt(sizes[kept])) @ vectors[:, kept].T
    return np.ascontiguousarray(whitening)
