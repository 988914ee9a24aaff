"""`Run`: the settings of one training that are not part of its recipe: progress, and the checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.erm.progress import Watcher, Watching
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.store.parts import Part


@dataclass(frozen=True)
class Run:
    """A running training: `progress` is called with each phase, `kept` is the place of its checkpoint.

    >>> Run().watching
    """

    progress: Watcher | None = None
    kept: Part | None = None

    @property
    def watching(self) -> Watching | None:
        """The listener that reports the progress of a solver."""
        return None if self.progress is None else Watching(self.progress)
