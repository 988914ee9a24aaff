"""Scores of candidates: by one weight for each feature, or by the model of a learner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.protocols import FittedRanker, ability
from linnaeus.types import AnyFloats, Doubles, Piece

if TYPE_CHECKING:
    from linnaeus.features.pairs import FittedPairs
    from linnaeus.features.pairs.base import View


def candidate_scores(features: FittedPairs, view: View, params: Mapping[str, AnyFloats], body: Piece) -> Doubles:
    """The scores of all candidates (m,)."""
    if body is None:
        return features.scores(view, params["W"][:, 0].astype(np.float64))
    return row_scores(params, body, features.rows(view))


def row_scores(params: Mapping[str, AnyFloats], body: Piece, X: CSR) -> Doubles:
    """The scores of rows of candidates (m,)."""
    if body is None:
        return X.dot(params["W"][:, 0].astype(np.float64))
    return ability(body, FittedRanker).scores(X)[:, 0]
