"""Progress of a training: a bar on a terminal, or calls of a function."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from linnaeus.errors import InputTypeError, UsageError
from linnaeus.frozen import dataclass
from linnaeus.render import LiveBar, counted, duration, moves, number
from linnaeus.types import Step

if TYPE_CHECKING:
    from linnaeus.erm import SoFar, Stop, Trace
    from linnaeus.erm.train import Listener

AFTER = 2.0
"""The bar is shown after this many seconds."""

EVERY = 0.1
"""Seconds between two updates."""

EXPECTED = 200
"""A larger limit of epochs is rarely reached, so it is not used to estimate the progress."""


NAME = "training"


@dataclass(frozen=True)
class Phase:
    """A phase of a training: its name, the share that is done (None: not known), and a note."""

    name: str
    share: float | None = None
    note: str = ""


Watcher: TypeAlias = Callable[[Phase], None]


class Watching:
    """Calls a watcher with the progress of a solver; it is accepted wherever a bar is."""

    def __init__(self, tell: Watcher) -> None:
        self.tell, self.due = tell, time.monotonic() + EVERY

    def __call__(self, trace: Trace, stop: Stop) -> None:
        """Report the progress, if the last report was long enough ago."""
        if time.monotonic() >= self.due:
            self.tell(Phase(NAME, share(trace, stop) or None, f"epoch {trace.last.epoch:,}"))
            self.due = time.monotonic() + EVERY


class Bar:
    """Epochs, objective and stopping criteria on one line of a terminal; nothing if there is no terminal."""

    def __init__(self, stop: Stop) -> None:
        self.stop, self.share = stop, 0.0
        self.line = LiveBar(sys.stderr) if moves(sys.stderr) else None
        self.due = time.monotonic() + AFTER

    def __call__(self, so_far: SoFar, _step: Step) -> None:
        """Update the line, if the last update was long enough ago."""
        now = time.monotonic()
        if self.line is None or now < self.due:
            return
        self.due = now + EVERY
        self.share = max(self.share, share(so_far.trace, self.stop))
        words = describe(so_far.trace, self.stop, self.line.room(NAME))
        self.line.show(NAME, words, self.share)

    def close(self) -> None:
        """Remove the line."""
        if self.line is not None:
            self.line.close()


class Folds:
    """The progress of cross-fitting: the fold, and how many of the strengths were tried on it."""

    def __init__(self, folds: int, strengths: int, tell: Watcher) -> None:
        self.folds, self.strengths, self.tell = folds, max(1, strengths), tell
        self.fold = self.done = 0

    def begin(self) -> None:
        """Begin the next fold."""
        self.fold, self.done = self.fold + 1, 0
        self._say("")

    def tried(self, strength: float, score: float) -> None:
        """Report the score of a strength on the held-out rows of the fold."""
        self.done += 1
        self._say(f"strength {strength:g}: score {score:.4f}" if self.strengths > 1 else "")

    def within(self, phase: Phase) -> None:
        """Report how far the training at the next strength is."""
        self._say(phase.note, phase.share or 0.0)

    def _say(self, note: str, more: float = 0.0) -> None:
        share = (self.fold - 1 + min(1.0, (self.done + more) / self.strengths)) / self.folds
        fold = f"fold {self.fold} of {self.folds}" if self.folds > 1 else ""
        self.tell(Phase("cross-fitting", share, ", ".join(filter(None, [fold, note]))))


BARS: dict[str, Callable[[Stop], Bar]] = {"bar": Bar}
"""Ways to show progress by their plain names."""


@contextmanager
def listening(progress: object, stop: Stop) -> Iterator[Sequence[Listener]]:
    """The listeners of a training: a bar by its name, a function that is called with each record, or none."""
    if progress is None:
        yield []
    elif isinstance(progress, str):
        if progress not in BARS:
            raise UsageError(f"progress takes {', '.join(map(repr, BARS))} or a function, not {progress!r}.")
        bar = BARS[progress](stop)
        try:
            yield [bar]
        finally:
            bar.close()
    elif isinstance(progress, Watching):
        yield [lambda so_far, _step: progress(so_far.trace, stop)]
    elif callable(progress):
        yield [lambda so_far, _step: progress(so_far.trace.last)]
    else:
        raise InputTypeError(f"progress takes {', '.join(map(repr, BARS))} or a function, not {progress!r}.")


def describe(trace: Trace, stop: Stop, room: int | None = None) -> str:
    """The figures of the last epoch and the stopping criteria; gaps and gradients are relative.

    If there is not enough room, the time, the objective and the criteria are left out, in this order.

    >>> from linnaeus.erm import Record, Stop, Trace
    >>> describe(Trace([Record(3, 4.2, value=20.0, gap=0.5)]), Stop(epochs=100, tol=1e-3))
    'epoch 3 of 100, 4.2 s, objective 20, gap 0.025 (wanted 0.001)'
    >>> describe(Trace([Record(3, 4.2, value=20.0, gap=0.5)]), Stop(epochs=100, tol=1e-3), room=45)
    'epoch 3 of 100, gap 0.025 (wanted 0.001)'
    """
    last, parts = trace.last, [f"epoch {trace.last.epoch:,}" + (f" of {stop.epochs:,}" if stop.epochs else "")]
    time = duration(last.seconds) + (f" of {duration(stop.seconds)}" if stop.seconds else "")
    value = f"objective {number(last.value)}" if last.value is not None and math.isfinite(last.value) else ""
    waits = _waits(trace, stop)
    brief = [words.partition(" (")[0] for words in waits]
    said = ""
    for words in ([time, value, *waits], [value, *waits], waits, brief, brief[-1:], []):
        said = ", ".join([*parts, *filter(None, words)])
        if room is None or len(said) <= room:
            break
    return said


def _waits(trace: Trace, stop: Stop) -> list[str]:
    """The figures on which the end depends: the gap or the gradient, the held-out score or the mistakes."""
    last, said = trace.last, []
    if (found := _distances(trace, stop)) is not None:
        name, values, wanted = found
        said.append(f"{name} {values[-1]:.2g}" + (f" (wanted {wanted:.2g})" if wanted is not None else ""))
    if last.held_out is not None:
        since = trace.epochs_since_best
        said.append(f"held-out {last.held_out:.4g}" + (f" (best {counted(since, 'epoch')} ago)" if since else ""))
    elif stop.mistakes is not None and last.mistakes is not None:
        said.append(counted(round(last.mistakes), "mistake"))
    return said


def share(trace: Trace, stop: Stop) -> float:
    """The share that is done, from 0 to 1, by the criterion that is nearest to its end; gaps count by their logarithm.

    >>> from linnaeus.erm import Record, Stop, Trace
    >>> share(Trace([Record(1, 0.1, 1.0, gap=1.0), Record(2, 0.2, 1.0, gap=0.1)]), Stop(tol=1e-2, epochs=100))
    0.5
    """
    last, shares = trace.last, [0.0]
    if stop.epochs and stop.epochs <= EXPECTED:
        shares.append(last.epoch / stop.epochs)
    if stop.seconds:
        shares.append(last.seconds / stop.seconds)
    if (found := _distances(trace, stop)) is not None:
        first, now, wanted = found[1][0], found[1][-1], found[2]
        if wanted is not None and now <= wanted:
            shares.append(1.0)
        elif wanted and first > wanted:
            shares.append(math.log(first / now) / math.log(first / wanted))
    return min(1.0, max(shares))


def _distances(trace: Trace, stop: Stop) -> tuple[str, list[float], float | None] | None:
    """Relative gaps, else gradients, over time, and their tolerance; None if neither is known."""
    gaps = [record.gap / abs(record.value) for record in trace if record.gap is not None and record.value]
    if gaps:
        return "gap", gaps, stop.tol
    scale = trace.first_gradient
    lengths = [record.gradient / scale for record in trace if scale and record.gradient is not None]
    return ("gradient", lengths, stop.gradient) if lengths else None
