"""Fitted features from their state, and from a file: the table of kinds.

Only what stands in the table can be built; a file names a row of it, never a module, and nothing of it is run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from linnaeus import store
from linnaeus.errors import InputTypeError, ModelFileError, damaged
from linnaeus.features.base import Fitted
from linnaeus.store.states import nested
from linnaeus.types import Json, State

if TYPE_CHECKING:
    from linnaeus.features.pairs.base import FittedPairs
    from linnaeus.features.pairs.measured import FittedMeasure

    Restored: TypeAlias = Fitted | FittedPairs | FittedMeasure

Functions: TypeAlias = Mapping[str, Callable[..., object]]
"""Functions of the user's by name; what they return is checked where they are called."""

DEEPEST = 64


class Kind(NamedTuple):
    """The class of a kind, and what it is made of: how many blocks (None: at least one), and their base class."""

    path: str
    blocks: int | None = 0
    of: str = "base.Fitted"


RESTORERS = {
    "affixes": Kind("surface.FittedAffixes"),
    "columns": Kind("columns.FittedColumns"),
    "company": Kind("pairs.measures.Company"),
    "conjunction": Kind("composition.FittedConjunction", 2),
    "context": Kind("pairs.measures.Context"),
    "crossed": Kind("pairs.crossed.FittedCrossed", 2),
    "described": Kind("pairs.crossed.FittedDescribed", 1),
    "fasttext": Kind("fasttext.FittedFastTextTerms"),
    "field": Kind("columns.FittedField", 1),
    "fourier": Kind("projections.FittedFourier", 1),
    "function": Kind("function.FittedFunction"),
    "hashed": Kind("terms.hashed.FittedHashed"),
    "joined": Kind("pairs.base.FittedJoined", None, "pairs.base.FittedPairs"),
    "known": Kind("pairs.measures.FittedKnown"),
    "letters": Kind("surface.FittedLetters"),
    "lexicon": Kind("lexicon.FittedLexicon"),
    "match": Kind("pairs.measures.Match"),
    "measured": Kind("pairs.measured.FittedMeasured", None, "pairs.measured.FittedMeasure"),
    "narrowed": Kind("base.Narrowed", 1),
    "nothing": Kind("pairs.measures.Nothing"),
    "numbers": Kind("pairs.measures.Numbers"),
    "proposed": Kind("pairs.measures.Proposed"),
    "nystrom": Kind("projections.FittedNystrom", 1),
    "pair_function": Kind("pairs.measured.PairFunction"),
    "passage": Kind("pairs.reading.FittedPassage"),
    "ready": Kind("precomputed.FittedReady"),
    "reduced": Kind("projections.FittedReduced", 1),
    "shape": Kind("surface.FittedShape"),
    "terms": Kind("terms.exact.FittedTerms"),
    "transformer_vectors": Kind("transformer_vectors.FittedTransformerVectors"),
    "union": Kind("composition.FittedUnion", None),
    "vectors": Kind("precomputed.FittedVectors"),
    "weighted": Kind("weighting.FittedWeighted", 1),
    "word_sequence": Kind("word_sequence.FittedWordSequence"),
    "word_vectors": Kind("word_vectors.extractor.FittedWordVectors"),
}
"""Every kind of fitted features, of texts and of pairs; its class is imported when a file holds one."""

CALLING = frozenset({"function", "pair_function"})
"""Kinds of pieces that call a function of the user's."""


def restore(state: State, functions: Functions | None = None) -> Fitted:
    """Restore fitted features from `state()`; `functions` are those that a `Function` in it names.

    >>> from linnaeus.features import Affixes
    >>> fitted = Affixes().fit(["good films"])
    >>> restore(fitted.state()) == fitted
    True
    """
    check_functions(functions)
    found = _restore(state, functions or {}, DEEPEST)
    if not isinstance(found, Fitted):
        raise damaged("its features are not those of texts")
    return found


def restore_pairs(state: State, functions: Functions | None = None) -> FittedPairs:
    """Fitted pair features from what `state()` gave; `functions` are those that it names."""
    from linnaeus.features.pairs.base import FittedPairs

    found = _restore(state, functions or {}, DEEPEST)
    if not isinstance(found, FittedPairs):
        raise damaged("its features are not those of pairs")
    return found


def _restore(state: State, functions: Functions, depth: int) -> Restored:
    name = state.manifest.get("kind")
    if not isinstance(name, str) or name not in RESTORERS:
        raise ModelFileError(
            f"The model has features of kind {name!r}, which this version does not know; upgrade Linnaeus."
        )
    if depth == 0:
        raise ModelFileError(f"The model has blocks within blocks, more than {DEEPEST} deep; train it with fewer.")
    blocks = [_restore(part, functions, depth - 1) for part in nested(state)]
    path, count, of = RESTORERS[name]
    if count == 0:
        parts: tuple[object, ...] = (functions,) if name in CALLING else ()
    elif len(blocks) != count if count else not blocks:
        raise damaged(f"{name!r} has {len(blocks)} blocks")
    elif not all(isinstance(block, _class(of)) for block in blocks):
        raise damaged(f"{name!r} has blocks of another kind")
    else:
        parts = tuple(blocks)
    return _class(path).from_state(state, *parts)


def _class(path: str) -> Any:
    module, name = path.rsplit(".", 1)
    return getattr(import_module(f"linnaeus.features.{module}"), name)


def check_functions(functions: Functions | None) -> None:
    """Refuse what is passed in as a function and cannot be called."""
    for name, function in (functions or {}).items():
        if not callable(function):
            raise InputTypeError(f"functions[{name!r}] is of type {type(function).__name__}; pass a function.")


def bound(value: Json, functions: Functions | None) -> Json:
    """Plain data with these functions in the pieces that name them: a file holds names, never functions.

    >>> bound({"kind": "function", "name": "length"}, {"length": len})["fn"]
    <built-in function len>
    """
    if not functions or not isinstance(value, list | dict):
        return value
    if isinstance(value, list):
        return [bound(item, functions) for item in value]
    found = {name: bound(item, functions) for name, item in value.items()}
    if found.get("kind") in CALLING and found.get("name") in functions:
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
