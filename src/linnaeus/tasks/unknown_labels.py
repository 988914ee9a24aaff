"""Labels and tags of test data that a model does not know, and how often they occur."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.data.arrow import is_list, number

if TYPE_CHECKING:
    from collections.abc import Iterable

SHOWN = 5
"""Labels that are named; of more, the most frequent."""


class UnknownLabels:
    """Counts labels that are none of the classes, batch by batch.

    >>> import pyarrow as pa
    >>> seen = UnknownLabels(["ham", "spam"])
    >>> seen.add(pa.array(["ham", "eggs", "eggs"]))
    >>> seen.sentence(2, 3)
    "2 of 3 rows have labels that the model does not know, which are counted as mistakes: 'eggs' (2)"
    """

    def __init__(self, classes: Iterable[Any] | None) -> None:
        self._known = None if classes is None else frozenset(map(str, classes))
        self._found: Counter[str] = Counter()

    def add(self, labels: Any) -> None:
        """The labels of some rows: strings, or lists of strings."""
        if self._known is None or labels is None:
            return
        flat = labels.flatten() if is_list(labels.type) else labels
        codes, names = number(flat.drop_null() if flat.null_count else flat)
        for name, count in zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True):
            if name not in self._known:
                self._found[name] += count

    @property
    def count(self) -> int:
        """How many labels of all were unknown."""
        return self._found.total()

    def sentence(self, unknown: int, whole: int, what: str = "rows have labels") -> str:
        """What to say of so many rows with unknown labels among all rows; nothing where there are none."""
        if not unknown or not self._found:
            return ""
        named = ", ".join(f"{label!r} ({count:,})" for label, count in self._found.most_common(SHOWN))
        more = f" and {len(self._found) - SHOWN:,} more" if len(self._found) > SHOWN else ""
        head = f"{unknown:,} of {whole:,} {what} that the model does not know, which are counted as mistakes"
        return f"{head}: {named}{more}"
