"""Shared code of matrix products: checks of shapes, and conversion between vectors and blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linnaeus import kernels
from linnaeus.errors import UsageError

if TYPE_CHECKING:
    from linnaeus.types import Doubles


def refuse_sizes(name: str, given: NDArray[Any], wanted: int, what: str) -> None:
    """Refuse a block with the wrong number of rows for the product."""
    if given.ndim not in (1, 2) or len(given) != wanted:
        raise UsageError(f"{name} has the shape {given.shape}, but X has {wanted} {what}; the numbers must be equal.")


def into(
    kernel: Callable[[Any, Any, Doubles, int], None],
    matrix: Any,
    given: NDArray[Any],
    rows: int,
    out: Doubles | None = None,
) -> Doubles:
    """The product of a matrix and a block (., k) or a vector, float64 of as many rows: (rows, k) or (rows,).

    It is written to `out` (rows, k) if given: allocating large memory costs as much as the sums.
    """
    block = given if given.ndim == 2 else given[:, None]
    if block.dtype not in (np.float32, np.float64):
        block = block.astype(np.float64)
    out = np.empty((rows, block.shape[1])) if out is None else out
    kernel(matrix, np.ascontiguousarray(block), out, kernels.thread_count())
    return out if given.ndim == 2 else out[:, 0]
