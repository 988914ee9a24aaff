"""Plain records that travel between the rooms, and the legend of names.

n rows, d features, k classes, g groups by offsets;  X rows (n, d), W weights (d, k), S scores (n, k), y truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes: TypeAlias = NDArray[np.uint8]
    Ints: TypeAlias = NDArray[np.int32]
    Longs: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float32]
    Doubles: TypeAlias = NDArray[np.float64]
    Words64: TypeAlias = NDArray[np.uint64]

Json: TypeAlias = Any
"""What a manifest may hold: None, bool, int, float, str, lists and string-keyed dicts of these."""


@dataclass(frozen=True, slots=True)
class Texts:
    """UTF-8 texts as they lie in an Arrow string array: one buffer, n+1 offsets into it."""

    data: Bytes
    offsets: Longs

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class State:
    """What a fitted piece is made of: a manifest that is JSON, and named arrays. It is enough to build it again."""

    manifest: dict[str, Json]
    tensors: dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a text a feature came from: characters start to end (end excluded), and the feature's column."""

    column: int
    start: int
    end: int
