"""How popular a candidate is: numbers it comes with, and how often it was the answer in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.errors import DataError, UsageError, damaged
from linnaeus.features.pairs.base import PRIME
from linnaeus.features.pairs.measured import FittedMeasure, Measure, Plain
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, tensor
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.features.pairs.base import View
    from linnaeus.types import Doubles, Longs, Words64


@dataclass(frozen=True)
class Numbers(Plain):
    """Numeric columns of the candidates: log(1 + v), the share of the group's sum, its logarithm, 1 / rank, first.

    >>> from linnaeus.data.groups import Groups
    >>> from linnaeus.features.pairs.base import View
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
    v, offsets, group = _numbers(view, name), view.groups.offsets, view.group
    total = np.bincount(group, v, len(view.groups))[group]
    order = np.lexsort((np.arange(len(v)), -v, group))
    rank = np.empty(len(v))
    rank[order] = np.arange(len(v)) - offsets[group] + 1.0
    share = v / np.maximum(total, 1e-30)
    return [np.log1p(v), share, np.log((v + 1.0) / (total + 1.0)), 1.0 / rank, (rank == 1.0).astype(np.float64)]


def _numbers(view: View, name: str) -> Doubles:
    if name not in view.groups.details:
        there = ", ".join(view.groups.details) or "none"
        raise DataError(f"The candidates have no numbers {name!r}; there are {there}.")
    try:
        found = view.groups.details[name].cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"{name!r} must hold a number for each candidate, but one is not a number.") from error
    return np.where(np.isfinite(found) & (found > 0), found, 0.0)


NAMES = ["chosen before, log share", "chosen before, share", "chosen before", "seen, never chosen", "chosen elsewhere"]


@dataclass(frozen=True)
class Known(Measure):
    """Counts of the candidates chosen for the same text in training, without those of the example's own document.

    `by` is the column of documents; without it each example is a document. Only hashes are stored.
    """

    KIND = "known"
    source: str = "text"
    by: str | None = None

    def fit(self, view: View) -> FittedKnown:
        """The tables."""
        text, pair, page = keys(view, self.source)
        gold = view.groups.truth().gold & ~view.missing
        chosen = np.unique(view.group[gold])
        return FittedKnown(self.source, self.by, *_table(pair[gold]), *_table(text[chosen]), *_table(page[gold]))


@dataclass(frozen=True, eq=False)
class FittedKnown(FittedMeasure):
    """Sorted hashes and their counts: of text and choice, of texts, of choices."""

    source: str
    by: str | None
    pairs: Words64
    pair_counts: Doubles
    texts: Words64
    text_counts: Doubles
    pages: Words64
    page_counts: Doubles

    def names(self) -> list[str]:
        """The numbers."""
        return list(NAMES)

    def values(self, view: View) -> Doubles:
        """From all of training."""
        return _measured(*(self._counts(view)))

    def learning_values(self, view: View) -> Doubles:
        """From all of training but the example's own document."""
        counts, own = self._counts(view), self._own(view)
        return _measured(*(count - less for count, less in zip(counts, own, strict=True)))

    def _counts(self, view: View) -> tuple[Doubles, Doubles, Doubles]:
        text, pair, page = keys(view, self.source)
        return (
            _look(self.pairs, self.pair_counts, pair),
            _look(self.texts, self.text_counts, text)[view.group],
            _look(self.pages, self.page_counts, page),
        )

    def _own(self, view: View) -> tuple[Doubles, Doubles, Doubles]:
        text, pair, page = keys(view, self.source)
        owner = view.owners(self.by).astype(np.uint64)
        gold = view.groups.truth().gold & ~view.missing
        chosen, inner = np.unique(view.group[gold]), owner[view.group]
        with np.errstate(over="ignore"):
            mine = [pair + inner * PRIME, text + owner * PRIME, page + inner * PRIME]
        tables = [_table(mine[0][gold]), _table(mine[1][chosen]), _table(mine[2][gold])]
        pairs, texts, pages = (_look(*table, all_) for table, all_ in zip(tables, mine, strict=True))
        return pairs, texts[view.group], pages

    def state(self) -> State:
        """The tables."""
        tables = {"pairs": self.pairs, "texts": self.texts, "pages": self.pages}
        counts = {"pairs": self.pair_counts, "texts": self.text_counts, "pages": self.page_counts}
        tensors: dict[str, Any] = {name: table.view(np.int64) for name, table in tables.items()}
        tensors |= {f"{name}.counts": count for name, count in counts.items()}
        return State({"kind": Known.KIND, "source": self.source, "by": self.by}, tensors)

    @classmethod
    def from_state(cls, state: State, *blocks: Any) -> FittedKnown:
        """Built again; tables that are not sorted or not finite are refused."""
        del blocks
        arrays: list[Any] = []
        for name in ("pairs", "texts", "pages"):
            table = tensor(state.tensors, name, np.int64).view(np.uint64)
            counts = tensor(state.tensors, f"{name}.counts", np.float64)
            if (
                len(table) != len(counts)
                or (table[1:] <= table[:-1]).any()
                or not ((counts > 0) & np.isfinite(counts)).all()
            ):
                raise damaged(f"its table of {name} does not fit")
            arrays += [table, counts]
        by = field(state.manifest, "by", (str, type(None)))
        return cls(field(state.manifest, "source", str), by, *arrays)


def keys(view: View, source: str) -> tuple[Words64, Words64, Words64]:
    """Hashes of the texts (n,), of text and candidate (m,), of the candidates (m,)."""
    return view.shared(("keys", source), lambda: _keys(view, source))


def _keys(view: View, source: str) -> tuple[Words64, Words64, Words64]:
    own, other = view.distinct(source), view.distinct("candidate")
    text, page = own.tokens.whole()[own.codes], other.tokens.whole()[other.codes]
    with np.errstate(over="ignore"):
        pair = (text[view.group] ^ (text[view.group] >> np.uint64(31))) * PRIME + page
    return text, pair, page


def _table(keys_: Words64) -> tuple[Words64, Doubles]:
    found, counts = np.unique(keys_, return_counts=True)
    return found, counts.astype(np.float64)


def _look(table: Words64, counts: Doubles, asked: Words64) -> Doubles:
    if not len(table):
        return np.zeros(len(asked))
    at = np.minimum(np.searchsorted(table, asked), len(table) - 1)
    return np.where(table[at] == asked, counts[at], 0.0)


def _measured(pair: Longs | Doubles, text: Doubles, page: Doubles) -> Doubles:
    return np.column_stack(
        [
            np.log((pair + 0.1) / (text + 1.0)),
            pair / (text + 2.0),
            pair > 0,
            (text >= 3) & (pair == 0),
            np.log1p(page),
        ]
    ).astype(np.float64)
