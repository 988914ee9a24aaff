"""Classes and label sets as binary targets: a column of +1 and -1 for each class or label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.types import Doubles


def signs(y: Any, k: int) -> Doubles:
    """+1 where a row has the class or label, else -1 (n, k).

    >>> signs(np.array([0, 2]), 3).tolist()
    [[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    found = np.full((len(y), k), -1.0)
    if isinstance(y, LabelSets):
        found[np.repeat(np.arange(len(y)), np.diff(y.offsets)), y.labels] = 1.0
    else:
        found[np.arange(len(y)), y] = 1.0
    return found


def heads(y: Any, k: int) -> Doubles:
    """The binary problems (n, h): one for each class or label; for two classes only that of the second class."""
    found = signs(y, k)
    return found[:, 1:] if is_pair(y, k) else found


def is_pair(y: Any, k: int) -> bool:
    """Whether there are two classes, and so one binary problem."""
    return k == 2 and not isinstance(y, LabelSets)


def opposed(duals: Doubles) -> Doubles:
    """Turn one column into two, minus and plus one half of it, so that their difference is the column.

    >>> opposed(np.array([[3.0]])).tolist()
    [[-1.5, 1.5]]
    """
    return np.concatenate([-duals / 2, duals / 2], axis=-1)
