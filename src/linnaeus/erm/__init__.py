"""Empirical risk minimization: an objective made of pieces, an optimizer that brings it down, and a watch over both.

`objective` is where rows, output space, loss and regularizer meet; `check` refuses what cannot be combined; `train`
drives; `stopping` and `trace` say when and how it ended; `diagnose` says what the data allow.
"""

from linnaeus.erm.diagnose import Separability, separability
from linnaeus.erm.objective import Objective
from linnaeus.erm.stopping import Stop
from linnaeus.erm.trace import Record, Trace
from linnaeus.erm.train import Fit, SoFar, Watch, train

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
