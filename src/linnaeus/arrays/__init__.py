"""Matrices by rows: `CSR`, the Rows protocol (`dot`, `tdot`, `take`) over sparse arrays."""

from linnaeus.arrays.csr import CSR

__all__ = ["CSR"]
