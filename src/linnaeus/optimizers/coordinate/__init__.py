"""Coordinate descent with working sets, for L1 and the elastic net.

`rowwise.py` is the loss of one score column, `columns.py` the matrix by columns, `problem.py` one problem and its
iterations, `solver.py` the piece that runs all problems of an objective.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.optimizers.coordinate.columns import Columns as Columns
    from linnaeus.optimizers.coordinate.columns import columns_of as columns_of
    from linnaeus.optimizers.coordinate.problem import Place as Place
    from linnaeus.optimizers.coordinate.problem import Problem as Problem
    from linnaeus.optimizers.coordinate.rowwise import RowLoss as RowLoss
    from linnaeus.optimizers.coordinate.solver import CoordinateDescent as CoordinateDescent


__getattr__, __dir__ = room(__name__)
