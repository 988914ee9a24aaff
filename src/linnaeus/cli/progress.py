"""Progress on stderr: a bar on a terminal, elsewhere a plain line now and then, so that logs stay short."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Self, TextIO

from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.ledger import Progress
    from linnaeus.erm.progress import Phase

EVERY = 10.0
"""Seconds between plain lines."""
PARTS = 1000
"""Into so many parts a phase is divided."""
SOON = 0.5
"""Seconds after which a phase shows how fast it is; before, that is a guess."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far something is: the phase, rows so far, bytes done and in all (0 where unknown); or a note instead."""

    phase: str
    rows: int = 0
    done: int = 0
    total: int = 0
    note: str = ""


class Silent:
    """Is told about marks while it is open, and says nothing; the others say something."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        pass

    def __call__(self, mark: Mark) -> None:
        """Nothing."""


@dataclass(slots=True)
class Pace:
    """The seconds since a phase began."""

    phase: str = ""
    started: float = field(default_factory=time.monotonic)

    def __call__(self, mark: Mark) -> float:
        """How long the phase of this mark has been going on."""
        if mark.phase != self.phase:
            self.phase, self.started = mark.phase, time.monotonic()
        return time.monotonic() - self.started


@dataclass(slots=True)
class Lines(Silent):
    """A plain line at most every ten seconds."""

    stream: TextIO
    every: float = EVERY
    pace: Pace = field(default_factory=Pace)
    said: float = field(default_factory=time.monotonic)

    def __call__(self, mark: Mark) -> None:
        """Say how far it is, if it is time."""
        seconds, now = self.pace(mark), time.monotonic()
        if now - self.said < self.every:
            return
        self.said = now
        self.stream.write(f"linnaeus: {describe(mark, seconds)}\n")
        self.stream.flush()


class Bar(Silent):
    """A bar with rate and time left, gone when the work is done."""

    def __init__(self, stream: TextIO) -> None:
        from linnaeus.render import LiveBar

        self._bar = LiveBar(stream)
        self._pace = Pace()

    def __exit__(self, *why: object) -> None:
        self._bar.close()

    def __call__(self, mark: Mark) -> None:
        """Move the bar; where there is not room enough, the note is cut, since the time left stands behind it."""
        from linnaeus.render import cut, width

        seconds, room = self._pace(mark), self._bar.room(mark.phase)
        over = width(_said(mark, seconds)) - room
        if over > 0 and mark.note:
            mark = replace(mark, note=cut(mark.note, max(1, width(mark.note) - over)))
        self._bar.show(mark.phase, cut(_said(mark, seconds), room), mark.done / mark.total if mark.total else None)


@dataclass(slots=True)
class Phases:
    """Tells a reporter how far reading is, under the name of the phase that goes on."""

    report: Silent
    phase: str = ""
    rows: int = 0

    def begin(self, phase: str) -> None:
        """A new phase."""
        self.phase = phase
        self.report(Mark(phase, self.rows))

    def move(self, progress: Progress) -> None:
        """So far the files are read."""
        self.rows = progress.rows
        self.report(Mark(self.phase, progress.rows, progress.done, progress.total))


@dataclass(slots=True)
class Training:
    """Tells a reporter the phases of a training, and how far reading is while the first ones go on.

    Later phases may read the data again, and are no less themselves for it.
    """

    report: Silent
    phase: str = "reading"

    def read(self, at: Progress) -> None:
        """So far the files are read."""
        if self.phase in ("reading", "features"):
            self.report(Mark(self.phase, at.rows, at.done, at.total))

    def __call__(self, phase: Phase) -> None:
        """Report the current phase."""
        self.phase = phase.name
        self.report(phase_mark(phase))


def phase_mark(phase: Phase, name: str = "") -> Mark:
    """The progress of a training phase; `name` is shown before the name of the phase.

    >>> from linnaeus.erm.progress import Phase
    >>> describe(phase_mark(Phase("cross-fitting", 0.25, "fold 2 of 4")), 3)
    'cross-fitting: 25 %, fold 2 of 4, 9.0 s left'
    """
    whole = PARTS if phase.share is not None else 0
    said = f"{name}, {phase.name}" if name else phase.name
    return Mark(said, done=round(PARTS * (phase.share or 0.0)), total=whole, note=phase.note)


def describe(mark: Mark, seconds: float) -> str:
    """One line: the phase, how far, how fast, how long still.

    >>> describe(Mark("reading", 1000, 5_000_000, 20_000_000), 2)
    'reading: 1,000 rows, 25 % of 20.0 MB, 2.5 MB/s, 6.0 s left'
    >>> describe(Mark("training"), 2), describe(Mark("reading", 1000, 20_000_000, 20_000_000), 2)
    ('training', 'reading: 1,000 rows')
    """
    return ": ".join(filter(None, [mark.phase, _said(mark, seconds)]))


def _said(mark: Mark, seconds: float) -> str:
    from linnaeus.render import counted, duration, percent, size

    share = min(1.0, mark.done / mark.total) if mark.total else None
    if mark.note or not mark.rows:
        parts = ([] if share is None else [percent(share)]) + ([mark.note] if mark.note else [])
    else:
        parts = [counted(mark.rows, "row")]
        if share is not None and share < 1:
            parts.append(f"{percent(share)} of {size(mark.total)}")
        if mark.done and share != 1 and seconds >= SOON:
            parts.append(f"{size(mark.done / seconds)}/s")
    if share and share < 1 and seconds >= SOON:
        parts.append(f"{duration(seconds * (1 - share) / share)} left")
    return ", ".join(parts)


def open_progress(quiet: bool, stream: TextIO | None = None, environment: Mapping[str, str] = os.environ) -> Silent:
    """A bar if stderr is a terminal that may move, else plain lines; nothing if quiet."""
    stream = stream or sys.stderr
    if quiet:
        return Silent()
    from linnaeus.render import moves

    return Bar(stream) if moves(stream, environment) else Lines(stream)
