"""Counts of the candidates that were chosen for the same text in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import damaged
from linnaeus.features.pairs.measures import FittedMeasure, Measure
from linnaeus.features.pairs.view import PRIME
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, tensor
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.features.pairs.view import View
    from linnaeus.types import Doubles, Longs, Words64

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
