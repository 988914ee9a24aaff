"""Dual coordinate ascent: exact solvers for L2-regularized linear models, with a certified duality gap.

`problems.py` says what binary problems are and lays a wave of them out in arrays; `binaries.py` solves them, wave by
wave. Those that have all rows in common `lineup.py` lays out in teams and `teams.py` solves side by side, until few
are left: `rest.py` takes these back to `binaries.py`. `ascent.py` is the optimizer piece. The inner loops are the
kernels `dual_epoch_*`, `dual_gap_*`, `team_epoch_*` and `team_gap_*`.

Classes scored together are another problem: `joint.py` says which and bounds its optimum, `climb.py` runs its epochs,
`crammer.py` and `softmax.py` are its two kinds, `jointly.py` makes it of an objective.

To add a loss: its five functions in `kernels/native/dual_losses.hpp` and in the twin, and its row in `LOSSES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.optimizers.dual.ascent import DualAscent as DualAscent
    from linnaeus.optimizers.dual.binaries import Progress as Progress
    from linnaeus.optimizers.dual.binaries import Settings as Settings
    from linnaeus.optimizers.dual.binaries import solve_binaries as solve_binaries
    from linnaeus.optimizers.dual.problems import Binaries as Binaries
    from linnaeus.optimizers.dual.teams import solve_teams as solve_teams


__getattr__, __dir__ = room(__name__)
