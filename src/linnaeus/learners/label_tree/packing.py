"""Chunks in fewer bytes, for small files: gaps between columns instead of columns, and marks instead of offsets.

Of each node the columns ascend, so a gap mostly fits one byte; larger ones take two or more, seven bits in each, as in
protocol buffers. Where the values of a column begin is told by a bit for each value: whether it is the first one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linnaeus.errors import damaged
from linnaeus.store.states import tensor
from linnaeus.types import Array, Arrays, Bytes, Longs


def packed(firsts: Longs, columns: Array, begins: Longs, spots: Array, count: int) -> Arrays:
    """The columns of all nodes, and where the values of each begin, of so many values.

    >>> arrays = packed(np.array([0, 2, 3]), np.array([5, 300, 7]), np.array([0, 3, 4]), np.array([0, 2, 0]), 4)
    >>> arrays["gaps"].tolist(), arrays["marks"].tolist()
    ([5, 130, 39, 7], [176])
    """
    gaps: Longs = columns.astype(np.int64)
    gaps[1:] -= columns[:-1]
    starts = firsts[:-1][np.diff(firsts) > 0]
    gaps[starts] = columns[starts]
    marks = np.zeros(count, bool)
    marks[np.repeat(begins[:-1], np.diff(firsts)) + spots] = True
    return {"gaps": _short(gaps), "marks": np.packbits(marks)}


def unpacked(tensors: Mapping[str, Array], firsts: Longs, begins: Longs) -> tuple[Array, Array]:
    """The columns, and where the values of each begin in its node; a file that does not fit is refused."""
    gaps, marks = _long(tensor(tensors, "gaps", np.uint8)), tensor(tensors, "marks", np.uint8)
    count = int(begins[-1])
    at = np.flatnonzero(np.unpackbits(marks, count=count)) if len(marks) == -(-count // 8) else np.zeros(0, np.int64)
    if len(gaps) != firsts[-1] or len(at) != len(gaps):
        raise damaged("the columns of its label tree do not fit their values")
    sizes = np.diff(firsts)
    ends = np.cumsum(gaps)
    before = np.concatenate([[0], ends])[firsts[:-1]]
    columns = ends - np.repeat(before, sizes)
    spots = at - np.repeat(begins[:-1], sizes)
    if len(gaps) and (columns.max() > np.iinfo(np.int32).max or spots.min() < 0):
        raise damaged("the columns of its label tree are out of range")
    return columns.astype(np.int32), spots.astype(np.uint32)


def _short(numbers: Longs) -> Bytes:
    """Numbers of 31 bits in as few bytes as they need: seven bits in a byte, the high bit set in all but the last."""
    digits = np.stack([(numbers >> shift) & 127 for shift in (28, 21, 14, 7, 0)], axis=1).astype(np.uint8)
    there = np.cumsum(digits, axis=1) > 0
    there[:, -1] = True
    digits[:, :-1] |= 128
    return digits[there]


def _long(data: Bytes) -> Longs:
    """The numbers again; of more than five bytes none is made."""
    ends = np.flatnonzero(data < 128)
    if len(data) and (not len(ends) or ends[-1] != len(data) - 1):
        raise damaged("a column of its label tree is cut off")
    starts = np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
    sizes = ends - starts + 1
    if len(sizes) and sizes.max() > 5:
        raise damaged("a column of its label tree is out of range")
    found = np.zeros(len(ends), np.int64)
    for place in range(int(sizes.max(initial=0))):
        some = np.flatnonzero(sizes > place)
        found[some] = (found[some] << 7) | (data[starts[some] + place] & 127)
    return found
