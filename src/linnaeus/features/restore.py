"""Fitted features from their state, and from a file: the table of kinds.

Only what stands in the table can be built; a file names a row of it, never a module, and nothing of it is run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from linnaeus import store
from linnaeus.errors import InputTypeError, ModelFileError, damaged
from linnaeus.features.base import Fitted
from linnaeus.store.states import nested
from linnaeus.types import Json, State

if TYPE_CHECKING:
    from linnaeus.features.pairs.base import FittedPairs

Functions: TypeAlias = Mapping[str, Callable[[Any], Any]]
Restorer: TypeAlias = Callable[[State, Sequence[Fitted], Functions], Fitted]


DEEPEST = 64
_CALLING = frozenset({"function", "pair_function"})
"""Kinds of pieces that call a function of the user's."""


def alone(path: str) -> Restorer:
    """For a piece that is made of nothing else; its class is imported when a file holds one."""

    def restored(state: State, blocks: Sequence[Fitted], functions: Functions) -> Fitted:
        del blocks, functions
        return _built(path, state)

    return restored


def around(path: str, count: int | None = None) -> Restorer:
    """For a piece made of so many others (None: any number but zero)."""

    def restored(state: State, blocks: Sequence[Fitted], functions: Functions) -> Fitted:
        del functions
        if len(blocks) != count if count else not blocks:
            raise damaged(f"{state.manifest['kind']!r} has {len(blocks)} blocks")
        return _built(path, state, *blocks)

    return restored


def _function(state: State, blocks: Sequence[Fitted], functions: Functions) -> Fitted:
    del blocks
    return _built("function.FittedFunction", state, functions)


def _built(path: str, *parts: Any) -> Fitted:
    module, name = path.rsplit(".", 1)
    found: Fitted = getattr(import_module(f"linnaeus.features.{module}"), name).from_state(*parts)
    return found


RESTORERS: dict[str, Restorer] = {
    "affixes": alone("surface.FittedAffixes"),
    "columns": alone("columns.FittedColumns"),
    "conjunction": around("composition.FittedConjunction", 2),
    "field": around("columns.FittedField", 1),
    "fourier": around("kernel_features.FittedFourier", 1),
    "function": _function,
    "hashed": alone("terms.hashed.FittedHashed"),
    "letters": alone("surface.FittedLetters"),
    "lexicon": alone("lexicon.FittedLexicon"),
    "narrowed": around("base.Narrowed", 1),
    "nystrom": around("kernel_features.FittedNystrom", 1),
    "ready": alone("precomputed.FittedReady"),
    "reduced": around("reduced.FittedReduced", 1),
    "shape": alone("surface.FittedShape"),
    "terms": alone("terms.exact.FittedTerms"),
    "union": around("composition.FittedUnion"),
    "vectors": alone("precomputed.FittedVectors"),
    "weighted": around("weighting.FittedWeighted", 1),
}
"""How each kind of fitted piece is built again from its state, its blocks and the functions passed in."""


def restore(state: State, functions: Functions | None = None) -> Fitted:
    """Restore fitted features from `state()`; `functions` are those that a `Function` in it names.

    >>> from linnaeus.features import Affixes
    >>> fitted = Affixes().fit(["good films"])
    >>> restore(fitted.state()) == fitted
    True
    """
    check_functions(functions)
    return _restore(state, functions or {}, DEEPEST)


def _restore(state: State, functions: Functions, depth: int) -> Fitted:
    kind = state.manifest.get("kind")
    if not isinstance(kind, str) or kind not in RESTORERS:
        raise ModelFileError(
            f"The model has features of kind {kind!r}, which this version does not know; upgrade Linnaeus."
        )
    if depth == 0:
        raise ModelFileError(f"The model has blocks within blocks, more than {DEEPEST} deep; train it with fewer.")
    blocks = [_restore(part, functions, depth - 1) for part in nested(state)]
    return RESTORERS[kind](state, blocks, functions)


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


def restore_pairs(state: State, functions: Functions | None = None) -> FittedPairs:
    """Fitted pair features from what `state()` gave; `functions` are those that it names."""
    from linnaeus.features.pairs.base import FittedPairs

    found = _restore_pairs(state, functions or {}, DEEPEST)
    if not isinstance(found, FittedPairs):
        raise damaged("its features are not those of pairs")
    return found


def _restore_pairs(state: State, functions: Functions, depth: int) -> Any:
    kind = state.manifest.get("kind")
    if depth == 0:
        raise ModelFileError(f"The model has blocks within blocks, more than {DEEPEST} deep; train it with fewer.")
    if kind == "pair_function":
        from linnaeus.features.pairs.measured import PairFunction

        return PairFunction.from_state(state, functions)
    if isinstance(kind, str) and kind in PAIRS:
        module, name = PAIRS[kind].split(".")
        blocks = [_restore_pairs(part, functions, depth - 1) for part in nested(state)]
        return getattr(import_module(f"linnaeus.features.pairs.{module}"), name).from_state(state, *blocks)
    if isinstance(kind, str) and kind in RESTORERS:
        return restore(state, functions)
    raise ModelFileError(
        f"The model has features of kind {kind!r}, which this version does not know; upgrade Linnaeus."
    )


def check_functions(functions: Functions | None) -> None:
    """Refuse what is passed in as a function and cannot be called."""
    for name, function in (functions or {}).items():
        if not callable(function):
            raise InputTypeError(f"functions[{name!r}] is of type {type(function).__name__}; pass a function.")


def bound(value: Json, functions: Functions | None) -> Any:
    """Plain data with these functions in the pieces that name them: a file holds names, never functions.

    >>> bound({"kind": "function", "name": "length"}, {"length": len})["fn"]
    <built-in function len>
    """
    if not functions or not isinstance(value, list | dict):
        return value
    if isinstance(value, list):
        return [bound(item, functions) for item in value]
    found = {name: bound(item, functions) for name, item in value.items()}
    if found.get("kind") in _CALLING and found.get("name") in functions:
        found["fn"] = functions[found["name"]]
    return found


def save(path: str | os.PathLike[str], features: Fitted, force: bool = False) -> None:
    """Write fitted features to a file, atomically; with `force`, an existing file is replaced.

    >>> from linnaeus.features import Shape
    >>> save("shape.lin", Shape().fit([]))
    >>> load("shape.lin").names()[0]
    'words with punctuation'
    """
    if not isinstance(features, Fitted):
        raise InputTypeError(f"save takes fitted features, not {type(features).__name__}; call fit(...) first.")
    store.save(path, features.state(), force)


def load(path: str | os.PathLike[str], functions: Functions | None = None, verify: bool | None = None) -> Fitted:
    """Read fitted features from a file of `save`; `functions` as in `restore`.

    The tensors' digests are checked when together they have less than 64 MB, or as `verify` says.

    >>> from linnaeus.features import Words, save
    >>> save("features.lin", Words().fit(["a good film"]))
    >>> load("features.lin").names()
    ['a', 'film', 'good']
    """
    return restore(store.load(path, verify), functions)
