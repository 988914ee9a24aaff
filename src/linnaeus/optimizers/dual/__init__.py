"""Dual coordinate ascent: exact solvers for L2-regularized linear models, with a certified duality gap.

`problems.py` says what binary problems are and lays a wave of them out in arrays; `binaries.py` solves them, wave by
wave; `ascent.py` is the optimizer piece. The inner loops are the kernels `dual_epoch_*` and `dual_gap_*`.

Classes scored together are another problem: `joint.py` says which and bounds its optimum, `climb.py` runs its epochs,
`crammer.py` and `softmax.py` are its two kinds, `jointly.py` makes it of an objective.

To add a loss: its five functions in `kernels/native/dual_losses.hpp` and in the twin, and its row in `LOSSES`.
"""

from linnaeus.optimizers.dual.ascent import DualAscent
from linnaeus.optimizers.dual.binaries import Progress, Settings, solve_binaries
from linnaeus.optimizers.dual.problems import Binaries

__all__ = ["Binaries", "DualAscent", "Progress", "Settings", "solve_binaries"]
