"""Twin of soft.cpp: the soft maximum of each row of scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def soft_rows(
    scores: NDArray[np.float64], parts: NDArray[np.float64], values: NDArray[np.float64], threads: int
) -> None:
    """Log sum e^s of each row into `values` (n,), the softmax into `parts` (n, k)."""
    del threads
    if parts.shape != scores.shape or values.shape != scores.shape[:1]:
        raise ValueError("soft_rows: the results do not fit the scores")
    if scores.shape[0] and not scores.shape[1]:
        raise ValueError("soft_rows: no classes")
    if not len(scores):
        return
    high = scores.max(axis=1, keepdims=True)
    np.exp(scores - high, out=parts)
    total = parts.sum(axis=1, keepdims=True)
    parts /= total
    values[:] = (high + np.log(total))[:, 0]
