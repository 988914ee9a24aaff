"""Features computed from whole rows of another block, with a number in every column.

`Reduced` is truncated SVD (latent semantic analysis). The inner products of `Fourier`, random Fourier features, and of
`Nystrom` approximate a kernel, for linear learners.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from functools import cached_property
from typing import ClassVar

import numpy as np

from linnaeus.arrays.csr import CSR, present, vstack
from linnaeus.arrays.dense import Dense
from linnaeus.arrays.numerics import single_blas
from linnaeus.arrays.stored_rows import pack_rows, unpack_rows
from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, UsageError, damaged, expect
from linnaeus.features.base import Block, Fitted, check_around, full_rows
from linnaeus.features.names import Names, numbered
from linnaeus.frozen import dataclass
from linnaeus.kernels.hashes import GOLDEN, scramble
from linnaeus.protocols import Similarity, Stream
from linnaeus.similarities import describe, described, similarity
from linnaeus.store.states import field, nest
from linnaeus.types import AnyInts, Doubles, Floats, Ints, Longs, Place, State, Words64


class Projected(Fitted):
    """Base class of features that are computed from whole rows of other features."""

    full: ClassVar[bool] = True
    """Rows have a number in every column."""

    features: Fitted

    @abstractmethod
    def project(self, X: CSR) -> CSR:
        """The rows of these features, from rows of the others."""

    def extract(self, batch: Batch) -> CSR:
        """The projection of the rows of the others."""
        return self.project(self.features.extract(batch))


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
        check_around("Reduced", self.block, self.width, self.seed)

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
class FittedReduced(Projected):
    """Features, and the directions (d, width) they are seen along."""

    features: Fitted
    projection: Floats

    @property
    def width(self) -> int:
        """The directions."""
        return int(self.projection.shape[1])

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

    def names(self) -> Names:
        """Directions have numbers, the most important first."""
        return numbered(self.width, "direction {}", 1)

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
        check_around("Fourier", self.block, self.width, self.seed)
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
        return features, features.project(X)

    def _around(self, inner: Fitted) -> FittedFourier:
        if inner.width * self.width > MOST:
            raise DataError(
                f"Fourier draws {self.width:,} numbers for each of {inner.width:,} features, which is too much; keep "
                f"fewer of them, with Exact(max_terms={MOST // self.width}), or use a smaller width."
            )
        return FittedFourier(inner, self.width, float(self.gamma), self.seed)


@dataclass(frozen=True, eq=False)
class FittedFourier(Projected):
    """Features, and the numbers that make their waves."""

    opaque: ClassVar[bool] = True
    """The weights of its columns do not belong to single words."""

    features: Fitted
    count: int
    gamma: float
    seed: int

    @property
    def width(self) -> int:
        """The waves."""
        return self.count

    def project(self, X: CSR) -> CSR:
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

    def _drawn(self, columns: AnyInts, waves: slice) -> Floats:
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
            words = scramble(_hashed(self.seed, np.uint64(1)) + np.arange(self.width, dtype=np.uint64) * GOLDEN)
        products += (words >> np.uint64(11)) * (2 * np.pi / (1 << 53))
        np.cos(products, out=products)
        products *= np.sqrt(2 / self.width)
        return products

    def names(self) -> Names:
        """Waves have numbers."""
        return numbered(self.width, "wave {}", 1)

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


def _hashed(seed: int, numbers: Words64 | np.uint64) -> Words64:
    """A hash of the seed and each number."""
    with np.errstate(over="ignore"):
        found: Words64 = scramble(scramble(np.uint64(seed & (2**64 - 1)) + GOLDEN) + numbers * GOLDEN)
    return found


def _normals(seed: int, counters: Words64) -> Doubles:
    """Normal numbers (n, 2 m) of counters (n, m), two from each: Box and Muller 1958."""
    with np.errstate(over="ignore"):
        words = scramble(_hashed(seed, np.uint64(0)) + counters * GOLDEN + GOLDEN)
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
    kernel: str | Similarity = "rbf"
    width: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        check_around("Nystrom", self.block, self.width, self.seed)
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
        return features, features.project(X)

    def _around(self, inner: Fitted, landmarks: CSR | None) -> FittedNystrom:
        if landmarks is None or not len(landmarks):
            raise DataError("Nystrom needs training rows, and there are none; give at least one.")
        kernel = similarity(self.kernel)
        return FittedNystrom(inner, kernel, landmarks, _whitening(kernel.matrix(landmarks, landmarks)))


@dataclass(frozen=True, eq=False)
class FittedNystrom(Projected):
    """Features, landmarks among their rows, and K(L, L)^(-1/2)."""

    opaque: ClassVar[bool] = True
    """The weights of its columns do not belong to single words."""

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

    def project(self, X: CSR) -> CSR:
        """How alike the rows are to the landmarks: K(X, L) K(L, L)^(-1/2)."""
        return full_rows(
            X, lambda rows: Dense(self.kernel.matrix(rows, self.landmarks)).dot(self.whitening), self.width
        )

    def names(self) -> Names:
        """Landmarks have numbers."""
        return numbered(self.width, "like landmark {}", 1)

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
    return np.sort(np.argsort(_hashed(seed, numbers.astype(np.uint64)), kind="stable")[:width])


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
