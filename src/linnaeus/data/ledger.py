"""What happened while data was read: rows refused or skipped, bytes and rows done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TypeAlias

from linnaeus.errors import DataError
from linnaeus.frozen import dataclass

_EXAMPLES = 5  # reasons worth showing; the rest is only counted


@dataclass(frozen=True, slots=True)
class Skipped:
    """Rows left out under `bad_rows="skip"`: how many, and where and why the first few were.

    >>> import linnaeus
    >>> corpus = linnaeus.read([("good", "yes"), ("bad", None)], bad_rows="skip")
    >>> len(corpus.batch()), corpus.skipped.count
    (1, 1)
    """

    count: int = 0
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.count} row{'s' * (self.count != 1)} skipped" + "".join(f"; {reason}" for reason in self.reasons)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a walk has come: rows handed out, bytes of the files read, and how many there are (0: in memory).

    >>> Progress(rows=200, done=4096, total=8192).done / 8192
    0.5
    """

    rows: int
    done: int
    total: int


Watcher: TypeAlias = Callable[[Progress], None]


@dataclass(slots=True)
class Ledger:
    """The book of one walk. A bad row is written down under the policy `skip`, and an error under `error`."""

    policy: str = "error"
    count: int = 0
    reasons: list[str] = field(default_factory=list)
    unlabeled: int = 0
    _first_unlabeled: str = ""

    @property
    def skips(self) -> bool:
        """Whether bad rows are left out instead of ending the walk."""
        return self.policy == "skip"

    @property
    def skipped(self) -> Skipped:
        """The report so far."""
        return Skipped(self.count, tuple(self.reasons))

    def reject(self, where: str, why: str, remedy: str, count: int = 1) -> None:
        """Refuse `count` rows, the first of which is at `where`."""
        if not self.skips:
            raise DataError(f"{where}: {why}; {remedy}, or leave such rows out with bad_rows='skip'.")
        self.count += count
        if len(self.reasons) < _EXAMPLES:
            self.reasons.append(f"{where}: {why}")

    def miss(self, name: str, rows: Sequence[int]) -> None:
        """Refuse rows without a label. An error waits for the end of the walk, because people want to know how many."""
        where = f"{name}, row {rows[0]}"
        if self.skips:
            self.reject(where, "no label", "", len(rows))
            return
        self.unlabeled += len(rows)
        self._first_unlabeled = self._first_unlabeled or where

    def close(self, rows: int) -> None:
        """The end of a walk over so many rows."""
        if self.unlabeled:
            raise DataError(
                f"{self._first_unlabeled}: no label, one of {self.unlabeled} such among {rows} row{'s' * (rows != 1)}; "
                "fill them in, leave such rows out with bad_rows='skip', or read without labels with label=''."
            )
