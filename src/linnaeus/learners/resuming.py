"""What learners take over from a checkpoint: arrays and numbers, checked, for a file may be damaged."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import DTypeLike

from linnaeus.errors import damaged
from linnaeus.types import Array, Arrays, Json

MISFIT = "the checkpoint does not fit the sentences"


def taken_over(tensors: Arrays, name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float32) -> Array:
    """The array of this name; one of another shape or type is refused.

    >>> taken_over({"w": np.zeros(3, np.float32)}, "w", (3,)).tolist()
    [0.0, 0.0, 0.0]
    """
    found = tensors.get(name)
    if found is None or found.shape != shape or found.dtype != dtype:
        raise damaged(MISFIT)
    return found


def fill(arrays: Arrays, tensors: Arrays) -> None:
    """Write the arrays of these names over those of a training that begins."""
    found = {name: taken_over(tensors, name, array.shape, array.dtype) for name, array in arrays.items()}
    for name, array in arrays.items():
        array[:] = found[name]


def number(manifest: Mapping[str, Json], name: str, least: int = 0) -> int:
    """The whole number of this name.

    >>> number({"epochs": 3}, "epochs")
    3
    """
    found = manifest.get(name)
    if type(found) is not int or found < least:
        raise damaged(MISFIT)
    return found


def real(manifest: Mapping[str, Json], name: str) -> float:
    """The number of this name."""
    found = manifest.get(name)
    if type(found) is not float:
        raise damaged(MISFIT)
    return found
