"""An explanation as one JSON object: offsets count characters (Unicode code points) of the original text."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linnaeus.explain.records import Explanation, Flip, Reason
    from linnaeus.types import Json

SCHEMA = "linnaeus.explanation/1"
"""The version of the JSON form; within it keys are only ever added."""


def explanation_json(explanation: Explanation, parts: int | None = None) -> dict[str, Json]:
    """Schema, text, predicted, classes, segments, features, contrast, flip, tables, neighbors."""
    return {
        "schema": SCHEMA,
        "unit": "characters",
        "text": explanation.text,
        "kind": explanation.kind,
        "exact": explanation.exact,
        "predicted": list(explanation.predicted),
        "classes": [_class(reason) for reason in explanation.reasons],
        "segments": _segments(explanation),
        "features": _features(explanation, parts),
        "contrast": _contrast(explanation),
        "flip": _flip(explanation.text, explanation.flip) if explanation.flip else None,
        "tables": [asdict(table) for table in explanation.tables],
        "neighbors": [asdict(neighbor) for neighbor in explanation.neighbors],
    }


def _class(reason: Reason) -> dict[str, Json]:
    return {
        "name": reason.name,
        "score": reason.score,
        "bias": reason.bias,
        "standing": reason.standing,
        "unplaced": reason.unplaced,
        "probability": reason.probability,
    }


def _segments(explanation: Explanation) -> list[Json]:
    """The whole text, word by word, with what each piece adds to each class."""
    columns = [reason.segments() for reason in explanation.reasons]
    names = [reason.name for reason in explanation.reasons]
    return [
        {
            "start": spots[0].start,
            "end": spots[0].end,
            "text": explanation.text[spots[0].start : spots[0].end],
            "contributions": dict(zip(names, (spot.contribution for spot in spots), strict=True)),
        }
        for spots in zip(*columns, strict=True)
    ]


def _features(explanation: Explanation, parts: int | None) -> list[Json]:
    """Every feature, or the largest ones for any class, by the largest contribution; shares of its places."""
    found, reasons = explanation.found, explanation.reasons
    C = np.array([reason.contributions for reason in reasons])
    order = np.lexsort((found.columns, -np.abs(C).max(axis=0)))[:parts].tolist()
    places: dict[int, list[Json]] = {i: [] for i in order}
    rows = zip(found.owners.tolist(), found.starts.tolist(), found.ends.tolist(), found.shares.tolist(), strict=True)
    for owner, start, end, share in rows:
        if owner in places:
            places[owner].append({"start": start, "end": end, "share": share})
    return [
        {
            "name": found.names[i],
            "column": int(found.columns[i]),
            "value": float(found.values[i]),
            "terms": list(found.terms[i]),
            "places": places[i],
            "contributions": {reason.name: float(C[c, i]) for c, reason in enumerate(reasons)},
        }
        for i in order
    ]


def _contrast(explanation: Explanation) -> Json:
    reason = explanation.contrast
    return {**_class(reason), "against": reason.against} if reason else None


def _flip(text: str, flip: Flip) -> Json:
    return {
        "words": [{"start": start, "end": end, "text": text[start:end]} for start, end in flip.words],
        "predicted": list(flip.predicted),
        "minimal": flip.minimal,
        "scored": flip.scored,
        "text": flip.text,
    }
