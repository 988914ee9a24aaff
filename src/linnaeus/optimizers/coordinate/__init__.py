"""Coordinate descent with working sets, for L1 and the elastic net.

`rowwise.py` is the loss of one score column, `columns.py` the matrix by columns, `problem.py` one problem and its
iterations, `solver.py` the piece that runs all problems of an objective.
"""

from linnaeus.optimizers.coordinate.columns import Columns, columns_of
from linnaeus.optimizers.coordinate.problem import Place, Problem
from linnaeus.optimizers.coordinate.rowwise import RowLoss
from linnaeus.optimizers.coordinate.solver import CoordinateDescent

__all__ = ["Columns", "CoordinateDescent", "Place", "Problem", "RowLoss", "columns_of"]
