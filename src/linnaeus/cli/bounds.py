"""The bounds of metrics: `--min` and `--max`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.evaluation import Evaluation


class Side(NamedTuple):
    """An option of bounds: for metrics of which direction, an example, and the word for a bound that is missed."""

    better: str
    example: str
    missed: str


BOUNDS = {"--min": Side("higher", "macro-f1=0.85", "below"), "--max": Side("lower", "log-loss=0.5", "above")}
"""The options; `--min` is for metrics where higher is better, `--max` for the others."""


@dataclass(frozen=True)
class Bound:
    """A metric and its bound.

    >>> bound("--max", "log-loss=0.5")
    Bound(option='--max', name='log_loss', value=0.5)
    """

    option: str
    name: str
    value: float

    def kept(self, evaluation: Evaluation) -> bool:
        """Whether the metric satisfies the bound; equality does."""
        found = evaluation.value(self.name)
        return found <= self.value if BOUNDS[self.option].better == "lower" else found >= self.value


def bound(option: str, text: str) -> Bound:
    """The bound of METRIC=VALUE; a metric of the other direction is refused, naming the right option."""
    from linnaeus.evaluation import METRICS, metric_name
    from linnaeus.evaluation.metrics import spelled

    side = BOUNDS[option]
    name, sign, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not sign or number != number:
        raise click.UsageError(f"{option} takes METRIC=VALUE, such as {side.example}, not {text!r}.")
    name = metric_name(name)
    better = METRICS[name].better
    if better != side.better:
        other = next(option for option, side in BOUNDS.items() if side.better == better)
        raise click.UsageError(f"For {spelled(name)}, {better} is better; use {other} {spelled(name)}={value}.")
    if METRICS[name].scale == "share":
        refuse_no_share(option, spelled(name), number)
    return Bound(option, name, number)


def refuse_no_share(option: str, name: str, number: float) -> None:
    """Refuse a bound outside of 0 to 1 for a metric inside of it; percents are written as shares."""
    if 0 <= number <= 1:
        return
    hint = f"; use {option} {name}={number / 100:g}" if 2 <= number <= 100 else ""
    raise click.UsageError(f"{name} lies between 0 and 1, so {number:g} cannot be its bound{hint}.")
