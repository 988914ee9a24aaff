"""Tables of vectors as files hold them: number by number, or with a byte for each piece of a row.

A quantized row is cut into pieces of `size` numbers (the last may be shorter), and each piece is one of 256 centroids:
Jegou, Douze and Schmid, "Product quantization for nearest neighbor search", 2011. Where norms are apart, the row is
that times one of 256 norms.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np

from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.store.states import field
from linnaeus.types import AnyInts, Array, Bytes, Floats, State

CENTROIDS = 256


@dataclass(frozen=True, eq=False)
class PlainTable:
    """Vectors as they are (n, width), float32.

    >>> PlainTable(np.array([[1, 2], [3, 4]], np.float32)).take(np.array([1, 1])).tolist()
    [[3.0, 4.0], [3.0, 4.0]]
    """

    values: Floats

    def __len__(self) -> int:
        return len(self.values)

    @property
    def width(self) -> int:
        """The numbers of a vector."""
        return int(self.values.shape[1])

    def take(self, rows: AnyInts) -> Floats:
        """These rows, in new memory (r, width)."""
        return self.values[rows]

    def directions(self) -> tuple[Floats, Floats | None]:
        """All rows, and nothing that they are multiplied by."""
        return self.values, None

    def state(self) -> State:
        """One array."""
        return State({"kind": "plain"}, {"values": self.values})


@dataclass(frozen=True, eq=False)
class QuantizedTable:
    """Codes (n, pieces), the centroids of all pieces one after the other, and the norms of rows, if they are apart.

    >>> codes, centroids = np.array([[7, 1]], np.uint8), np.arange(3 * 256, dtype=np.float32)
    >>> QuantizedTable(3, 2, codes, centroids).take(np.array([0])).tolist()  # pieces of 2 numbers and of 1
    [[14.0, 15.0, 513.0]]
    """

    width: int
    size: int
    codes: Bytes
    centroids: Floats
    norm_codes: Bytes | None = None
    norms: Floats | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def _blocks(self) -> Floats:
        """The centroids of the pieces (pieces * 256, size); behind those of a shorter piece stand zeros."""
        count = self.codes.shape[1]
        last = self.width - (count - 1) * self.size
        found = np.zeros((count, CENTROIDS, self.size), np.float32)
        cut = (count - 1) * CENTROIDS * self.size
        found[:-1] = self.centroids[:cut].reshape(count - 1, CENTROIDS, self.size)
        found[-1, :, :last] = self.centroids[cut:].reshape(CENTROIDS, last)
        return found.reshape(-1, self.size)

    def _decode(self, codes: Bytes) -> Floats:
        places = codes.astype(np.intp) + CENTROIDS * np.arange(codes.shape[1])
        found = self._blocks.take(places.reshape(-1), axis=0, mode="clip")  # all are there: nothing is to be checked
        return np.ascontiguousarray(found.reshape(len(codes), -1)[:, : self.width])

    def take(self, rows: AnyInts) -> Floats:
        """These rows, in new memory (r, width)."""
        found = self._decode(self.codes[rows])
        if self.norms is not None and self.norm_codes is not None:
            found *= self.norms[self.norm_codes[rows]][:, None]
        return found

    def directions(self) -> tuple[Floats, Floats | None]:
        """All rows without their norms, and the norms (n,), if these are apart."""
        apart = None if self.norms is None or self.norm_codes is None else self.norms[self.norm_codes]
        return self._decode(self.codes), apart

    def state(self) -> State:
        """The codes and centroids as they are: nothing is decoded."""
        tensors: dict[str, Array] = {"codes": self.codes, "centroids": self.centroids}
        if self.norms is not None and self.norm_codes is not None:
            tensors |= {"norm_codes": self.norm_codes, "norms": self.norms}
        return State({"kind": "quantized", "width": self.width, "size": self.size}, tensors)


VectorTable: TypeAlias = PlainTable | QuantizedTable


def vector_table(state: State) -> VectorTable:
    """The table of a state; arrays that do not fit each other are refused."""
    kind, tensors = state.manifest.get("kind"), state.tensors
    if kind == "plain":
        values = tensors.get("values")
        if values is None or values.ndim != 2 or values.dtype != np.float32 or not values.shape[1]:
            raise damaged("a table of vectors is missing, or of another type")
        return PlainTable(values)
    if kind != "quantized":
        raise damaged(f"it has a table of vectors of an unknown kind {kind!r}")
    width, size = field(state.manifest, "width", int), field(state.manifest, "size", int)
    parts = {name: tensors.get(name) for name in ("codes", "centroids", "norm_codes", "norms")}
    if not _fit(width, size, parts):
        raise damaged("the parts of a quantized table do not fit each other")
    return QuantizedTable(width, size, **parts)  # type: ignore[arg-type]


def _fit(width: int, size: int, parts: dict[str, Array | None]) -> bool:
    codes, centroids, norm_codes, norms = parts.values()
    if codes is None or centroids is None or not 1 <= size <= width or (norm_codes is None) != (norms is None):
        return False
    wanted: list[tuple[Array | None, type[np.generic], tuple[int, ...]]] = [
        (codes, np.uint8, (len(codes) if codes.ndim else 0, -(-width // size))),
        (centroids, np.float32, (width * CENTROIDS,)),
        (norm_codes, np.uint8, (len(codes) if codes.ndim else 0,)),
        (norms, np.float32, (CENTROIDS,)),
    ]
    return all(part is None or (part.dtype == dtype and part.shape == shape) for part, dtype, shape in wanted)
