"""Fitted features from their state, and from a file: the table of kinds.

Only what stands in the table can be built, and nothing is imported or run because a file says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from linnaeus import store
from linnaeus.errors import InputTypeError, ModelFileError, damaged
from linnaeus.features.affixes import FittedAffixes
from linnaeus.features.base import Fitted
from linnaeus.features.columns import FittedColumns
from linnaeus.features.conjunction import FittedConjunction
from linnaeus.features.function import FittedFunction
from linnaeus.features.indexing.exact import FittedTerms
from linnaeus.features.indexing.hashed import FittedHashed
from linnaeus.features.lexicon import FittedLexicon
from linnaeus.features.narrow import Narrowed
from linnaeus.features.ready import FittedReady
from linnaeus.features.shape import FittedShape
from linnaeus.features.union import FittedUnion
from linnaeus.features.weighting import FittedWeighted
from linnaeus.store.states import nested
from linnaeus.types import State

Functions: TypeAlias = Mapping[str, Callable[[Any], Any]]
Restorer: TypeAlias = Callable[[State, Sequence[Fitted], Functions], Fitted]


DEEPEST = 64


def alone(build: Callable[[State], Fitted]) -> Restorer:
    """For a piece that is made of nothing else."""

    def restored(state: State, blocks: Sequence[Fitted], functions: Functions) -> Fitted:
        del blocks, functions
        return build(state)

    return restored


def around(build: Callable[..., Fitted], count: int | None = None) -> Restorer:
    """For a piece made of so many others (None: any number but zero)."""

    def restored(state: State, blocks: Sequence[Fitted], functions: Functions) -> Fitted:
        del functions
        if len(blocks) != count if count else not blocks:
            raise damaged(f"{state.manifest['kind']!r} has {len(blocks)} blocks")
        return build(state, *blocks)

    return restored


def _function(state: State, blocks: Sequence[Fitted], functions: Functions) -> Fitted:
    del blocks
    return FittedFunction.from_state(state, functions)


RESTORERS: dict[str, Restorer] = {
    "affixes": alone(FittedAffixes.from_state),
    "columns": alone(FittedColumns.from_state),
    "conjunction": around(FittedConjunction.from_state, 2),
    "function": _function,
    "hashed": alone(FittedHashed.from_state),
    "lexicon": alone(FittedLexicon.from_state),
    "narrowed": around(Narrowed.from_state, 1),
    "ready": alone(FittedReady.from_state),
    "shape": alone(FittedShape.from_state),
    "terms": alone(FittedTerms.from_state),
    "union": around(FittedUnion.from_state),
    "weighted": around(FittedWeighted.from_state, 1),
}
"""How each kind of fitted piece is built again from its state, its blocks and the functions passed in."""


def restore(state: State, functions: Functions | None = None) -> Fitted:
    """Fitted features from what `state()` gave; `functions` are those a `Function` in it names.

    >>> from linnaeus.features import Affixes
    >>> fitted = Affixes().fit(["good films"])
    >>> restore(fitted.state()) == fitted
    True
    """
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


def save(path: str | os.PathLike[str], features: Fitted) -> None:
    """Write fitted features to a file, in one step.

    >>> from linnaeus.features import Shape
    >>> save("shape.lin", Shape().fit([]))
    >>> load("shape.lin").names()[0]
    'words with punctuation'
    """
    if not isinstance(features, Fitted):
        raise InputTypeError(f"save takes fitted features, not {type(features).__name__}; call fit(...) first.")
    store.save(path, features.state())


def load(path: str | os.PathLike[str], functions: Functions | None = None, verify: bool | None = None) -> Fitted:
    """Read fitted features from a file that `save` wrote; `functions` as in `restore`.

    The tensors' digests are checked when together they have less than 64 MB, or as `verify` says.
    """
    return restore(store.load(path, verify), functions)
