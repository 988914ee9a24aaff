"""Similarities: kernel functions k(x, z) = phi(x) . phi(z) for kernel methods.

A similarity is a frozen dataclass whose fields are its hyper-parameters, with `matrix(A, B)` (n, m), `diagonal(A)` (n,)
and `weights(rows, duals)` (`protocols.Similarity`). It accesses rows only through the Rows protocol, so that learners
(`kernel_methods`) and features (`Nystrom`) share it. String kernels take the rows of the features `Letters`.

To add one: a file with the piece, a row in `SIMILARITIES`, an example in `tests/contracts/test_similarities.py`. Your
own object with these methods works too, but a model that uses it cannot be saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.errors import UsageError, damaged_or_newer
from linnaeus.lazy import Table, room
from linnaeus.protocols import meant, to_manifest

if TYPE_CHECKING:
    from linnaeus.protocols import Similarity
    from linnaeus.similarities.strings import Spectrum as Spectrum
    from linnaeus.similarities.strings import Subsequence as Subsequence
    from linnaeus.similarities.vectors import RBF as RBF
    from linnaeus.similarities.vectors import LinearKernel as LinearKernel
    from linnaeus.similarities.vectors import Polynomial as Polynomial
    from linnaeus.types import Json, Piece

SIMILARITIES = Table(
    "linnaeus.similarities",
    {
        "linear": "vectors.LinearKernel",
        "polynomial": "vectors.Polynomial",
        "rbf": "vectors.RBF",
        "spectrum": "strings.Spectrum",
        "subsequence": "strings.Subsequence",
    },
)
"""Every similarity by name."""


def similarity(value: Piece) -> Similarity:
    """Return the piece: an object unchanged, or the piece with this name and its default settings.

    >>> similarity("rbf")
    RBF(gamma=1.0)
    """
    found: Similarity = meant("kernel", value, SIMILARITIES, "matrix")
    return found


def describe(kernel: Similarity) -> dict[str, Json]:
    """A similarity as JSON: its name in the table, and its hyper-parameters.

    >>> describe(similarity("rbf"))
    {'kind': 'rbf', 'gamma': 1.0}
    """
    return to_manifest(kernel, SIMILARITIES)


def described(manifest: Json) -> Similarity:
    """Restore the similarity; an unknown kind or unknown hyper-parameters are refused.

    >>> described({"kind": "rbf", "gamma": 2.0})
    RBF(gamma=2.0)
    """
    try:
        fields = {name: value for name, value in manifest.items() if name != "kind"}
        return similarity(SIMILARITIES[manifest["kind"]](**fields))
    except (KeyError, TypeError, AttributeError, UsageError) as error:
        raise damaged_or_newer("its kernel is unknown") from error


__getattr__, __dir__ = room(__name__)
