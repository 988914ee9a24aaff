"""Words of a candidate in the context of its example, and in the candidates of other examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError
from linnaeus.features.pairs.measures import Plain
from linnaeus.features.pairs.view import PRIME, Keys, gathered
from linnaeus.frozen import dataclass
from linnaeus.types import groups as gather

if TYPE_CHECKING:
    from linnaeus.features.pairs.view import View
    from linnaeus.types import Doubles, Longs


@dataclass(frozen=True)
class Context(Plain):
    """The share of a candidate's words that occur in these columns of its example, without the words of the text.

    With `by`, the columns of all examples with the same value of `by` are used, such as those of one document.
    """

    KIND = "context"
    columns: tuple[str, ...] = ("text",)
    source: str = "text"
    by: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.columns, str) or not self.columns:
            raise UsageError(f"Context takes a tuple of names of columns, not {self.columns!r}.")

    def names(self) -> list[str]:
        """The numbers."""
        where = "context" if self.by is None else f"{self.by}'s context"
        return [f"words in the {where}", f"all words in the {where}"]

    def values(self, view: View) -> Doubles:
        """The share, and whether it is all of them."""
        sets, which = view.sets(self.columns, self.by)
        left, hits, _, _ = met(view, self.source, sets, np.ones(len(sets.keys)), which).T
        return np.column_stack([hits / np.maximum(left, 1), (left > 0) & (hits == left)]).astype(np.float64)


@dataclass(frozen=True)
class Company(Plain):
    """The share of examples of the same document that have a candidate with the same words.

    It uses the first `top` candidates of every example with the same value of `by`.
    """

    KIND = "company"
    by: str = "doc"
    source: str = "text"
    top: int = 8

    def names(self) -> list[str]:
        """The numbers."""
        return ["words of the others' candidates, mean", "words of the others' candidates, most"]

    def values(self, view: View) -> Doubles:
        """Mean and largest share of the document's examples that have a word."""
        which = view.owners(self.by)
        sets, counts = self._counted(view, which)
        left, _, total, most = met(view, self.source, sets, counts, which).T
        return np.column_stack([total / np.maximum(left, 1), most])

    def _counted(self, view: View, which: Longs) -> tuple[Keys, Doubles]:
        """The words of the first candidates of each document, and the share of its examples that have them."""
        other, offsets = view.distinct("candidate"), view.groups.offsets
        first = np.flatnonzero(np.arange(len(view)) - offsets[view.group] < self.top)
        rows = other.codes[first]
        _, at, _ = gather(other.tokens.at, rows)
        keys = other.tokens.keys[at]
        group = np.repeat(view.group[first], other.tokens.sizes[rows])
        with np.errstate(over="ignore"):
            _, once = np.unique(keys + group.astype(np.uint64) * PRIME, return_index=True)
            owner = which[group[once]]
            _, first_, counts = np.unique(
                keys[once] + owner.astype(np.uint64) * PRIME, return_index=True, return_counts=True
            )
        owner, keys = owner[first_], keys[once][first_]
        size = np.bincount(which, minlength=int(which.max(initial=-1)) + 1)
        share = counts / np.maximum(size[owner], 1)
        order = np.argsort(owner, kind="stable")
        return gathered(owner, keys, len(size)), share[order]


def met(view: View, source: str, sets: Keys, values: Doubles, which: Longs) -> Doubles:
    """What `meet_tokens` says of every candidate (m, 4)."""
    own, other = view.distinct(source).tokens.arrays, view.distinct("candidate").tokens.arrays
    table = sets.arrays, np.ascontiguousarray(values, np.float64), which
    return kernels.meet_tokens(table, own, other, view.members(source), kernels.thread_count()).reshape(-1, 4)
