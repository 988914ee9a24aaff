"""How far a training of word vectors is, and where it can be taken up again."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import asdict, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linnaeus import store
from linnaeus.errors import ModelFileError, UsageError
from linnaeus.frozen import dataclass
from linnaeus.types import Json, State

if TYPE_CHECKING:
    from linnaeus.embeddings.encoding import EncodedText
    from linnaeus.types import Arrays

KIND = "vectors-checkpoint"
EVERY = 60.0
"""Seconds between two checkpoints."""


@dataclass(frozen=True, slots=True)
class Stand:
    """How far a training is: the share that is done, the epoch, words (or pairs) per second, the latest loss.

    >>> from linnaeus.embeddings import SkipGram, encoded
    >>> stands = []
    >>> with encoded(["a cat", "a dog"], min_count=1) as text:
    ...     table = SkipGram(width=3, epochs=2).learn(text, stands.append)
    >>> [stand.share for stand in stands]
    [0.5, 1.0]
    """

    share: float
    epoch: int = 0
    per_second: float = 0.0
    loss: float = float("nan")
    unit: str = "words"


Report: TypeAlias = Callable[[Stand], None]


def unheard(stand: Stand) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Checkpoint:
    """A file that keeps the tables of an unfinished training; a training that is taken up ends with the same bits.

    It is written every `every` seconds and at Ctrl-C, and removed when the training is done.

    >>> from linnaeus.embeddings import SkipGram, encoded
    >>> with encoded(["a cat", "a dog"], min_count=1) as text:
    ...     table = SkipGram(width=3).learn(text, checkpoint=Checkpoint("half.lin"))
    >>> Path("half.lin").exists()
    False
    """

    path: str | os.PathLike[str] | None = None
    every: float = EVERY
    _saved: list[float] = field(default_factory=lambda: [time.monotonic()])

    def begin(self, method: object, text: EncodedText) -> State | None:
        """What the file holds, if there is one; refused if it is of another training."""
        if self.path is None or not Path(self.path).exists():
            return None
        state = store.load(self.path)
        if state.manifest.get("kind") != KIND:
            raise ModelFileError(f"{os.fspath(self.path)} is not a checkpoint of word vectors; give another name.")
        if state.manifest.get("of") != fingerprint(method, text):
            raise UsageError(
                f"{os.fspath(self.path)} is a checkpoint of a training with other settings or other texts; give "
                "another name, or remove it."
            )
        return state

    def due(self) -> bool:
        """Whether it is time to save."""
        return self.path is not None and time.monotonic() - self._saved[-1] >= self.every

    def save(self, of: str, done: dict[str, Json], tensors: Arrays) -> None:
        """Keep the tables."""
        if self.path is not None:
            store.save(self.path, State({"kind": KIND, "of": of, **done}, tensors))
            self._saved.append(time.monotonic())

    def remove(self) -> None:
        """The training is done."""
        if self.path is not None:
            Path(self.path).unlink(missing_ok=True)


def fingerprint(method: object, text: EncodedText) -> str:
    """What a checkpoint is of: the method with its settings, and the words of the text."""
    settings = f"{type(method).__name__} {sorted(asdict(method).items())}"  # type: ignore[call-overload]
    digest = hashlib.sha256(settings.encode())
    digest.update(np.ascontiguousarray(text.counts).data)
    digest.update("\0".join(text.words).encode("utf-8", "replace"))
    digest.update(str(len(text.ids)).encode())
    return digest.hexdigest()
