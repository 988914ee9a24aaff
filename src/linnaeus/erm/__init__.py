"""Empirical risk minimization: an objective, an optimizer that minimizes it, and the training loop.

`objective` combines rows, output space, loss and regularizer. `check` refuses invalid combinations. `train` runs the
optimizer, once or for strengths from strong to weak; it has the stopping criteria and the history of a training.
`diagnose` tests whether data are linearly separable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.erm.train import train as train
from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.erm.diagnose import Separability as Separability
    from linnaeus.erm.diagnose import separability as separability
    from linnaeus.erm.objective import Objective as Objective
    from linnaeus.erm.train import Fit as Fit
    from linnaeus.erm.train import Record as Record
    from linnaeus.erm.train import SoFar as SoFar
    from linnaeus.erm.train import Stop as Stop
    from linnaeus.erm.train import Trace as Trace
    from linnaeus.erm.train import Watch as Watch


__getattr__, __dir__ = room(__name__)
