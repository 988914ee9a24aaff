"""Float64 scores of the rows that an approximate search found; exact search if it found too few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.errors import UsageError
from linnaeus.learners.neighbors.exact import ExactIndex

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Ints


def refuse_sparse(rows: CSR | Dense, who: str) -> Dense:
    """Return dense rows; sparse rows are refused with advice."""
    if isinstance(rows, Dense):
        return rows
    raise UsageError(
        f"{who} needs dense rows, but these are sparse; give Neighbors a projection, such as "
        "projection=Components(width=64), or use search='exact'."
    )


def by_rows(rows: Dense, metric: str, queries: Doubles, found: Ints) -> tuple[Ints, Doubles]:
    """The rows found for each query (n, count), ordered by their float64 scores; -1 marks missing rows."""
    few = np.flatnonzero((found < 0).any(axis=1))
    if len(few):
        found = found.copy()
        found[few] = ExactIndex(rows, metric).near(Dense(np.ascontiguousarray(queries[few])), found.shape[1])[0]
    scores = _scores(rows.values[found].astype(np.float64), queries[:, None], metric)
    order = np.lexsort((found, -scores), axis=1)
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _scores(V: Doubles, Q: Doubles, metric: str) -> Doubles:
    """How near vectors (n, count, d) are to queries (n, 1, d)."""
    if metric == "euclidean":
        found: Doubles = -np.sqrt(((V - Q) ** 2).sum(axis=2))
        return found
    S: Doubles = (V * Q).sum(axis=2)
    if metric == "inner":
        return S
    lengths = np.sqrt((V * V).sum(axis=2)) * np.sqrt((Q * Q).sum(axis=2))
    return np.where(lengths > 0, np.clip(S / np.where(lengths > 0, lengths, 1.0), -1.0, 1.0), 0.0)
