"""Empirical risk minimization: an objective, an optimizer that minimizes it, and the training loop.

`objective` combines rows, output space, loss and regularizer. `check` refuses invalid combinations. `train` runs the
optimizer. `stopping` has the stopping criteria, and `trace` the history of a training. `diagnose` tests whether data
are linearly separable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.erm.objective import Objective
from linnaeus.erm.stopping import Stop
from linnaeus.erm.trace import Record, Trace
from linnaeus.erm.train import Fit, SoFar, Watch, train
from linnaeus.lazy import lazily

if TYPE_CHECKING:
    from linnaeus.erm.diagnose import Separability as Separability
    from linnaeus.erm.diagnose import separability as separability

__all__ = [
    "Fit",
    "Objective",
    "Record",
    "Separability",
    "SoFar",
    "Stop",
    "Trace",
    "Watch",
    "separability",
    "train",
]

__getattr__ = lazily(__name__, {"Separability": "diagnose", "separability": "diagnose"})


def __dir__() -> list[str]:
    return __all__
