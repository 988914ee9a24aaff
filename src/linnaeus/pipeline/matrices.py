"""What users call X: any matrix that `arrays.as_rows` adopts; a face remembers its width and its names."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from linnaeus.arrays import as_rows, column_names

if TYPE_CHECKING:
    from linnaeus.arrays import CSR, Dense


def learned(face: Any, X: Any) -> CSR | Dense:
    """Rows to learn from; the face remembers how wide they are, and the names of their columns."""
    names = column_names(X)
    rows = as_rows(X, who=type(face).__name__)
    face.n_features_in_ = rows.shape[1]
    if names is not None:
        face.feature_names_in_ = names
    elif hasattr(face, "feature_names_in_"):
        del face.feature_names_in_
    return rows


def checked(face: Any, X: Any) -> CSR | Dense:
    """Rows to score: as wide as those learned from, with the same names where both have some."""
    who, names = type(face).__name__, getattr(face, "feature_names_in_", None)
    given = column_names(X)
    if names is not None and given is None:
        warnings.warn(f"X does not have valid feature names, but {who} was fitted with feature names", stacklevel=4)
    if names is None and given is not None:
        warnings.warn(f"X has feature names, but {who} was fitted without feature names", stacklevel=4)
    return as_rows(X, face.n_features_in_, names, who)
