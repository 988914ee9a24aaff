"""Dual coordinate ascent: exact solvers for L2-regularized linear models, with a certified duality gap.

`ascent.py` has the optimizer. `binary.py` defines binary problems and their losses; `separate.py` solves them one by
one, and `grouped.py` solves problems that share all rows side by side, until few are left. `joint.py` solves problems
whose classes are scored together. The inner loops are the kernels `dual_epoch_*`, `dual_gap_*`, `team_*`, `crammer_*`
and `softmax_*`.

To add a loss: its five functions in `kernels/native/dual_losses.hpp` and in the twin, and a row in `LOSSES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.optimizers.dual.ascent import DualAscent as DualAscent
    from linnaeus.optimizers.dual.binary import Binaries as Binaries
    from linnaeus.optimizers.dual.binary import Progress as Progress
    from linnaeus.optimizers.dual.binary import Settings as Settings
    from linnaeus.optimizers.dual.grouped import solve_teams as solve_teams
    from linnaeus.optimizers.dual.joint import Joint as Joint
    from linnaeus.optimizers.dual.joint import climb as climb
    from linnaeus.optimizers.dual.separate import solve_binaries as solve_binaries


__getattr__, __dir__ = room(__name__)
