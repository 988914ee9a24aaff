"""How a training is shown while it goes on: a bar on a terminal, where one is asked for."""

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

if TYPE_CHECKING:
    from linnaeus.erm import SoFar, Stop, Trace
    from linnaeus.erm.train import Listener
    from linnaeus.types import Step

AFTER = 2.0
"""Seconds before a bar shows: what is done sooner needs none."""

EVERY = 0.1
"""Seconds between two looks at the trace."""

EXPECTED = 200
"""A larger limit of epochs is hardly ever reached, so it does not tell how much is done."""


NAME = "training"


@dataclass(frozen=True)
class Phase:
    """What a training is doing: its name, how much of it is done (None: not known), and how it goes."""

    name: str
    share: float | None = None
    note: str = ""


Watcher: TypeAlias = Callable[[Phase], None]


class Watching:
    """Tells a watcher how far a solver is; it may be given wherever a bar may."""

    def __init__(self, tell: Watcher) -> None:
        self.tell, self.due = tell, time.monotonic() + EVERY

    def __call__(self, trace: Trace, stop: Stop) -> None:
        """How much of the way is done, if it is time to say so."""
        if time.monotonic() >= self.due:
            self.tell(Phase(NAME, share(trace, stop) or None, f"epoch {trace.last.epoch:,}"))
            self.due = time.monotonic() + EVERY


class Bar:
    """Epochs, objective and what training waits for, on one line of a terminal; elsewhere nothing."""

    def __init__(self, stop: Stop) -> None:
        self.stop, self.share = stop, 0.0
        self.line = LiveBar(sys.stderr) if moves(sys.stderr) else None
        self.due = time.monotonic() + AFTER

    def __call__(self, so_far: SoFar, _step: Step) -> None:
        """Show how far it is, if it is time."""
        now = time.monotonic()
        if self.line is None or now < self.due:
            return
        self.due = now + EVERY
        self.share = max(self.share, share(so_far.trace, self.stop))
        words = describe(so_far.trace, self.stop, self.line.room(NAME))
        self.line.show(NAME, words, self.share)

    def close(self) -> None:
        """Leave nothing behind."""
        if self.line is not None:
            self.line.close()


class Folds:
    """How far cross-fitting is: which fold, and how many of the strengths were tried on it."""

    def __init__(self, folds: int, strengths: int, tell: Watcher) -> None:
        self.folds, self.strengths, self.tell = folds, max(1, strengths), tell
        self.fold = self.done = 0

    def begin(self) -> None:
        """The next fold."""
        self.fold, self.done = self.fold + 1, 0
        self._say("")

    def tried(self, strength: float, score: float) -> None:
        """A strength did so well on the held-out rows of the fold."""
        self.done += 1
        self._say(f"strength {strength:g}: score {score:.4f}" if self.strengths > 1 else "")

    def _say(self, note: str) -> None:
        share = (self.fold - 1 + min(1.0, self.done / self.strengths)) / self.folds
        fold = f"fold {self.fold} of {self.folds}" if self.folds > 1 else ""
        self.tell(Phase("cross-fitting", share, ", ".join(filter(None, [fold, note]))))


BARS: dict[str, Callable[[Stop], Bar]] = {"bar": Bar}
"""Ways to show progress by their plain names."""


@contextmanager
def listening(progress: object, stop: Stop) -> Iterator[Sequence[Listener]]:
    """Those who listen to a training: a bar by its name, a function that gets each record, or nobody."""
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
    """What is known after the last epoch, beside what is wanted; gaps and gradients are relative.

    Where there is not room enough, the time, the objective and what is wanted are left out, in this order.

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
    """What the end depends on: the gap or the gradient, the held-out score or the mistakes."""
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
    """How much of the way is done, from 0 to 1, by whatever is nearest to its end; distances count by their digits.

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
    """Relative gaps, else gradients, over time, and how small they are to be; None where neither is known."""
    gaps = [record.gap / abs(record.value) for record in trace if record.gap is not None and record.value]
    if gaps:
        return "gap", gaps, stop.tol
    scale = trace.first_gradient
    lengths = [record.gradient / scale for record in trace if scale and record.gradient is not None]
    return ("gradient", lengths, stop.gradient) if lengths else None
