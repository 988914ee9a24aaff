"""Similarities: kernel functions k(x, z) = phi(x) . phi(z) for kernel methods.

A similarity is a frozen dataclass whose fields are its hyper-parameters, with `matrix(A, B)` (n, m), `diagonal(A)` (n,)
and `weights(rows, duals)` (`protocols.Similarity`). It accesses rows only through the Rows protocol, so that learners
(`kernel_methods`) and features (`Nystrom`) share it. String kernels take the rows of the features `Letters`.

To add one: a file with the piece, a row in `SIMILARITIES`, an example in `tests/contracts/test_similarities.py`. Your
own object with these methods works too, but a model that uses it cannot be saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.similarities.spectrum import Spectrum as Spectrum
    from linnaeus.similarities.subsequence import Subsequence as Subsequence
    from linnaeus.similarities.table import SIMILARITIES as SIMILARITIES
    from linnaeus.similarities.table import describe as describe
    from linnaeus.similarities.table import described as described
    from linnaeus.similarities.table import similarity as similarity
    from linnaeus.similarities.vectors import RBF as RBF
    from linnaeus.similarities.vectors import LinearKernel as LinearKernel
    from linnaeus.similarities.vectors import Polynomial as Polynomial


__getattr__, __dir__ = room(__name__)
