"""How near the kernels are to their twins, where they are not equal to the bit."""

from __future__ import annotations

from typing import NamedTuple


class Tolerance(NamedTuple):
    """How near a kernel is to its twin, relative and absolute: in float64, and in float32 where it works on that."""

    doubles: float
    floats: float
    why: str


_ELEMENTARY = "exp and log are the kernels' own, the same on every machine; the twins have those of NumPy"
_SUMS = "sums are taken in lanes, in a fixed order; the twins sum as NumPy does"
_STEPS = "rounding of sums and of exp and log, carried from step to step"

_STEP_BY_STEP = {
    ("arc_learn", "arc_settle"): (1e-9, 2e-4),
    ("bag_max_listed_steps", "bag_max_steps", "bag_sum_listed_steps", "bag_sum_steps"): (1e-4, 1e-4),
    ("chain_learn", "chain_settle"): (1e-9, 2e-4),
    ("learn_adagrad", "learn_aggressive", "learn_ftrl", "learn_sgd", "settle_adagrad", "settle_sgd"): (1e-9, 2e-4),
    ("crammer_epoch", "softmax_epoch", "descend"): (1e-6, 1e-6),
    ("dual_epoch_hinge", "dual_epoch_logistic", "dual_epoch_squared_hinge"): (1e-7, 1e-7),
    ("dual_gap_hinge", "dual_gap_logistic", "dual_gap_squared_hinge"): (1e-7, 1e-7),
    ("skipgram_rounds", "cbow_rounds", "glove_blocks"): (1e-4, 1e-4),
    ("team_epoch_hinge", "team_epoch_squared_hinge", "team_gap_hinge", "team_gap_squared_hinge"): (1e-7, 1e-3),
}

TOLERANCES = {
    "soft_rows": Tolerance(1e-13, 1e-13, _ELEMENTARY),
    "chain_soft": Tolerance(1e-9, 1e-9, _ELEMENTARY),
    "dependency_soft_projective": Tolerance(1e-9, 1e-9, _ELEMENTARY),
    "dependency_soft_spanning": Tolerance(1e-9, 1e-9, _ELEMENTARY),
    "Scorer": Tolerance(1e-12, 1e-12, f"scores are equal to the bit, probabilities are not: {_ELEMENTARY}"),
    "correlate": Tolerance(1e-12, 1e-12, _SUMS),
    "correlate_block": Tolerance(1e-12, 1e-12, _SUMS),
    "crammer_leap": Tolerance(1e-10, 1e-10, _SUMS),
    "crammer_sums": Tolerance(1e-9, 1e-9, _SUMS),
    "softmax_sums": Tolerance(1e-9, 1e-9, _SUMS),
    **{name: Tolerance(*near, _STEPS) for names, near in _STEP_BY_STEP.items() for name in names},
}
"""Kernels that are not equal to their twins to the bit. All others are."""
