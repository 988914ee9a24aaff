"""Compare two models on the same rows: which one is better, and whether that may be chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import DataError
from linnaeus.evaluation.facts import Facts, aligned
from linnaeus.evaluation.formulas import whole
from linnaeus.evaluation.intervals import interval, redraw
from linnaeus.evaluation.metrics import KINDS, METRICS, fitting, headlines, spelled
from linnaeus.evaluation.outcome import Outcome, observe
from linnaeus.frozen import dataclass
from linnaeus.render.page import Shown
from linnaeus.types import Array, Bools, Json

if TYPE_CHECKING:
    from linnaeus.render import Glyphs, Page


@dataclass(frozen=True, slots=True)
class Difference:
    """A metric of both models, and the confidence interval of the first minus the second.

    >>> difference = Difference("accuracy", first=0.9, second=0.8, low=0.02, high=0.18)
    >>> round(difference.first - difference.second, 2)
    0.1
    """

    metric: str
    first: float
    second: float
    low: float
    high: float

    @property
    def difference(self) -> float:
        """The first minus the second."""
        return self.first - self.second

    @property
    def winner(self) -> str:
        """The better one, "first" or "second"; "" if the interval contains 0."""
        if self.low <= 0.0 <= self.high:
            return ""
        higher = "first" if self.low > 0 else "second"
        lower = {"first": "second", "second": "first"}[higher]
        return higher if METRICS[self.metric].better == "higher" else lower


@dataclass(frozen=True, slots=True)
class Comparison(Shown):
    """The comparison of two models' predictions for the same rows.

    `only_first` and `only_second` count the rows (whole label sets, whole sentences; of ranked labels, the first) that
    only one of them predicts correctly. `p_value` is that of McNemar's test, which ignores weights: the probability of
    a split at least as uneven if both were equally good. It is None for numbers.

    >>> import numpy as np
    >>> from linnaeus.evaluation import Outcome
    >>> from linnaeus.evaluation import compare
    >>> outcome = Outcome(truth=np.array([0, 1, 1]), predicted=np.array([0, 1, 0]), classes=("no", "yes"))
    >>> compare(outcome, outcome).p_value
    1.0
    """

    rows: int
    differences: tuple[Difference, ...]
    only_first: int | None = None
    only_second: int | None = None
    p_value: float | None = None
    level: float = 0.95

    def sentence(self, first: str = "The first", second: str = "the second") -> str:
        """The conclusion as a sentence, by the first of the metrics."""
        found = self.differences[0]
        shown = f"{spelled(found.metric)} {found.first:.4g} against {found.second:.4g}"
        shown += (
            f", difference {found.difference:+.4f}, {self.level:.0%} interval {found.low:+.4f} to {found.high:+.4f}"
        )
        if self.p_value is not None:
            shown += f"; McNemar p = {self.p_value:.3g}"
        if not found.winner:
            return f"There is no significant difference between {_inside(first)} and {second} ({shown})."
        ahead, behind = (
            (first, second) if found.winner == "first" else (second[:1].upper() + second[1:], _inside(first))
        )
        return f"{ahead} is better than {behind} ({shown})."

    def page(self, glyphs: Glyphs, names: tuple[str, str] = ("first", "second")) -> Page:
        """The page that the command line shows."""
        from linnaeus.evaluation.pages import comparison_page

        return comparison_page(self, glyphs, names)

    def to_json(self) -> dict[str, Json]:
        """One JSON object."""
        rows = [{**asdict(d), "difference": d.difference, "winner": d.winner or None} for d in self.differences]
        return {"schema": "linnaeus.comparison/1", **asdict(self), "differences": rows}


def _inside(name: str) -> str:
    return "the first" if name == "The first" else name


def compare(
    first: Outcome | Facts,
    second: Outcome | Facts,
    metrics: Sequence[str] = (),
    seed: int = 0,
    rounds: int = 1000,
    level: float = 0.95,
) -> Comparison:
    """Compare two predictions for the same rows, by paired resamples: both are evaluated on the same drawn rows.

    >>> from linnaeus.evaluation import Outcome
    >>> truth, classes = [0, 1] * 20, ["a", "b"]
    >>> found = compare(Outcome(truth, truth, classes), Outcome(truth, [0] * 40, classes), ["accuracy"])
    >>> found.only_first, found.only_second, found.p_value < 0.001, found.differences[0].winner
    (20, 0, True, 'first')
    """
    pair = aligned([observe(first), observe(second)])
    _refuse_others(*pair)
    shared = fitting(pair[0], metrics or headlines(pair[0]))
    fitting(pair[1], shared)
    drawn = redraw(pair, shared, seed, rounds)
    differences = []
    for name in shared:
        one, two = (float(METRICS[name].formula(whole(part))[0]) for part in pair)
        low, high = interval(one - two, drawn[name][0] - drawn[name][1], level, "free", len(pair[0]))
        differences.append(Difference(name, one, two, low, high))
    if pair[0].task == "numbers":
        return Comparison(len(pair[0]), tuple(differences), level=level)
    right = [_right(part) for part in pair]
    only = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
    return Comparison(len(pair[0]), tuple(differences), *only, mcnemar(*only), level)


def mcnemar(b: int, c: int) -> float:
    """The mid-p value of McNemar's exact test: two-sided, each of the b + c rows a fair coin.

    2 P(X < min(b, c)) + P(X = min(b, c)) for X binomial(b + c, 1/2); less conservative than the exact test, and close
    to its nominal level (Fagerland, Lydersen and Laake, 2013).

    >>> round(mcnemar(2, 10), 4), mcnemar(3, 3)
    (0.0225, 1.0)
    """
    total, low = b + c, min(b, c)
    if b == c:
        return 1.0
    steps = np.arange(1, low + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log((total - steps + 1) / steps))]) - total * np.log(2.0)
    chances = np.exp(logs)
    return float(min(1.0, 2.0 * chances[:-1].sum() + chances[-1]))


def _right(facts: Facts) -> Bools:
    """The rows whose whole prediction is correct."""
    if whole := KINDS[facts.task].whole:
        return facts.values[whole].astype(bool)
    true, predicted, both = (np.diff(sets.offsets) for sets in (facts.truth, facts.predicted, facts.hits))
    return (true == both) & (predicted == both)


def _refuse_others(first: Facts, second: Facts) -> None:
    same = first.task == second.task and first.classes == second.classes and len(first) == len(second)
    if not same or not all(map(np.array_equal, _given(first), _given(second))):
        raise DataError(
            "Models are compared on the same rows: give both outcomes the same truth, classes and weights, in order."
        )


def _given(facts: Facts) -> list[Array]:
    """What does not depend on the predictions."""
    values = [facts.values[name] for name in ("target", "candidates", "true_labels") if name in facts.values]
    return [facts.weights, facts.truth.offsets, facts.truth.labels, *values]
