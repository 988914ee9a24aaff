"""Features whose inner products approximate a kernel, for linear learners: random Fourier features, and Nystrom."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linnaeus.arrays.csr import CSR, present, vstack
from linnaeus.arrays.dense import Dense
from linnaeus.arrays.numerics import single_blas
from linnaeus.arrays.stored_rows import pack_rows, unpack_rows
from linnaeus.errors import DataError, UsageError, damaged, expect
from linnaeus.features.base import Block, Fitted, check_around, full_rows
from linnaeus.features.names import Names
from linnaeus.frozen import dataclass
from linnaeus.kernels.hashes import GOLDEN, scramble
from linnaeus.similarities import describe, described, similarity
from linnaeus.store.states import field, nest
from linnaeus.types import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.arrays.csr import CSR
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Similarity, Stream
    from linnaeus.types import Doubles, Floats, Ints, Longs, Place


MOST = 1 << 27
"""Numbers drawn for all columns and waves: half a gigabyte."""
WIDEST = 1 << 20
"""Waves: rows of theirs are stored with all their numbers."""
KEPT_NUMBERS = 1 << 24
"""Numbers that are drawn at a time, or kept: 64 MB."""
SPARSE = 8
"""Rows that have fewer than one in so many columns get the numbers of their own columns only."""


@dataclass(frozen=True)
class Fourier(Block):
    """Random Fourier features of a block: z(x) . z(x') is about exp(-gamma |x - x'|^2), the RBF kernel.

        z_r(x) = sqrt(2 / width) cos(w_r . x + b_r),   w_r normal of variance 2 gamma,  b_r uniform in 0 .. 2 pi

    The error of a product is about 1 / sqrt(width). The random numbers are a function of the seed, the column and the
    feature, so a model file stores only the seed. Time is proportional to `width` for each stored value; training takes
    4 bytes of memory for each column and feature.

    Rahimi and Recht, "Random features for large-scale kernel machines", 2007.

    >>> from linnaeus.features import Words
    >>> X = Fourier(Words(), width=4000).fit_rows(["red", "red red", "green"])[1].to_scipy().toarray()
    >>> np.allclose(X @ X[0], np.exp([0, -1, -2]), atol=0.05)
    True
    """

    block: Block
    width: int = 1000
    gamma: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_around(self, Block)
        expect("Fourier(gamma=...)", self.gamma, float)
        if self.width > WIDEST:
            raise UsageError(f"Fourier(width=...) must be at most {WIDEST:,}, not {self.width:,}.")
        if not 0 < self.gamma < np.inf:
            raise UsageError(f"Fourier(gamma=...) must be a number above zero, not {self.gamma!r}.")

    def learn(self, stream: Stream) -> FittedFourier:
        """Fit the block; the waves are known."""
        return self._around(self.block.learn(stream))

    def learn_rows(self, stream: Stream) -> tuple[FittedFourier, CSR]:
        """The same, with the rows of the waves."""
        inner, X = self.block.learn_rows(stream)
        features = self._around(inner)
        return features, features.waves(X)

    def _around(self, inner: Fitted) -> FittedFourier:
        if inner.width * self.width > MOST:
            raise DataError(
                f"Fourier draws {self.width:,} numbers for each of {inner.width:,} features, which is too much; keep "
                f"fewer of them, with Exact(max_terms={MOST // self.width}), or use a smaller width."
            )
        return FittedFourier(inner, self.width, float(self.gamma), self.seed)


@dataclass(frozen=True, eq=False)
class FittedFourier(Fitted):
    """Features, and the numbers that make their waves."""

    opaque: ClassVar[bool] = True
    """The weights of its columns do not belong to single words."""
    full: ClassVar[bool] = True
    """Rows have a number in every column."""

    features: Fitted
    count: int
    gamma: float
    seed: int

    @property
    def inside(self) -> tuple[Fitted, ...]:
        """The features it is made of."""
        return (self.features,)

    @property
    def width(self) -> int:
        """The waves."""
        return self.count

    def extract(self, batch: Batch) -> CSR:
        """Every wave at the rows of the features."""
        return self.waves(self.features.extract(batch))

    def waves(self, X: CSR) -> CSR:
        """Every wave at these rows (n, width)."""
        used, own = present(X)
        whole = SPARSE * len(used) > self.features.width and self.features.width * self.width <= KEPT_NUMBERS
        if "directions" in self.__dict__ or whole:
            return full_rows(X, lambda rows: self._at(rows.dot(self.directions)), self.width)
        return full_rows(own, lambda rows: self._at(self._products(rows, used)), self.width)

    def _products(self, X: CSR, columns: Ints) -> Doubles:
        """X W for rows that have only these columns; W is drawn for some waves at a time."""
        out = np.zeros((len(X), self.width))
        step = max(2, KEPT_NUMBERS // max(1, len(columns)) // 2 * 2)
        for start in range(0, self.width if len(columns) else 0, step):
            waves = slice(start, min(self.width, start + step))
            out[:, waves] = X.dot(self._drawn(columns, waves))
        return out

    @cached_property
    def directions(self) -> Floats:
        """W (d, width), drawn when many of its rows are needed."""
        return self._drawn(np.arange(self.features.width), slice(0, self.width))

    def _drawn(self, columns: NDArray[np.integer], waves: slice) -> Floats:
        """The numbers of some columns and waves, which come in pairs: a stretch of waves begins with an even one."""
        half = -(-self.width // 2)
        pairs = np.arange(waves.start // 2, -(-waves.stop // 2), dtype=np.uint64)
        drawn = np.zeros((max(1, len(columns)), 2 * len(pairs)), np.float32)
        step = max(1, (1 << 20) // max(1, len(pairs)))
        for start in range(0, len(columns), step):
            counters = columns[start : start + step].astype(np.uint64)[:, None] * np.uint64(half) + pairs
            drawn[start : start + step] = np.sqrt(2 * self.gamma) * _normals(self.seed, counters)
        return np.ascontiguousarray(drawn[:, : waves.stop - waves.start])

    def _at(self, products: Doubles) -> Doubles:
        with np.errstate(over="ignore"):
            words = scramble(_stream(self.seed, 1) + np.arange(self.width, dtype=np.uint64) * GOLDEN)
        products += (words >> np.uint64(11)) * (2 * np.pi / (1 << 53))
        np.cos(products, out=products)
        products *= np.sqrt(2 / self.width)
        return products

    def locate(self, batch: Batch) -> list[list[Place]]:
        """No positions: every feature depends on the whole text."""
        return [[] for _ in range(len(batch))]

    def names(self) -> Names:
        """Waves have numbers."""
        return Names(self.width, lambda start, end: [f"wave {i + 1}" for i in range(start, end)])

    def state(self) -> State:
        """The features, and what the waves are drawn from."""
        return nest({"kind": "fourier", "width": self.width, "gamma": self.gamma, "seed": self.seed}, (self.features,))

    @classmethod
    def from_state(cls, state: State, features: Fitted) -> FittedFourier:
        """Restore from the stored state and its features."""
        width, seed = field(state.manifest, "width", int), field(state.manifest, "seed", int)
        gamma = float(field(state.manifest, "gamma", (int, float)))
        if not 1 <= width <= WIDEST or width * features.width > MOST or seed < 0 or not 0 < gamma < np.inf:
            raise damaged("its waves cannot be drawn")
        return cls(features, width, gamma, seed)


def _stream(seed: int, number: int) -> np.uint64:
    with np.errstate(over="ignore"):
        found: np.uint64 = scramble(scramble(np.uint64(seed & (2**64 - 1)) + GOLDEN) + np.uint64(number) * GOLDEN)
    return found


def _normals(seed: int, counters: NDArray[np.uint64]) -> Doubles:
    """Normal numbers (n, 2 m) of counters (n, m), two from each: Box and Muller 1958."""
    with np.errstate(over="ignore"):
        words = scramble(_stream(seed, 0) + counters * GOLDEN + GOLDEN)
    lengths = np.sqrt(-2 * np.log(((words >> np.uint64(32)) + 0.5) / (1 << 32)))
    angles = (words & np.uint64(0xFFFFFFFF)) * (2 * np.pi / (1 << 32))
    return np.stack([lengths * np.cos(angles), lengths * np.sin(angles)], axis=2).reshape(len(counters), -1)


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
    def inside(self) -> tuple[Fitted, ...]:
        """The features it is made of."""
        return (self.features,)

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
