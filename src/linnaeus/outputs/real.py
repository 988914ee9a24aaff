"""Regression: one or several real targets."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.protocols import NumberSpace
from linnaeus.types import Answer, Doubles, Margins, Truth


@dataclass(frozen=True)
class Real:
    """Regression: the scores are the predictions, and y (n, w) holds the targets. It takes point losses only.

    >>> Real().decode(np.array([[1.5]])).tolist()
    [[1.5]]
    """

    provides: ClassVar[tuple[type, ...]] = (NumberSpace,)

    def width(self, k: int) -> int:
        """One score for each target."""
        return k

    def residuals(self, S: Doubles, y: Truth) -> Margins:
        """Prediction minus target."""
        R = S - np.asarray(y)
        return Margins(R, np.ones_like(R), lambda V: V, lambda slopes: slopes)

    def decode(self, S: Doubles) -> Doubles:
        """The scores."""
        return S

    def gold(self, S: Doubles, y: Truth) -> Answer:
        """Not defined: the set of outputs is not finite."""
        raise self._no_classes()

    best = soft = cost = gold

    def margins(self, S: Doubles, y: Truth) -> Margins:
        """Not defined for real targets."""
        raise self._no_classes()

    def _no_classes(self) -> UsageError:
        return UsageError("Real targets take point losses: squared, absolute or huber.")
