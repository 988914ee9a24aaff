"""Pair features: blocks that are fitted to groups and give a row of features for each candidate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linnaeus import kernels
from linnaeus.arrays.csr import CSR, hstack
from linnaeus.data.groups import Groups
from linnaeus.errors import InputTypeError, damaged
from linnaeus.features.base import FittedPiece, ascending
from linnaeus.features.names import Names, chained
from linnaeus.frozen import dataclass
from linnaeus.kernels.plan import CASES, TOKENIZERS
from linnaeus.store.states import nest, tensor
from linnaeus.text.buffers import as_texts
from linnaeus.types import Arrays, Bools, Doubles, Longs, State, Words64, offsets_of
from linnaeus.types import groups as gather

T = TypeVar("T")
PRIME = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Keys:
    """The tokens of distinct texts as 64-bit hashes, in order: text r has `keys[at[r]:at[r+1]]`."""

    at: Longs
    keys: Words64

    @property
    def arrays(self) -> tuple[Longs, Words64]:
        """As kernels take them."""
        return self.at, self.keys

    @property
    def sizes(self) -> Longs:
        """How many tokens each text has."""
        return np.diff(self.at)

    def whole(self) -> Words64:
        """One hash for each text, of all its tokens in order."""
        place = np.arange(len(self.keys)) - np.repeat(self.at[:-1], self.sizes)
        with np.errstate(over="ignore"):
            mixed = (self.keys ^ (self.keys >> np.uint64(29))) * (PRIME * (2 * place + 1).astype(np.uint64))
            total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
            return total[self.at[1:]] - total[self.at[:-1]]


@dataclass(frozen=True, eq=False)
class Tally:
    """How often each of some keys was met: the keys, sorted, and their counts.

    >>> Tally.of(np.array([5, 2, 5], np.uint64)).look(np.array([5, 7], np.uint64)).tolist()
    [2.0, 0.0]
    """

    keys: Words64
    counts: Doubles

    @classmethod
    def of(cls, keys: Words64) -> Tally:
        """The counts of these."""
        found, counts = np.unique(keys, return_counts=True)
        return cls(found, counts.astype(np.float64))

    def look(self, asked: Words64) -> Doubles:
        """The count of each of these, 0 for those that were not met."""
        if not len(self.keys):
            return np.zeros(len(asked))
        at = np.minimum(np.searchsorted(self.keys, asked), len(self.keys) - 1)
        return np.where(self.keys[at] == asked, self.counts[at], 0.0)

    def tensors(self, keys: str, counts: str) -> Arrays:
        """Keys and counts under these names."""
        return {keys: self.keys.view(np.int64), counts: self.counts}

    @classmethod
    def from_state(cls, state: State, keys: str, counts: str) -> Tally:
        """Restore from the stored state; unsorted keys, and counts that are not positive and finite, are refused."""
        found = cls(tensor(state.tensors, keys, np.int64).view(np.uint64), tensor(state.tensors, counts, np.float64))
        counted = (found.counts > 0) & np.isfinite(found.counts)
        if len(found.keys) != len(found.counts) or not ascending(found.keys) or not counted.all():
            raise damaged(f"its table of {keys} does not fit")
        return found


@dataclass(frozen=True, eq=False)
class Distinct:
    """A column by its distinct values: `values[codes[i]]` is that of row i. Missing values are empty texts."""

    codes: Longs
    values: pa.Array

    @cached_property
    def tokens(self) -> Keys:
        """The words of the distinct values, case folded."""
        texts = as_texts(self.values)
        keys, at = kernels.token_keys(
            texts.data, texts.offsets, CASES["fold"], TOKENIZERS["words"], kernels.thread_count()
        )
        return Keys(at, keys)


class View:
    """Groups with their tokens and other values that features share; each is computed on first use."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self._made: dict[Hashable, object] = {}

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `make`, computed once for this key."""
        if key not in self._made:
            self._made[key] = make()
        return cast("T", self._made[key])

    def __len__(self) -> int:
        return int(self.groups.offsets[-1])

    @cached_property
    def group(self) -> Longs:
        """The example of each candidate."""
        return self.groups.group

    @cached_property
    def missing(self) -> Bools:
        """Where "none of these" stands in the place of a candidate."""
        return self.groups.candidates.is_null().to_numpy(zero_copy_only=False)

    def distinct(self, source: str) -> Distinct:
        """A column by its distinct values; "candidate" is that of the candidates."""
        return self.shared(("distinct", source), lambda: self._distinct(source))

    def _distinct(self, source: str) -> Distinct:
        values = self.groups.candidates if source == "candidate" else self.groups.column(source)
        texts = pc.fill_null(values.cast(pa.string()), "")
        encoded = texts.dictionary_encode()
        return Distinct(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary)

    def members(self, source: str) -> tuple[Longs, Longs, Longs]:
        """Groups as the pair kernels take them: offsets, the text's row of each example, each candidate's row."""
        return self.groups.offsets, self.distinct(source).codes, self.distinct("candidate").codes

    def sets(self, sources: Sequence[str], by: str | None) -> tuple[Keys, Longs]:
        """The words of these columns of each example, or of all with the same value of `by`; the set of each."""
        return self.shared(("sets", tuple(sources), by), lambda: self._sets(sources, by))

    def _sets(self, sources: Sequence[str], by: str | None) -> tuple[Keys, Longs]:
        which = self.owners(by)
        parts, owners = [], []
        for source in sources:
            one = self.distinct(source)
            _, at, _ = gather(one.tokens.at, one.codes)
            parts.append(one.tokens.keys[at])
            owners.append(np.repeat(which, one.tokens.sizes[one.codes]))
        owner = np.concatenate(owners)
        return gathered(owner, np.concatenate(parts), int(which.max(initial=-1)) + 1), which

    def owners(self, by: str | None) -> Longs:
        """The number of each example, or of its value in the column `by`."""
        return np.arange(len(self.groups)) if by is None else self.distinct(by).codes


def gathered(owner: Longs, keys: Words64, count: int) -> Keys:
    """Keys sorted by who owns them."""
    return Keys(offsets_of(np.bincount(owner, minlength=count)), keys[np.argsort(owner, kind="stable")])


def viewed(groups: Groups | View) -> View:
    """A view of the groups; a view is returned unchanged."""
    return groups if isinstance(groups, View) else View(groups)


class FittedPairs(FittedPiece):
    """Base class of fitted joint features f(x, y) of an example and each of its candidates."""

    @abstractmethod
    def rows(self, groups: Groups | View) -> CSR:
        """The features of every candidate (m, width)."""

    def learning_rows(self, groups: Groups | View) -> CSR:
        """The rows of training examples, without information from their own answers."""
        return self.rows(groups)

    def scores(self, groups: Groups | View, w: Doubles) -> Doubles:
        """The rows times the weights (m,), perhaps by a shorter way."""
        return self.rows(groups).dot(w)


class PairBlock(ABC):
    """Base class of pair features before fitting; `a | b` joins them."""

    @abstractmethod
    def fit(self, groups: Groups | View) -> FittedPairs:
        """Fit to the groups."""

    def __or__(self, other: PairBlock) -> Joined:
        return Joined((self, other)) if isinstance(other, PairBlock) else NotImplemented


@dataclass(frozen=True)
class Joined(PairBlock):
    """Several blocks side by side."""

    parts: tuple[PairBlock, ...]

    def __post_init__(self) -> None:
        inside = [part.parts if isinstance(part, Joined) else (part,) for part in self.parts]
        object.__setattr__(self, "parts", tuple(one for some in inside for one in some))
        if not self.parts or not all(isinstance(part, PairBlock) for part in self.parts):
            raise InputTypeError("Joined takes blocks of pair features such as Measured(...) or Crossed(...).")

    def fit(self, groups: Groups | View) -> FittedJoined:
        """Fit each of them."""
        view = viewed(groups)
        return FittedJoined(tuple(part.fit(view) for part in self.parts))


@dataclass(frozen=True)
class FittedJoined(FittedPairs):
    """Fitted blocks side by side."""

    blocks: tuple[FittedPairs, ...]

    @property
    def width(self) -> int:
        """The number of columns of all blocks."""
        return sum(block.width for block in self.blocks)

    def rows(self, groups: Groups | View) -> CSR:
        """The rows of the blocks, joined."""
        view = viewed(groups)
        return hstack([block.rows(view) for block in self.blocks])

    def learning_rows(self, groups: Groups | View) -> CSR:
        """The same for examples the blocks were fitted on."""
        view = viewed(groups)
        return hstack([block.learning_rows(view) for block in self.blocks])

    def scores(self, groups: Groups | View, w: Doubles) -> Doubles:
        """The sum over the blocks."""
        view = viewed(groups)
        total, ends = np.zeros(len(view)), np.cumsum([block.width for block in self.blocks])
        for block, part in zip(self.blocks, np.split(w, ends[:-1]), strict=True):
            total += block.scores(view, part)
        return total

    def names(self) -> Names:
        """The names of the blocks' columns."""
        return chained([block.names() for block in self.blocks])

    def state(self) -> State:
        """The states of the blocks."""
        return nest({"kind": "joined"}, self.blocks)

    @classmethod
    def from_state(cls, state: State, *blocks: FittedPairs) -> FittedJoined:
        """Restore from the stored state."""
        del state
        return cls(blocks)
