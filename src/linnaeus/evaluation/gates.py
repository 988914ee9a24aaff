"""Gates: the least or the largest value of a metric that is accepted (`--min` and `--max`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from linnaeus.errors import UsageError
from linnaeus.evaluation.metrics import METRICS, metric_name, metric_names, spelled
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.evaluation.outcome import Task
    from linnaeus.evaluation.records import Evaluation
    from linnaeus.types import Json


class Side(NamedTuple):
    """An option of gates: for metrics of which direction, an example, and the word for a bound that is missed."""

    better: str
    example: str
    missed: str


SIDES = {"--min": Side("higher", "macro-f1=0.85", "below"), "--max": Side("lower", "log-loss=0.5", "above")}
"""The options; `--min` is for metrics where higher is better, `--max` for the others."""


@dataclass(frozen=True)
class Gate:
    """A metric and its bound.

    >>> gate("--max", "log-loss=0.5")
    Gate(option='--max', name='log_loss', value=0.5)
    """

    option: str
    name: str
    value: float

    def kept(self, evaluation: Evaluation) -> bool:
        """Whether the metric satisfies the bound; equality does."""
        found = evaluation.value(self.name)
        return found <= self.value if SIDES[self.option].better == "lower" else found >= self.value

    def sentence(self, evaluation: Evaluation) -> str:
        """What the metric is, where it misses the bound."""
        value = evaluation.value(self.name)
        if isnan(value):
            return f"{self.name} has no value, because no row was answered"
        return f"{self.name} is {value:.4f}, {SIDES[self.option].missed} {self.value:g}"

    def to_json(self) -> dict[str, Json]:
        """The bound as plain data."""
        return {"metric": self.name, "wanted": self.value}


def gate(option: str, text: str, task: Task | None = None) -> Gate:
    """The bound of METRIC=VALUE; a metric of the other direction or of another task is refused.

    >>> gate("--min", "recall-at-3=0.8")
    Gate(option='--min', name='recall_at_3', value=0.8)
    """
    side = SIDES[option]
    name, sign, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not sign or isnan(number):
        raise UsageError(f"{option} takes METRIC=VALUE, such as {side.example}, not {text!r}.")
    metric = METRICS[name := metric_name(name)]
    if metric.better != side.better:
        other = next(option for option, side in SIDES.items() if side.better == metric.better)
        raise UsageError(f"For {spelled(name)}, {metric.better} is better; use {other} {spelled(name)}={value}.")
    if task is not None:
        metric_name(name, metric_names(task))
    if metric.scale == "share" and not 0 <= number <= 1:
        hint = f"; use {option} {spelled(name)}={number / 100:g}" if 2 <= number <= 100 else ""
        raise UsageError(f"{spelled(name)} lies between 0 and 1, so {number:g} cannot be its bound{hint}.")
    return Gate(option, name, number)


def missed(evaluation: Evaluation, gates: Sequence[Gate]) -> list[Gate]:
    """The bounds that an evaluation misses; a metric that it does not have is refused.

    >>> from linnaeus.evaluation import Evaluation
    >>> found = Evaluation("single", 4, 2, {"accuracy": 0.75})
    >>> [one.sentence(found) for one in missed(found, [gate("--min", "accuracy=0.9")])]
    ['accuracy is 0.7500, below 0.9']
    """
    return [one for one in gates if not one.kept(evaluation)]
