"""`FittedCandidates`: what a learner of candidates gives a ranker."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.types import Floats, Params

if TYPE_CHECKING:
    from linnaeus.erm import Trace
    from linnaeus.protocols import Model


class FittedCandidates(NamedTuple):
    """What scores candidates: one weight for each feature (`params`), or a `body` that scores their rows.

    >>> FittedCandidates({"W": np.ones((2, 1))}).stored["W"].dtype
    dtype('float32')
    """

    params: Params
    body: Model | None = None
    trace: Trace | None = None

    @property
    def stored(self) -> dict[str, Floats]:
        """The weights as a model stores them."""
        return {name: values.astype(np.float32) for name, values in self.params.items()}
