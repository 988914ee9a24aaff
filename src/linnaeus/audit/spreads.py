"""Numbers summed up: quantiles, and a histogram over the steps 0, 1, 2, 5, 10, 20, 50 ... that people count in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnaeus.audit.records import Spread

BINS = 12


def lengths(values: NDArray[np.integer[Any]]) -> Spread | None:
    """The spread of lengths, with a histogram over 0, 1, 2, 5, 10, 20, 50 ...; None if there are none.

    >>> lengths(np.array([0, 3, 4, 7])).counts
    (1, 0, 2, 1)
    """
    if len(values) == 0:
        return None
    edges = [0, 1]
    while edges[-1] <= values.max():
        edges.append(edges[-1] * 5 // 2 if str(edges[-1])[0] == "2" else edges[-1] * 2)
    return _spread(values, np.array(edges, np.float64))


def numbers(values: NDArray[np.float64]) -> Spread | None:
    """The spread of real numbers, with bins of equal width; what is not finite is left out."""
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return None
    low, high = float(values.min()), float(values.max())
    # The upper edge lies beyond the largest number, so that every bin can exclude its own.
    edges = np.linspace(low, np.nextafter(high, np.inf), BINS + 1) if high > low else np.array([low, low + 1])
    return _spread(values, edges)


def _spread(values: NDArray[Any], edges: NDArray[np.float64]) -> Spread:
    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(bins, minlength=len(edges) - 1)
    middle, high = np.quantile(values, [0.5, 0.95])
    return Spread(
        smallest=float(values.min()),
        median=float(middle),
        mean=float(values.mean(dtype=np.float64)),
        high=float(high),
        largest=float(values.max()),
        edges=tuple(edges.tolist()),
        counts=tuple(counts.tolist()),
    )
