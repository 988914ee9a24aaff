"""The group lasso: one penalty for all weights of a feature, so that whole features are kept or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.regularizers.norms import check_strength

if TYPE_CHECKING:
    from linnaeus.types import Doubles


@dataclass(frozen=True)
class Group:
    """strength * sum over features j of ||W_j||_2 (the group lasso of Yuan and Lin, 2006).

    >>> Group(1.0).value(np.array([[3.0, 4.0], [0.0, 0.0]]))
    5.0
    """

    strength: float = 1.0

    def __post_init__(self) -> None:
        check_strength(self.strength)

    def value(self, W: Doubles) -> float:
        """The sum of the row lengths."""
        return self.strength * float(_lengths(W).sum())

    def grad(self, W: Doubles) -> Doubles:
        """A subgradient: 0 for rows of zeros."""
        lengths = _lengths(W)
        return self.strength * W / np.where(lengths > 0, lengths, 1.0)

    def prox(self, W: Doubles, step: float) -> Doubles:
        """Shorten every row by step * strength, down to zero at most."""
        return self.flow(W, step)

    def flow(self, W: Doubles, time: Doubles | float) -> Doubles:
        """Rows shrink towards zero at constant speed, as in `prox`. Time is one number, or one for each row (g, 1)."""
        lengths = _lengths(W)
        left = np.maximum(0.0, lengths - self.strength * np.asarray(time))
        return W * (left / np.where(lengths > 0, lengths, 1.0))


def _lengths(W: Doubles) -> Doubles:
    """||W_j||_2 for each row, as a column; a vector is one row for each entry."""
    if W.ndim == 1:
        return np.abs(W)
    lengths: Doubles = np.sqrt(np.einsum("ij,ij->i", W, W))[:, None]
    return lengths
