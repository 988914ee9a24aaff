"""Empirical risk minimization: an objective made of pieces, an optimizer that brings it down, and a watch over both.

`objective` is where rows, output space, loss and regularizer meet; `check` refuses what cannot be combined; `train`
drives; `stopping` and `trace` say when and how it ended; `diagnose` says what the data allow.
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
