"""`Run`: the settings of one training that are not part of its recipe: progress, and the checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from linnaeus.erm.progress import Phase, Watcher, Watching
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.store.parts import Part

Told = Callable[[int, float, int | None], None]
"""What is told of an epoch: its number, its loss, and how many tokens had wrong tags if that is known."""


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


def telling(run: Run | None, tokens: int, epochs: int | None) -> Told:
    """What tells a watcher of each epoch over so many tokens; with an unknown number of epochs no share of them."""

    def told(epoch: int, loss: float, wrong: int | None) -> None:
        missed = "" if wrong is None else f", {wrong / max(tokens, 1):.2%} of tokens wrong"
        share = None if epochs is None else (epoch + 1) / epochs
        if run is not None and run.progress is not None:
            run.progress(Phase("training", share, f"epoch {epoch + 1}, loss {loss:,.1f}{missed}"))

    return told


def kept_in(run: Run | None) -> Part | None:
    """The place of the checkpoint of a run, if it has one."""
    return None if run is None else run.kept
