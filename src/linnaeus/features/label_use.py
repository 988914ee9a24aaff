"""Features that look at labels: they must be learned anew for each fold, or held-out rows would be known to them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any


def peeks(piece: Any) -> bool:
    """Whether a piece, or one inside it, learns from labels.

    >>> from linnaeus.features import NaiveBayes, Weighted, Words
    >>> peeks(Words(values=NaiveBayes())), peeks(Weighted(Words(), "tfidf"))
    (True, False)
    """
    from linnaeus.features import SCORES, VALUES

    if isinstance(piece, str):
        piece = VALUES.get(piece) or SCORES.get(piece)
    if getattr(piece, "needs_labels", False):
        return True
    if isinstance(piece, tuple):
        return any(map(peeks, piece))
    if not is_dataclass(piece) or isinstance(piece, type):
        return False
    return any(peeks(getattr(piece, part.name)) for part in fields(piece))
