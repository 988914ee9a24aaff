"""Numeric columns of candidates, such as their number of links, visits or sales."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.errors import DataError, UsageError
from linnaeus.features.pairs.measures import Plain
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.features.pairs.view import View
    from linnaeus.types import Doubles


@dataclass(frozen=True)
class Numbers(Plain):
    """Numeric columns of the candidates: log(1 + v), the share of the group's sum, its logarithm, 1 / rank, first.

    >>> from linnaeus.data.groups import Groups
    >>> from linnaeus.features.pairs.view import View
    >>> two = Groups.from_lists(["x"], [["a", "b"]], details={"links": [[3, 1]]})
    >>> Numbers(("links",)).values(View(two))[:, 1].tolist()
    [0.75, 0.25]
    """

    KIND = "numbers"
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.columns, str):
            raise UsageError(f"Numbers takes a tuple of names of columns, not {self.columns!r}.")

    def names(self) -> list[str]:
        """Five for each column."""
        forms = ("log", "share", "log share", "1 / rank", "the most")
        return [f"{column}: {form}" for column in self.columns for form in forms]

    def values(self, view: View) -> Doubles:
        """The five of each column."""
        return np.column_stack([part for name in self.columns for part in _forms(view, name)])


def _forms(view: View, name: str) -> list[Doubles]:
    v, offsets, group = _column(view, name), view.groups.offsets, view.group
    total = np.bincount(group, v, len(view.groups))[group]
    order = np.lexsort((np.arange(len(v)), -v, group))
    rank = np.empty(len(v))
    rank[order] = np.arange(len(v)) - offsets[group] + 1.0
    share = v / np.maximum(total, 1e-30)
    return [np.log1p(v), share, np.log((v + 1.0) / (total + 1.0)), 1.0 / rank, (rank == 1.0).astype(np.float64)]


def _column(view: View, name: str) -> Doubles:
    if name not in view.groups.details:
        there = ", ".join(view.groups.details) or "none"
        raise DataError(f"The candidates have no numbers {name!r}; there are {there}.")
    try:
        found = view.groups.details[name].cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"{name!r} must hold a number for each candidate, but one is not a number.") from error
    return np.where(np.isfinite(found) & (found > 0), found, 0.0)
