"""The constitution: what a piece of each kind answers. Protocols are structural; nothing inherits from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from linnaeus.arrays.csr import CSR
    from linnaeus.data.corpus import Batch
    from linnaeus.types import Place, State


class Stream(Protocol):
    """Examples that can be walked over more than once, in batches that fit in memory. A `Corpus` is one."""

    def batches(self) -> Iterator[Batch]:
        """The rows in order; the cut into batches never changes a result."""
        ...


class Rows(Protocol):
    """A matrix of features, by rows (n, d)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    def dot(self, W: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """X @ W  (n, k)."""
        ...

    def tdot(self, D: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """X.T @ D  (d, k)."""
        ...

    def take(self, rows: NDArray[np.integer[Any]]) -> Rows:
        """These rows, in this order."""
        ...


class Extractor(Protocol):
    """A recipe for features: a frozen dataclass whose fields are its hyper-parameters."""

    def fit(self, stream: Stream) -> Features:
        """Learn what has to be learned (a vocabulary, a mean) in one or more walks over the stream."""
        ...


class Features(Protocol):
    """A fitted extractor, frozen: the same batch always gives the same rows."""

    @property
    def width(self) -> int:
        """How many columns."""
        ...

    def rows(self, batch: Batch) -> CSR:
        """The features of each row of the batch (len(batch), width)."""
        ...

    def names(self) -> Sequence[str]:
        """A readable name for each column."""
        ...

    def places(self, batch: Batch) -> list[list[Place]]:
        """For each row, which characters of its text each feature came from: the inverse map."""
        ...

    def state(self) -> State:
        """Manifest and tensors that build this again; see `linnaeus.features.restore`."""
        ...
