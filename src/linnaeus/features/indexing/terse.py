"""Vocabularies in few bytes, for compact models: without probe tables, which are made again when they are loaded.

A token takes its bytes, its length and its column; a longer term its parent (as the step from the one before it), its
last token and its column: about a quarter of what the tables take that can be used as they lie in a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import kernels
from linnaeus.errors import damaged
from linnaeus.features.indexing.vocabulary import LOW, SHIFT, Vocabulary
from linnaeus.store.states import tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.store.states import Tensors
    from linnaeus.types import Longs

WHOLE = ("token_offsets", "token_slots", "columns", "pair_slots")
TERSE = ("token_lengths", "token_columns", "steps", "last", "pair_columns")
KINDS = (np.uint8, np.uint16, np.uint32)


def terse(tensors: Tensors) -> Tensors:
    """The tensors of fitted features, with every vocabulary among them in few bytes.

    >>> from linnaeus.features import Words
    >>> fitted = Words().fit(["a good film", "a bad film"])
    >>> sorted(terse(fitted.state().tensors))
    ['last', 'pair_columns', 'steps', 'token_bytes', 'token_columns', 'token_lengths']
    """
    found = dict(tensors)
    for name in tensors:
        prefix = name.removesuffix("pair_slots")
        if prefix != name and all(prefix + part in tensors for part in (*WHOLE, "token_bytes")):
            whole = [found.pop(prefix + part) for part in WHOLE]
            found |= {prefix + part: array for part, array in zip(TERSE, _terse(*whole), strict=True)}
    return found


def _terse(offsets: Any, slots: Any, columns: Any, pairs: Any) -> tuple[NDArray[Any], ...]:
    nodes = Vocabulary(np.zeros(0, np.uint8), offsets, slots, columns, pairs, 0).nodes
    steps = np.diff(nodes[0], prepend=np.int32(0))
    return _smallest(np.diff(offsets)), columns, _smallest(steps), _smallest(nodes[1]), nodes[2]


def _smallest(numbers: NDArray[Any]) -> NDArray[Any]:
    most = int(numbers.max(initial=0))
    return numbers.astype(next(kind for kind in KINDS if most <= np.iinfo(kind).max))


def expanded(tensors: Tensors) -> Tensors:
    """The tensors of a vocabulary again, with the probe tables that its kernel follows."""
    lengths, steps, last = (_counts(tensors, name) for name in ("token_lengths", "steps", "last"))
    token_bytes, columns = tensor(tensors, "token_bytes", np.uint8), tensor(tensors, "token_columns", np.int32)
    pair_columns = tensor(tensors, "pair_columns", np.int32)
    parents, count = np.cumsum(steps), len(columns)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    fits = len(lengths) == count and len(steps) == len(last) == len(pair_columns)
    if not fits or offsets[-1] != len(token_bytes) or not lengths.all() or (last >= count).any():
        raise damaged("the terms of its vocabulary do not fit each other")
    if (parents >= count + np.arange(len(parents))).any() or count + len(parents) > int(LOW) >> 1:
        raise damaged("a term of its vocabulary begins with one that comes later")
    keys = parents.astype(np.uint64) << SHIFT | last.astype(np.uint64)
    return {
        "token_bytes": token_bytes,
        "token_offsets": offsets,
        "token_slots": kernels.probe_tokens(token_bytes, offsets),
        "columns": columns,
        "pair_slots": kernels.probe_pairs(keys, pair_columns, count),
    }


def _counts(tensors: Tensors, name: str) -> Longs:
    array = tensors.get(name)
    if array is None or array.ndim != 1 or array.dtype.type not in KINDS:
        raise damaged(f"it lacks the vector {name!r} of whole numbers")
    return array.astype(np.int64)
