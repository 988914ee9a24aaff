"""Union of feature blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.csr import CSR, hstack
from linnaeus.errors import InputTypeError, UsageError, damaged, said
from linnaeus.features.base import Block, Fitted, narrow, shrink
from linnaeus.features.names import Names, chained
from linnaeus.frozen import dataclass
from linnaeus.store.states import nest
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream
    from linnaeus.types import Ints, Place

WIDEST = 2**31 - 1


@dataclass(frozen=True)
class Union(Block):
    """The columns of all blocks, concatenated; `a | b` is the short form.

    >>> from linnaeus.features import Affixes, Shape
    >>> (Shape() | Affixes() | Shape()).fit(["Big cats"]).width
    22
    """

    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        flat: list[Block] = []
        for block in self.blocks:
            if not isinstance(block, Block):
                raise InputTypeError(f"Union joins extractors, not {type(block).__name__}.")
            flat.extend(block.blocks if isinstance(block, Union) else (block,))
        if not flat:
            raise UsageError("Union needs at least one extractor.")
        object.__setattr__(self, "blocks", tuple(flat))

    def learn(self, stream: Stream) -> FittedUnion:
        """Fit each block separately."""
        return FittedUnion(tuple(block.learn(stream) for block in self.blocks))

    def learn_rows(self, stream: Stream) -> tuple[Fitted, CSR]:
        """Fit each block, and return the rows too."""
        fitted = [block.learn_rows(stream) for block in self.blocks]
        return FittedUnion(tuple(features for features, _ in fitted)), hstack([rows for _, rows in fitted])


@dataclass(frozen=True)
class FittedUnion(Fitted):
    """Fitted blocks side by side."""

    blocks: tuple[Fitted, ...]

    def __post_init__(self) -> None:
        if self.width > WIDEST:
            raise UsageError(f"Union would have {self.width:,} columns, but at most {WIDEST:,} are possible.")

    @property
    def width(self) -> int:
        """The columns of all blocks."""
        return sum(block.width for block in self.blocks)

    def extract(self, batch: Batch) -> CSR:
        """The rows of all blocks, side by side."""
        return hstack([block.extract(batch) for block in self.blocks])

    def locate(self, batch: Batch) -> list[list[Place]]:
        """The places of all blocks, with their columns moved."""
        rows: list[list[Place]] = []
        for shift, block in zip(self._shifts(), self.blocks, strict=True):
            moved = [[place.at(place.column + shift) for place in row] for row in block.locate(batch)]
            rows = [old + new for old, new in zip(rows, moved, strict=True)] if rows else moved
        return rows

    def names(self) -> Names:
        """The names of all blocks, in order."""
        return chained([block.names() for block in self.blocks])

    def keep(self, columns: Ints) -> Fitted:
        """Only these columns; each block keeps its share of them."""
        return self._each(narrow, columns)

    def shrink(self, columns: Ints) -> Fitted:
        """Only these columns, without any data of the others."""
        return self._each(shrink, columns)

    def _each(self, less: Callable[[Fitted, Ints], Fitted], columns: Ints) -> Fitted:
        kept = []
        for shift, block in zip(self._shifts(), self.blocks, strict=True):
            share = columns[(columns >= shift) & (columns < shift + block.width)] - shift
            kept.append(less(block, share.astype(np.int32)))
        return FittedUnion(tuple(kept))

    def state(self) -> State:
        """The states of all blocks."""
        return nest({"kind": "union"}, self.blocks)

    @classmethod
    def from_state(cls, state: State, *blocks: Fitted) -> FittedUnion:
        """Restore from the stored state and its blocks."""
        del state
        try:
            return cls(blocks)
        except UsageError as error:
            raise damaged(said(error).rstrip(".")) from error

    def _shifts(self) -> Sequence[int]:
        return [sum(block.width for block in self.blocks[:i]) for i in range(len(self.blocks))]
