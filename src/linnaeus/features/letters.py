"""The characters of a text in order, the input of string kernels."""

from __future__ import annotations

from dataclasses import field as having
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.errors import InputTypeError, UsageError, damaged, damaged_or_newer, expect
from linnaeus.features.base import Block, Fitted
from linnaeus.features.batches import texts
from linnaeus.features.names import Names
from linnaeus.frozen import dataclass
from linnaeus.store.states import field
from linnaeus.text import Normalize
from linnaeus.types import Place, State

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream

LONGEST = 1 << 24


@dataclass(frozen=True)
class Letters(Block):
    """The first `length` characters of a text, for string kernels: column = position, value = code point + 1.

    Use them with the kernels `Spectrum` and `Subsequence`, not with linear learners. A model that keeps such rows
    contains the texts.

    >>> Letters().fit([]).rows(["Ab"]).data.tolist()
    [98.0, 99.0]
    """

    length: int = 1000
    normalize: Normalize = having(default_factory=Normalize)

    def __post_init__(self) -> None:
        expect("Letters(length=...)", self.length, int)
        if not 1 <= self.length <= LONGEST:
            raise UsageError(f"Letters(length=...) must be between 1 and {LONGEST:,}, not {self.length}.")
        if not isinstance(self.normalize, Normalize):
            raise InputTypeError("normalize takes a Normalize(...), such as Normalize(case=None) to keep the case.")

    def learn(self, stream: Stream) -> FittedLetters:
        """Nothing is learned."""
        del stream
        return FittedLetters(self.length, self.normalize)


@dataclass(frozen=True)
class FittedLetters(Fitted):
    """Texts as strings of numbers."""

    spells: ClassVar[bool] = True
    """Its rows are the texts themselves, so that a model that keeps rows keeps texts."""

    length: int
    normalize: Normalize

    @property
    def width(self) -> int:
        """The places."""
        return self.length

    def extract(self, batch: Batch) -> CSR:
        """Code points and one, place by place."""
        cut = [self.normalize(text)[: self.length] for text in texts(batch, "Letters")]
        sizes = np.array([len(text) for text in cut], np.int64)
        offsets = np.zeros(len(cut) + 1, np.int64)
        np.cumsum(sizes, out=offsets[1:])
        points = np.frombuffer("".join(cut).encode("utf-32-le", "surrogatepass"), "<u4")
        places = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        return CSR(offsets, places.astype(np.int32), (points + np.uint32(1)).astype(np.float32), self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """Each letter where it stands."""
        found = []
        for text in texts(batch, "Letters"):
            aligned = self.normalize.align(text)
            letters = enumerate(aligned.text[: self.length])
            found.append([Place(i, *aligned.span(i, i + 1), float(ord(letter) + 1)) for i, letter in letters])
        return found

    def names(self) -> Names:
        """`letter 7` for the seventh."""
        return Names(self.width, lambda start, end: [f"letter {place + 1}" for place in range(start, end)])

    def state(self) -> State:
        """Only the settings."""
        return State({"kind": "letters", "length": self.length, "normalize": self.normalize.manifest()}, {})

    @classmethod
    def from_state(cls, state: State) -> FittedLetters:
        """Restore from the stored state."""
        length = field(state.manifest, "length", int)
        if not 1 <= length <= LONGEST:
            raise damaged(f"it claims texts of {length} letters")
        try:
            return cls(length, Normalize(**field(state.manifest, "normalize", dict)))
        except (TypeError, UsageError) as error:
            raise damaged_or_newer("how it reads text is not known") from error
