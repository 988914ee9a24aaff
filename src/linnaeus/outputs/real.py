"""Numbers: one real target, or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.types import Margins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Answer, Doubles, Truth


@dataclass(frozen=True)
class Real:
    """The scores are the prediction; y (n, w) holds the targets. Only point losses have a meaning here.

    >>> Real().decode(np.array([[1.5]])).tolist()
    [[1.5]]
    """

    def width(self, k: int) -> int:
        """One score for each target."""
        return k

    def residuals(self, S: Doubles, y: Truth) -> Margins:
        """Prediction minus target."""
        R = S - np.asarray(y)
        return Margins(R, np.ones_like(R), lambda V: V, lambda slopes: slopes)

    def decode(self, S: Doubles) -> NDArray[Any]:
        """The scores."""
        return S

    def gold(self, S: Doubles, y: Truth) -> Answer:
        """There is no finite set of outputs to compare."""
        raise UsageError("Real targets take point losses: squared, absolute or huber.")

    best = soft = cost = gold

    def soft_dot(self, S: Doubles, V: Doubles, y: Truth) -> Doubles:
        """There is no log-sum-exp over the reals."""
        raise UsageError("Real targets take point losses: squared, absolute or huber.")

    def margins(self, S: Doubles, y: Truth) -> Margins:
        """There is no side to be on."""
        raise UsageError("Real targets take point losses: squared, absolute or huber.")
