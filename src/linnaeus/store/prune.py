"""Which features a model can do without: those whose weights hardly move a score on the rows it was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import UsageError

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Floats, Ints


def importance(W: Floats, squares: Doubles) -> Doubles:
    """How much the scores of a row change without a feature, root mean square over the rows.

        sqrt(mean_i || x_ij w_j ||^2)  =  ||w_j|| sqrt(squares_j),    squares_j = mean_i x_ij^2

    `W` holds the weights (d, w), `squares` the mean square of each feature (d,).

    >>> importance(np.array([[3, 4], [1, 0]], np.float32), np.array([0.25, 1])).tolist()
    [2.5, 1.0]
    """
    if squares.shape != W.shape[:1]:
        raise UsageError(f"There are weights of {W.shape[0]:,} features, and mean squares of {len(squares):,}.")
    norms: Doubles = np.sqrt(np.einsum("ij,ij->i", W, W, dtype=np.float64))
    return norms * np.sqrt(squares)


def prune(W: Floats, squares: Doubles, count: int) -> Ints:
    """The columns of the `count` most important features, in order; those that change nothing are never kept.

    Of equally important ones the first stay. `features.shrink(fitted, columns)` and `W[columns]` are the smaller model.

    >>> prune(np.array([[1], [0], [-3], [1]], np.float32), np.ones(4), 2).tolist()
    [0, 2]
    """
    weights = importance(W, squares)
    order = np.argsort(-weights, kind="stable")[: max(count, 0)]
    kept: Ints = np.sort(order[weights[order] > 0]).astype(np.int32)
    return kept
