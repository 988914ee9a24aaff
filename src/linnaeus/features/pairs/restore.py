"""Fitted pair features from their state: only what stands in the table can be built."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from linnaeus.errors import ModelFileError, damaged
from linnaeus.features.pairs.base import FittedPairs
from linnaeus.features.restore import DEEPEST, RESTORERS, restore
from linnaeus.store.states import nested
from linnaeus.types import State

PAIRS = {
    "joined": "base.FittedJoined",
    "measured": "measured.FittedMeasured",
    "described": "crossed.FittedDescribed",
    "crossed": "crossed.FittedCrossed",
    "match": "matching.Match",
    "nothing": "matching.Nothing",
    "numbers": "popularity.Numbers",
    "known": "popularity.FittedKnown",
    "context": "matching.Context",
    "company": "matching.Company",
    "passage": "reading.FittedPassage",
}
"""Where each kind of fitted pair features lives."""


def restore_pairs(state: State, functions: Mapping[str, Any] | None = None) -> FittedPairs:
    """Fitted pair features from what `state()` gave; `functions` are those that it names."""
    found = _restore(state, functions or {}, DEEPEST)
    if not isinstance(found, FittedPairs):
        raise damaged("its features are not those of pairs")
    return found


def _restore(state: State, functions: Mapping[str, Any], depth: int) -> Any:
    kind = state.manifest.get("kind")
    if depth == 0:
        raise ModelFileError(f"The model has blocks within blocks, more than {DEEPEST} deep; train it with fewer.")
    if kind == "pair_function":
        from linnaeus.features.pairs.function import PairFunction

        return PairFunction.from_state(state, functions)
    if isinstance(kind, str) and kind in PAIRS:
        module, name = PAIRS[kind].split(".")
        blocks = [_restore(part, functions, depth - 1) for part in nested(state)]
        return getattr(import_module(f"linnaeus.features.pairs.{module}"), name).from_state(state, *blocks)
    if isinstance(kind, str) and kind in RESTORERS:
        return restore(state, functions)
    raise ModelFileError(
        f"The model has features of kind {kind!r}, which this version does not know; upgrade Linnaeus."
    )
