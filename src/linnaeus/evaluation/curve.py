"""Learning curves: scores of models that were trained on growing parts of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.render import UNICODE, line_chart
from linnaeus.render.page import Shown
from linnaeus.types import Array, Doubles, Json, Label, Longs

if TYPE_CHECKING:
    from linnaeus.render import Glyphs, Page

Labels: TypeAlias = "Sequence[Label] | Array | None"
FitAndScore: TypeAlias = "Callable[[Longs], float | Mapping[str, float]]"

SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)


@dataclass(frozen=True, slots=True)
class Point:
    """Scores at one number of training rows: the mean of the repeats, and the lowest and highest of them.

    >>> Point(rows=100, scores={"accuracy": 0.8}, spans={"accuracy": (0.78, 0.82)}).rows
    100
    """

    rows: int
    scores: dict[str, float]
    spans: dict[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Curve(Shown):
    """Scores over numbers of training rows, smallest first.

    >>> curve = learning_curve(lambda rows: 1 - 1 / len(rows), 100, sizes=[10, 100])
    >>> [(point.rows, point.scores["score"]) for point in curve.points]
    [(10, 0.9), (100, 0.99)]
    """

    points: tuple[Point, ...]
    repeats: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scores."""
        return tuple(self.points[0].scores)

    def line(self, name: str) -> list[tuple[float, float]]:
        """(rows, score) of each point, as charts want them."""
        return [(point.rows, point.scores[name]) for point in self.points]

    def svg(self, title: str = "Learning curve") -> str:
        """A chart of all scores as an SVG image."""
        return line_chart({name: self.line(name) for name in self.names}, title=title, x="training rows")

    def sentence(self, name: str = "") -> str:
        """The change of the score between the last two sizes, as a sentence."""
        name = name or self.names[0]
        if len(self.points) < 2:
            return f"{name} is {self.points[-1].scores[name]:.4g} on {self.points[-1].rows:,} rows."
        before, last = self.points[-2:]
        change = last.scores[name] - before.scores[name]
        return (
            f"From {before.rows:,} to {last.rows:,} rows {name} changed by {change:+.4f}, to {last.scores[name]:.4g}."
        )

    def to_json(self) -> dict[str, Json]:
        """One JSON object."""
        points = [asdict(point) for point in self.points]
        return {"schema": "linnaeus.curve/1", "repeats": self.repeats, "points": points}

    def page(self, glyphs: Glyphs) -> Page:
        """The page that the command line shows."""
        from linnaeus.evaluation.pages import curve_page

        return curve_page(self, glyphs)

    def _repr_html_(self) -> str:
        """The chart, and the page, in a notebook."""
        return self.svg() + self.page(UNICODE).html()


def learning_curve(
    fit_and_score: FitAndScore,
    n: int,
    sizes: Sequence[float] = SHARES,
    seed: int = 0,
    repeats: int = 1,
    strata: Labels = None,
) -> Curve:
    """Train on growing parts of n rows; each part contains the smaller ones.

    `fit_and_score` gets sorted row numbers, trains on these rows, and gives a score on held-out rows, or several by
    name. `sizes` are shares of 1 (0.1) or numbers of rows (500). Each repeat has its own order. With `strata`, one
    label for each row, every part has about the same class distribution as all rows.

    >>> curve = learning_curve(lambda rows: {"rows": float(len(rows))}, 10, sizes=(0.5, 1.0))
    >>> [point.rows for point in curve.points]
    [5, 10]
    """
    for name, value in (("n", n), ("seed", seed), ("repeats", repeats)):
        expect(name, value, int)
    if n < 1 or repeats < 1:
        raise UsageError(f"A learning curve needs at least one row and one repeat, not {n} and {repeats}.")
    counts = sorted({_count(size, n) for size in sizes})
    if not counts:
        raise UsageError("sizes is empty; give shares such as 0.5, or numbers of rows.")
    orders = [_order(n, strata, np.random.default_rng([seed, repeat])) for repeat in range(repeats)]
    return Curve(tuple(_point(fit_and_score, [order[:count] for order in orders]) for count in counts), repeats)


def _count(size: float, n: int) -> int:
    expect("sizes", size, float)
    whole = isinstance(size, int | np.integer) and size >= 1
    if not (0 < size <= 1 or (whole and size <= n)):
        raise UsageError(f"sizes takes shares up to 1.0 or numbers of rows up to {n}, not {size!r}.")
    return int(size) if whole else max(1, round(size * n))


def _order(n: int, strata: Labels, rng: np.random.Generator) -> Longs:
    """A random order; with strata, the i-th of m rows of a label stands at (i + u) / m of the way, u random."""
    order = rng.permutation(n)
    if strata is None:
        return order
    labels = np.unique(np.asarray(strata), return_inverse=True)[1]
    if labels.shape != (n,):
        raise UsageError(f"strata takes one label for each of the {n} rows, not shape {labels.shape}.")
    grouped = order[np.argsort(labels[order], kind="stable")]
    sizes = np.bincount(labels)
    place = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    ways: Doubles = (place + rng.random(n)) / np.repeat(sizes, sizes)
    return grouped[np.argsort(ways, kind="stable")]


def _point(fit_and_score: FitAndScore, parts: Sequence[Longs]) -> Point:
    found = []
    for rows in parts:
        given = fit_and_score(np.sort(rows))
        found.append(dict(given) if isinstance(given, Mapping) else {"score": float(given)})
    columns = {name: [float(scores[name]) for scores in found] for name in found[0]}
    scores = {name: sum(values) / len(values) for name, values in columns.items()}
    return Point(len(parts[0]), scores, {name: (min(values), max(values)) for name, values in columns.items()})
