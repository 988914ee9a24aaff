"""What users call X: any matrix that `arrays.as_rows` adopts; a face remembers its width and its names."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from linnaeus.arrays import Dense, as_rows, column_names
from linnaeus.arrays.numerics import refuse_overflow

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.estimators.face import MatrixFace
    from linnaeus.types import Matrix


def learned(face: object, X: Matrix) -> tuple[CSR | Dense, dict[str, object]]:
    """Rows to learn from, and what the face will remember of them: their width, and the names of their columns."""
    names = column_names(X)
    rows = as_rows(X, who=type(face).__name__)
    refuse_overflow("X", rows.values if isinstance(rows, Dense) else rows.data[: rows.nnz], "features")
    seen: dict[str, object] = {"n_features_in_": rows.shape[1]}
    return rows, seen if names is None else {**seen, "feature_names_in_": names}


def checked(face: MatrixFace, X: Matrix) -> CSR | Dense:
    """Rows to score: as wide as those learned from, with the same names where both have some."""
    who, names = type(face).__name__, vars(face).get("feature_names_in_")
    given = column_names(X)
    if names is not None and given is None:
        warnings.warn(f"X does not have valid feature names, but {who} was fitted with feature names", stacklevel=4)
    if names is None and given is not None:
        warnings.warn(f"X has feature names, but {who} was fitted without feature names", stacklevel=4)
    return as_rows(X, face.n_features_in_, names, who)
