"""What is explained: fitted features, the weights of a linear model, its output space and the names of its classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.errors import UsageError
from linnaeus.explain.found import Found, find
from linnaeus.explain.ranked import Ranked
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linnaeus.data.batch import Batch
    from linnaeus.features.base import Fitted
    from linnaeus.types import Doubles


@dataclass(frozen=True, eq=False)
class Linear(Ranked):
    """Scores S = X W + b (n, w), and class scores made of them by the output space.

    W (d, w) may be float32, memory-mapped, of any type that turns into numbers: only the rows that a text needs are
    read.

    >>> from linnaeus.features import Words
    >>> from linnaeus.outputs import Binary
    >>> features = Words().fit(["good", "bad"])
    >>> model = Linear(features, np.array([[-1.0], [2.0]]), np.array([0.5]), Binary(), ("neg", "pos"))
    >>> model.class_scores(model.scores(["good good bad"])).tolist()
    [[-3.5, 3.5]]
    """

    exact: ClassVar[bool] = True

    features: Fitted
    W: NDArray[Any]
    b: NDArray[Any]
    space: Any
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(self.classes))
        if len(set(self.classes)) != len(self.classes) or not self.classes:
            raise UsageError("Linear needs the names of the classes, each of them once.")
        wanted = self.features.width, self.space.width(len(self.classes))
        if tuple(self.W.shape) != wanted or tuple(self.b.shape) != wanted[1:]:
            raise UsageError(
                f"Linear has weights {tuple(self.W.shape)} and a bias {tuple(self.b.shape)}; these features, this "
                f"output and {len(self.classes)} classes need {wanted} and {wanted[1:]}."
            )

    def found(self, row: Batch) -> Found:
        """The features of a batch of one row, and where they stand."""
        return find(self.features, row)

    def scores(self, source: Batch | Sequence[str]) -> Doubles:
        """S (n, w) in float64, from the rows of W that are needed."""
        X = self.features.rows(source)
        columns, places = np.unique(X.indices[: X.nnz], return_inverse=True)
        rows = CSR(X.indptr, places.astype(np.int32), X.data[: X.nnz], len(columns))
        S: Doubles = rows.dot(self.weights(columns)) + np.asarray(self.b, np.float64)
        return S

    def weights(self, columns: NDArray[Any]) -> Doubles:
        """The weights of these features (f, w)."""
        return np.ascontiguousarray(self.W[columns], np.float64)
