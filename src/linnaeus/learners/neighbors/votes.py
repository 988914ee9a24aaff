"""The weight of each neighbor's vote: equal, by inverse distance, or by a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.types import Doubles


@dataclass(frozen=True, kw_only=True)
class Plain:
    """Equal votes: every neighbor has one vote.

    >>> Plain()
    Plain()
    """

    def refuse(self, metric: str) -> str | None:
        """Accept every metric."""
        return None

    def weigh(self, scores: Doubles, metric: str) -> Doubles:
        """Ones (n, count)."""
        return np.ones_like(scores)


@dataclass(frozen=True, kw_only=True)
class ByDistance:
    """A neighbor's vote is 1 / distance; where some are at distance 0, only these vote (Dudani 1976).

    The distance is Euclidean, or 1 - cosine.

    >>> ByDistance().weigh(np.array([[-1.0, -2.0], [0.0, -2.0]]), "euclidean").tolist()
    [[1.0, 0.5], [1.0, 0.0]]
    """

    def refuse(self, metric: str) -> str | None:
        """Refuse the inner product, which is not a distance."""
        if metric == "inner":
            return "Votes by distance do not support the metric inner; use votes='plain' or votes='kernel'."
        return None

    def weigh(self, scores: Doubles, metric: str) -> Doubles:
        """The votes (n, count)."""
        gaps = np.maximum(0.0, 1.0 - scores if metric == "cosine" else -scores)
        here = gaps == 0
        found: Doubles = np.where(here.any(axis=1)[:, None], here, 1.0 / np.where(here, 1.0, gaps))
        return found


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A neighbor's vote is exp(closeness / width), relative to the nearest (Nadaraya 1964, Watson 1964).

    Closeness is the cosine or the inner product; for Euclidean distances the kernel is the Gaussian one,
    exp(-distance^2 / (2 width^2)).

    >>> Kernel(width=1.0).weigh(np.array([[1.0, 0.0]]), "inner").round(3).tolist()
    [[1.0, 0.368]]
    """

    width: float = 0.1

    def __post_init__(self) -> None:
        expect("width", self.width, float)
        if not 0 < self.width < np.inf:
            raise UsageError(f"width must be a number above zero, not {self.width!r}.")

    def refuse(self, metric: str) -> str | None:
        """Accept every metric."""
        return None

    def weigh(self, scores: Doubles, metric: str) -> Doubles:
        """The votes (n, count)."""
        powers = -((scores / self.width) ** 2) / 2 if metric == "euclidean" else scores / self.width
        found: Doubles = np.exp(powers - powers.max(axis=1, keepdims=True))
        return found
