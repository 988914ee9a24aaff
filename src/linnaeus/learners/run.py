"""`Run`: what belongs to one training and not to its recipe: who is told of progress, where it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.erm.progress import Watching
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.erm.progress import Watcher
    from linnaeus.store.parts import Part


@dataclass(frozen=True)
class Run:
    """A training that goes on: `progress` is called with each phase, `kept` is the place of its checkpoint.

    >>> Run().watching
    """

    progress: Watcher | None = None
    kept: Part | None = None

    @property
    def watching(self) -> Watching | None:
        """What tells the watcher how far a solver is."""
        return None if self.progress is None else Watching(self.progress)
