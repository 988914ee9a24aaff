"""Multinomial logistic regression: log sum exp (s + cost) - s_y, costs zero unless given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.optimizers.dual.between import SMOOTH_FLOOR
from linnaeus.optimizers.dual.joint import Family

if TYPE_CHECKING:
    from linnaeus.types import Doubles


def _entropies(P: Doubles) -> Doubles:
    return np.asarray(-(P * np.log(np.maximum(P, 1e-300))).sum(axis=1))


SOFTMAX = Family(
    epoch=lambda *given: kernels.softmax_epoch(*given),
    sums=lambda *given: kernels.softmax_sums(*given),
    leap=None,
    flat=0.0,
    entropy=_entropies,
    zero=lambda costs: np.log(np.exp(costs - costs.max()).sum(axis=1)) + costs.max(),
    floor=SMOOTH_FLOOR,
)
"""All classes of an example in one exact step, after Yu, Huang and Lin 2011."""
