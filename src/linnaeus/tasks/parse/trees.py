"""True trees as they stand in data: which columns hold them, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.data.sentence_reading import Place
from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError
from linnaeus.tasks.sentences import place_of
from linnaeus.types import Bools, Ints, Longs

if TYPE_CHECKING:
    from linnaeus.evaluation.attachment import Attachments

HEADS = ("heads", "head")
RELATIONS = ("relations", "relation", "deprels", "deprel")
"""What the columns of trees are called; the first that is there is read."""

UNNAMED = "_"
"""The relation of arcs in data that name none."""


def column_named(sentences: Sentences, names: tuple[str, ...]) -> pa.Array | None:
    """The first of these columns that the sentences have."""
    return next((sentences.columns[name] for name in names if name in sentences.columns), None)


def trees_of(sentences: Sentences, place: Place = lambda i: f"sentence {i + 1}") -> Attachments:
    """The heads and relations of sentences, if they are trees; the first one that is none is refused.

    >>> from linnaeus.data.sentences import Sentences
    >>> trees_of(Sentences.from_lists([["no", "way"]], columns={"heads": [["2", "1"]]}))
    Traceback (most recent call last):
    linnaeus.errors.DataError: sentence 1: no token has the root (0) as its head; give exactly one token the head 0.
    """
    from linnaeus.evaluation.attachment import Attachments

    found = column_named(sentences, HEADS)
    if found is None:
        raise DataError("the sentences have no heads; give a column 'heads' with the number of each token's head.")
    heads = _numbers(sentences, found, place)
    offsets = sentences.offsets - sentences.offsets[0]
    if len(wrong := np.flatnonzero(~are_trees(heads, offsets))):
        i = int(wrong[0])
        raise DataError(f"{place(i)}: {_wrong(heads[offsets[i] : offsets[i + 1]])}")
    relations = column_named(sentences, RELATIONS)
    if relations is None:
        relations = pa.array([UNNAMED] * len(heads), pa.string())
    elif relations.null_count:
        at = int(np.flatnonzero(relations.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(f"{place_of(sentences, at, place)} has no relation; give each token one.")
    return Attachments(heads, relations)


def _numbers(sentences: Sentences, column: pa.Array, place: Place) -> Ints:
    """The heads as numbers; a cell that is none is refused with its place."""
    import pyarrow.compute as pc

    plain = pc.fill_null(pc.match_substring_regex(column, r"^\d{1,9}$"), fill_value=False)
    right = plain.to_numpy(zero_copy_only=False)
    if not right.all():
        at = int(np.flatnonzero(~right)[0])
        said = column[at].as_py()
        raise DataError(
            f"{place_of(sentences, at, place)} has the head {said!r}, which is no number; give the number of a token, "
            "or 0 for the root."
        )
    return column.cast(pa.int32()).to_numpy(zero_copy_only=False)


def are_trees(heads: Ints, offsets: Longs) -> Bools:
    """Whether the heads of each sentence are a tree with one root: every token comes to it (an empty one is a tree).

    >>> are_trees(np.array([2, 0, 2, 1, 0, 0]), np.array([0, 2, 4, 6])).tolist()
    [True, False, False]
    """
    sizes = np.diff(offsets)
    sentence = np.repeat(np.arange(len(sizes)), sizes)
    roots = np.bincount(sentence, heads == 0, len(sizes))
    lost = np.bincount(sentence, _lost(heads, offsets), len(sizes))
    return (lost == 0) & ((roots == 1) | (sizes == 0))


def _lost(heads: Ints, offsets: Longs) -> Bools:
    """The tokens that do not come to the root: their head is not there, or they are in a circle or below one."""
    sizes, end = np.diff(offsets), len(heads)
    outside = (heads < 0) | (heads > np.repeat(sizes, sizes))
    at = np.where((heads == 0) | outside, end, np.repeat(offsets[:-1], sizes) + heads - 1)
    above = np.append(at, end)  # behind all tokens stands the root, above which is itself
    for _ in range(int(sizes.max(initial=0)).bit_length()):
        above = above[above]  # twice as far towards the root
    return outside | (above[:-1] < end)


def _wrong(heads: Ints) -> str:
    """What is wrong with the heads of one sentence that is no tree."""
    n = len(heads)
    if (heads > n).any():
        at = int(np.flatnonzero(heads > n)[0])
        return f"token {at + 1} has the head {heads[at]}, but the sentence has {n} tokens; correct it."
    roots = np.flatnonzero(heads == 0) + 1
    if len(roots) > 1:
        return f"tokens {roots[0]} and {roots[1]} both have the root (0) as their head; give only one the head 0."
    if not len(roots):
        return "no token has the root (0) as its head; give exactly one token the head 0."
    circle, at = set[int](), int(np.flatnonzero(_lost(heads, np.array([0, n])))[0])
    while at not in circle:
        circle.add(at)
        at = int(heads[at]) - 1
    return f"token {at + 1} is in a circle: it is below itself; correct its head."
