"""What pair features share: blocks that are fitted to groups and give a row of features for each candidate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays.csr import CSR, hstack
from linnaeus.errors import InputTypeError
from linnaeus.features.common.names import Names
from linnaeus.features.pairs.view import View
from linnaeus.frozen import dataclass
from linnaeus.store.states import nest
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.data.groups import Groups
    from linnaeus.types import Doubles


def viewed(groups: Groups | View) -> View:
    """A view of the groups, where it is not one already."""
    return groups if isinstance(groups, View) else View(groups)


class FittedPairs(ABC):
    """Base class of fitted joint features f(x, y) of an example and each of its candidates."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many columns."""

    @abstractmethod
    def rows(self, groups: Groups | View) -> CSR:
        """The features of every candidate (m, width)."""

    @abstractmethod
    def names(self) -> Sequence[str]:
        """A readable name for each column."""

    @abstractmethod
    def state(self) -> State:
        """Manifest and tensors that `restore_pairs` builds this from again."""

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
        """That of all blocks."""
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
        view, total = viewed(groups), np.zeros(int(viewed(groups).groups.offsets[-1]))
        for block, part in zip(self.blocks, self._parts(w), strict=True):
            total += block.scores(view, part)
        return total

    def _parts(self, w: Doubles) -> list[Doubles]:
        cuts = np.cumsum([block.width for block in self.blocks])[:-1]
        return np.split(w, cuts)

    def names(self) -> Names:
        """The names of the blocks' columns."""
        bounds = np.concatenate([[0], np.cumsum([block.width for block in self.blocks])])

        def some(start: int, end: int) -> list[str]:
            found: list[str] = []
            for block, first in zip(self.blocks, bounds.tolist(), strict=False):
                low, high = max(start - first, 0), min(end - first, block.width)
                found += block.names()[low:high] if low < high else []
            return found

        return Names(self.width, some)

    def state(self) -> State:
        """The states of the blocks."""
        return nest({"kind": "joined"}, self.blocks)

    @classmethod
    def from_state(cls, state: State, *blocks: Any) -> FittedJoined:
        """Restore from the stored state."""
        del state
        return cls(tuple(blocks))
