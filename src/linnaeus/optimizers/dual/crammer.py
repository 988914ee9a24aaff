"""The multiclass support vector machine of Crammer and Singer, with any cost matrix."""

from __future__ import annotations

import numpy as np

from linnaeus import kernels
from linnaeus.optimizers.dual.between import KINKED_FLOOR
from linnaeus.optimizers.dual.joint import Family

CRAMMER = Family(
    epoch=lambda *given: kernels.crammer_epoch(*given),
    sums=lambda *given: kernels.crammer_sums(*given),
    leap=lambda *given: kernels.crammer_leap(*given),
    flat=1.0,
    entropy=lambda P: np.zeros(len(P)),
    zero=lambda costs: costs.max(axis=1),
    floor=KINKED_FLOOR,
)
"""best(s + cost) - s_y; every mistake costs 1 unless costs are given. Keerthi et al. 2008."""
