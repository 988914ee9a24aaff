"""The history of a training, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields

from linnaeus.errors import UsageError, did_you_mean
from linnaeus.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """One epoch or iteration: seconds since the start, and the figures that the optimizer reports.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> model = LinearClassifier(loss="log").fit(np.array([[0.0], [1.0]]), ["no", "yes"])
    >>> record = model.trace_.records[-1]
    >>> record.epoch > 0, record.value is not None
    (True, True)
    """

    epoch: int
    seconds: float
    value: float | None = None
    gap: float | None = None
    gradient: float | None = None
    held_out: float | None = None
    rate: float | None = None
    mistakes: float | None = None


@dataclass
class Trace:
    """The history of a training, and why it ended. Larger held-out scores are better.

    `reason` is "converged" (the gap is within the tolerance), "small gradient" (if there is no gap), "optimum" (the
    optimizer ended at the optimum), "no further progress" (no step lowers the objective, but the tolerance is not
    reached), "no mistakes", "few mistakes", "no minimum" (see `erm.check.vanishing`), "no progress on held-out data",
    "epochs" or "time limit". The returned weights do not depend on the reason: they are the latest, or with held-out
    rows those of `best`.

    `value` is the objective. Stochastic optimizers do not evaluate it, as this would take as long as an epoch. They
    report a running estimate: the sum of the losses of each example before its step, plus the penalty after the last
    step. With `average` it is the estimate for the iterates, not for their mean, which is usually lower. An epoch that
    was cut by the time limit has no value.

    >>> trace = Trace([Record(1, 0.1, value=5.0), Record(2, 0.2, value=3.0)], "epochs")
    >>> trace.column("value")
    [5.0, 3.0]
    """

    records: list[Record] = field(default_factory=list)
    reason: str = ""
    scale: float | None = None
    """The norm of the gradient at zero weights, if the optimizer reported it."""

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    @property
    def last(self) -> Record:
        """The latest record."""
        return self.records[-1]

    @property
    def converged(self) -> bool:
        """Whether training ended near enough to the optimum, by the gap or else by the gradient."""
        return self.reason in ("converged", "small gradient", "no mistakes", "optimum")

    @property
    def first_gradient(self) -> float:
        """The gradient norm at zero weights, else the first reported one; 0 if none was reported."""
        if self.scale is not None:
            return self.scale
        return next((r.gradient for r in self.records if r.gradient is not None), 0.0)

    @property
    def best(self) -> Record | None:
        """The first record with the best held-out score: its weights are those returned; None without held-out rows."""
        scored = [record for record in self.records if record.held_out is not None]
        return max(scored, key=lambda record: record.held_out or 0.0, default=None)

    @property
    def epochs_since_best(self) -> int:
        """Epochs since the best held-out score."""
        best = self.best
        return 0 if best is None else self.last.epoch - best.epoch

    def column(self, name: str) -> list[float | None]:
        """One quantity over time, such as "value", "gap" or "seconds"."""
        known = [field.name for field in fields(Record)]
        if name not in known:
            raise UsageError(f"A trace has no column {name!r}; {did_you_mean(name, known)}")
        return [getattr(record, name) for record in self.records]

    def svg(self, *columns: str, over: str = "epoch") -> str:
        """The trace as a chart: SVG text to write to a file or show in a notebook. The default is all columns.

        >>> Trace([Record(1, 0.1, value=5.0), Record(2, 0.2, value=3.0)]).svg("value").startswith("<svg")
        True
        """
        from linnaeus.render import line_chart

        names = columns or tuple(name for name in _PLOTTED if any(v is not None for v in self.column(name)))
        lines = {
            name: [
                (float(at), float(v))
                for at, v in zip(self.column(over), self.column(name), strict=True)
                if at is not None and v is not None
            ]
            for name in names
        }
        return line_chart(lines, title=f"{len(self)} records: {self.reason}", x=over)

    def _repr_svg_(self) -> str:
        return self.svg()


_PLOTTED = ("value", "gap", "gradient", "held_out", "mistakes")
