"""Matrices by rows: `CSR` and `Dense` implement the Rows protocol (`dot`, `tdot`, `take`, `rows_slice`, `squares`).

`as_rows` converts user input. `Transposed` adds a column-wise copy for solvers with many products. `Grouped` holds
examples that have several rows each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.arrays.conversion import as_rows as as_rows
    from linnaeus.arrays.conversion import column_names as column_names
    from linnaeus.arrays.csr import CSR as CSR
    from linnaeus.arrays.csr import Transposed as Transposed
    from linnaeus.arrays.csr import transpose as transpose
    from linnaeus.arrays.dense import Dense as Dense
    from linnaeus.arrays.grouped import Grouped as Grouped


__getattr__, __dir__ = room(__name__)
