"""Slices: metrics for the rows of each value of a column, or of each range of text lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, field
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import DataError, expect
from linnaeus.evaluation.facts import Facts
from linnaeus.evaluation.formulas import whole
from linnaeus.evaluation.intervals import bootstrap
from linnaeus.evaluation.metrics import METRICS, fitting, headlines
from linnaeus.evaluation.outcome import Outcome, observe, plain
from linnaeus.frozen import dataclass
from linnaeus.render.page import Shown
from linnaeus.types import Json, Label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.render import Glyphs, Page

VALUES = 40
"""The most values of a column that get a slice of their own; the rarer ones share one."""

SMALL = 30
"""A slice with fewer rows is marked as small."""

OTHER, MISSING = "(other)", "(missing)"


@dataclass(frozen=True)
class Column:
    """Which of several named slices each row belongs to: `codes` (n,) are indices into `names`.

    >>> import numpy as np
    >>> Column("source", np.array([0, 1, 0]), ("blog", "wire")).names
    ('blog', 'wire')
    """

    name: str
    codes: NDArray[np.intp]
    names: tuple[str, ...]


def column(name: str, values: Iterable[Label]) -> Column:
    """Slices by the values of a column, the most frequent first; rare values beyond `VALUES` are one slice.

    >>> column("source", ["web", "mail", "web", None]).names
    ('web', '(missing)', 'mail')
    """
    texts = [MISSING if value is None or value != value else str(value) for value in map(plain, values)]
    counts = Counter(texts)
    order = sorted(counts, key=lambda value: (-counts[value], value))
    kept, rare = (order, []) if len(order) <= VALUES else (order[: VALUES - 1], order[VALUES - 1 :])
    places = {value: i for i, value in enumerate(kept)} | dict.fromkeys(rare, len(kept))
    names = (*kept, f"{OTHER} {len(rare)} values") if rare else tuple(kept)
    return Column(name, np.array([places[text] for text in texts], dtype=np.intp), names)


def by_length(texts: Iterable[Label], buckets: int = 4) -> Column:
    """Slices by length of text, cut at quantiles so that they are about equally large; whole numbers are lengths.

    >>> by_length(["a", "bb", "ccc", "dddd"], buckets=2).names
    ('1-2', '3-4')
    """
    expect("buckets", buckets, int)
    lengths = np.array([t if isinstance(t, int) else len(str(t)) for t in map(plain, texts)], dtype=np.int64)
    if not len(lengths) or buckets < 1:
        raise DataError("Slices by length need at least one text and one bucket.")
    edges = np.quantile(lengths, np.linspace(0, 1, buckets + 1)[1:-1], method="inverted_cdf")
    codes = np.searchsorted(np.unique(edges), lengths)
    there, codes = np.unique(codes, return_inverse=True)
    spans = [(lengths[codes == i].min(), lengths[codes == i].max()) for i in range(len(there))]
    names = tuple(f"{low}" if low == high else f"{low}-{high}" for low, high in spans)
    return Column("length", codes.astype(np.intp), names)


@dataclass(frozen=True, slots=True)
class Slice:
    """The rows with one value: how many, their metrics and intervals.

    >>> Slice("blog", rows=40, metrics={"accuracy": 0.9}).metrics["accuracy"]
    0.9
    """

    value: str
    rows: int
    metrics: dict[str, float]
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def small(self) -> bool:
        """Whether there are too few rows for reliable metrics."""
        return self.rows < SMALL


@dataclass(frozen=True, slots=True)
class Slices(Shown):
    """The slices of a column, and all rows together.

    >>> whole = Slice("all", rows=40, metrics={"accuracy": 0.9})
    >>> Slices("source", whole, parts=(whole,)).name
    'source'
    """

    name: str
    whole: Slice
    parts: tuple[Slice, ...]
    level: float = 0.95

    def side(self, part: Slice, metric: str) -> str:
        """Whether the slice is "better" or "worse" than all rows, "" if its interval contains their value."""
        low, high = part.intervals[metric]
        value = self.whole.metrics[metric]
        if low <= value <= high:
            return ""
        return "better" if (low > value) == (METRICS[metric].better == "higher") else "worse"

    def to_json(self) -> dict[str, Json]:
        """One JSON object."""
        parts = [
            {**asdict(part), "small": part.small, "sides": {m: self.side(part, m) or None for m in part.metrics}}
            for part in self.parts
        ]
        shown = {"name": self.name, "level": self.level, "whole": asdict(self.whole), "slices": parts}
        return {"schema": "linnaeus.slices/1", **shown}

    def page(self, glyphs: Glyphs) -> Page:
        """The page that the command line shows."""
        from linnaeus.evaluation.pages import slices_page

        return slices_page(self, glyphs)


def slices(
    outcome: Outcome | Facts,
    by: Column,
    metrics: Sequence[str] = (),
    rounds: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Slices:
    """Evaluate each slice separately. Macro averages of a slice are over the classes that occur in it.

    Intervals are those of `evaluate`.

    >>> from linnaeus.evaluation import Outcome
    >>> found = slices(Outcome([0, 1, 0, 1], [0, 1, 1, 1], ["a", "b"]), column("from", "xxyy"), ["accuracy"])
    >>> [(part.value, part.metrics["accuracy"], part.small) for part in found.parts]
    [('x', 1.0, True), ('y', 0.5, True)]
    """
    facts = observe(outcome)
    if len(by.codes) != len(facts):
        raise DataError(f"The column {by.name!r} has {len(by.codes)} rows, but {len(facts)} are evaluated.")
    names = fitting(facts, metrics or headlines(facts))
    groups = [(name, np.flatnonzero(by.codes == i)) for i, name in enumerate(by.names)]
    parts = [(name, facts.take(rows)) for name, rows in groups if len(rows) and facts.weights[rows].sum() > 0]
    found = [_slice(name, part, names, (rounds, seed, level)) for name, part in [("all", facts), *parts]]
    return Slices(by.name, found[0], tuple(found[1:]), level)


def _slice(name: str, facts: Facts, names: list[str], how: tuple[int, int, float]) -> Slice:
    rounds, seed, level = how
    sample = whole(facts)
    # A metric of abstentions is not defined for a slice in which every row has a prediction.
    there = [metric for metric in names if METRICS[metric].fits(facts)]
    values = {metric: float(METRICS[metric].formula(sample)[0]) for metric in there}
    drawn = bootstrap(facts, there, seed, rounds, level) if there else {}
    return Slice(name, len(facts), values, drawn)
