"""Random Fourier features: their inner products approximate an RBF kernel, so that linear learners can use it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays.csr import present
from linnaeus.errors import DataError, UsageError, damaged, expect
from linnaeus.features.base import Block, Fitted, check_around, full_rows
from linnaeus.features.names import Names
from linnaeus.frozen import dataclass
from linnaeus.kernels.hashes import GOLDEN, scramble
from linnaeus.store.states import field, nest
from linnaeus.types import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.arrays.csr import CSR
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream
    from linnaeus.types import Doubles, Floats, Ints, Place

MOST = 1 << 27
"""Numbers drawn for all columns and waves: half a gigabyte."""
WIDEST = 1 << 20
"""Waves: rows of theirs are stored with all their numbers."""
KEPT = 1 << 24
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
    def width(self) -> int:
        """The waves."""
        return self.count

    def extract(self, batch: Batch) -> CSR:
        """Every wave at the rows of the features."""
        return self.waves(self.features.extract(batch))

    def waves(self, X: CSR) -> CSR:
        """Every wave at these rows (n, width)."""
        used, own = present(X)
        whole = SPARSE * len(used) > self.features.width and self.features.width * self.width <= KEPT
        if "directions" in self.__dict__ or whole:
            return full_rows(X, lambda rows: self._at(rows.dot(self.directions)), self.width)
        return full_rows(own, lambda rows: self._at(self._products(rows, used)), self.width)

    def _products(self, X: CSR, columns: Ints) -> Doubles:
        """X W for rows that have only these columns; W is drawn for some waves at a time."""
        out = np.zeros((len(X), self.width))
        step = max(2, KEPT // max(1, len(columns)) // 2 * 2)
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
