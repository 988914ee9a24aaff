"""Matrices by rows: `CSR` and `Dense` implement the Rows protocol (`dot`, `tdot`, `take`, `rows_slice`, `squares`).

`as_rows` converts user input. `Transposed` adds a column-wise copy for solvers with many products. `Grouped` holds
examples that have several rows each.
"""

from linnaeus.arrays.adopt import as_rows
from linnaeus.arrays.csr import CSR
from linnaeus.arrays.dense import Dense
from linnaeus.arrays.grouped import Grouped
from linnaeus.arrays.names import column_names
from linnaeus.arrays.transposed import Transposed, transpose

__all__ = ["CSR", "Dense", "Grouped", "Transposed", "as_rows", "column_names", "transpose"]
