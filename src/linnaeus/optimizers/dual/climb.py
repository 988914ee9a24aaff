"""Runs epochs over the examples of a joint problem until the duality gap is small."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnaeus import kernels
from linnaeus.frozen import dataclass
from linnaeus.optimizers.dual import momentum
from linnaeus.optimizers.dual.between import FASTER, LOOSEST, PATIENCE, STILL, STUCK
from linnaeus.optimizers.dual.joint import Family, Joint, bounds
from linnaeus.optimizers.shuffle import shuffled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles, Ints

SLICE = 1 << 27
"""Multiplications in one call of a kernel: about a tenth of a second."""
LONGEST = 8
"""Epochs that an example without a gap of its own may rest."""
FREE_BETA, PULL = 0.1, 5.0
"""How loosely a free bias is tied to its center: mean squared lengths of a row, or classes by the sum of C."""
FIRST = 3
"""Epochs before momentum sets in."""


Past: TypeAlias = "tuple[Mapping[str, NDArray[Any]] | None, tuple[Mapping[str, NDArray[Any]], float] | None]"

EPOCH, GAPS, VALUE, FOUND, BETA, LENGTH, LIMIT = range(7)
"""Numbers of a state: epochs done, the sum of gaps in the last one, the objective, gap found by gap expected; and for a
free bias how loose it is, the length of r, and the loosest it may be."""


@dataclass(frozen=True)
class Plan:
    """When it is enough: a gap of `tol` times the objective, or so many epochs; `seed` makes the orders."""

    tol: float = 1e-4
    epochs: int = 1000
    seed: int = 0


class Climb:
    """The state of a solution: W (d, k), b (k,), p_i (n, k), and what is needed to go on later to the same bits.

    Memory: the weights in float64, and 8 k + 32 bytes for each row; with momentum twice that; never scores of all rows.
    """

    def __init__(self, family: Family, joint: Joint, plan: Plan, saved: Mapping[str, NDArray[Any]] | None = None):
        self.family, self.joint, self.plan = family, joint, plan
        n, k = joint.size, joint.k
        self.primal, self.dual, self.fresh = np.inf, -np.inf, False
        self.floor = family.floor * family.at_zero(joint)
        self.work = int(joint.strengths.astype(bool) @ np.diff(joint.rows[0])) * k
        if saved:
            self.arrays = {name: value.copy() for name, value in saved.items()}
            return
        P = np.zeros((n, k))
        P[np.arange(n), joint.labels] = 1.0
        self.arrays = {"W": np.zeros((joint.width, k)), "P": P, "gaps": np.zeros(n)}
        self.arrays |= {"b": np.zeros(k), "center": np.zeros(k)}
        self.arrays |= {"wake": np.zeros(n, np.int32), "streak": np.zeros(n, np.int32)}
        if family.leap is not None:
            self.arrays |= momentum.begin(joint)
        beta = self._first_beta()
        self.arrays["numbers"] = np.array([0.0, np.inf, family.at_zero(joint), 1.0, beta, np.inf, LOOSEST * beta])

    def warm_up(self, saved: Mapping[str, NDArray[Any]], larger: float) -> None:
        """Begin with the duals of smaller strengths: shares of an example, so that weights grow with the strengths."""
        if saved["P"].shape != self.arrays["P"].shape:
            return
        self.arrays["P"][:] = saved["P"]
        np.multiply(saved["W"], larger, out=self.arrays["W"])
        for name in ("b", "center"):
            self.arrays[name][:] = saved[name]

    @property
    def epoch(self) -> int:
        """Epochs done."""
        return int(self.arrays["numbers"][EPOCH])

    @property
    def finished(self) -> bool:
        """Whether the last gap was small enough, or there is nothing to do."""
        if self.primal == np.inf:
            return bool(self.joint.totals.sum() == 0)
        return self.primal - self.dual <= max(self.plan.tol * self.primal, self.floor)

    def run(self) -> None:
        """One epoch, and the gap where it may be small enough."""
        numbers, before = self.arrays["numbers"], self.arrays["numbers"][GAPS]
        self._prepare()
        numbers[EPOCH] += 1
        numbers[GAPS] = self._sweep(self._awake())
        expected = numbers[GAPS] * min(1.0, numbers[GAPS] / before if 0 < before < np.inf else 1.0)
        due = self.epoch % PATIENCE == 0 or self.epoch >= self.plan.epochs
        self.fresh = bool(due or expected * numbers[FOUND] <= max(self.plan.tol * numbers[VALUE], self.floor))
        if self.fresh:
            self.primal, self.dual = self.measure()
            numbers[VALUE] = self.primal
            numbers[FOUND] = min(1.0, (self.primal - self.dual) / expected) if expected > 0 else 1.0

    def measure(self) -> tuple[float, float]:
        """Primal value, and what no primal value is below."""
        sums = self.family.sums(*self._given, kernels.thread_count())
        return bounds(self.family, self.joint, sums, self.arrays["b"], self.arrays["P"])

    @property
    def _given(self) -> tuple[Any, ...]:
        state = tuple(self.arrays[name] for name in ("W", "b", "P", "gaps"))
        return self.joint.rows, (self.joint.labels, self.joint.strengths), state, self.joint.table

    def _awake(self) -> Ints:
        """The examples of this epoch in its order, without those that rest."""
        order = shuffled(self.joint.size, self.plan.seed, self.epoch)
        chosen: Ints = order[self.arrays["wake"][order] <= self.epoch]
        return chosen

    def _sweep(self, order: Ints) -> float:
        """Visit these examples, in calls of about a tenth of a second; one without a gap rests ever longer."""
        step = max(1, SLICE * max(1, self.joint.size) // max(1, self.work))
        total, beta = 0.0, float(self.arrays["numbers"][BETA])
        for first in range(0, len(order), step):
            total += self.family.epoch(*self._given, order[first : first + step], beta)
        streak, still = self.arrays["streak"], self.arrays["gaps"][order] <= 0
        streak[order] = np.where(still, np.minimum(2 * streak[order] + 1, LONGEST), 0)
        self.arrays["wake"][order] = self.epoch + 1 + streak[order]
        return total

    def _prepare(self) -> None:
        """Momentum, and the method of multipliers: the center of a free bias goes where b = center + beta r is."""
        arrays, numbers = self.arrays, self.arrays["numbers"]
        leaping = self.family.leap is not None and self.epoch >= FIRST
        r = momentum.rest(self.joint, arrays["P"])
        if leaping:
            momentum.leap(self.family, self.joint, arrays, numbers[BETA])
        if self.joint.bias == "free":
            arrays["center"] += numbers[BETA] * r
            self._loosen(float(np.sqrt((r * r).sum())))
        if self.joint.bias != "none":
            r = momentum.rest(self.joint, arrays["P"]) if leaping else r
            arrays["b"][:] = arrays["center"] + numbers[BETA] * r

    def _loosen(self, length: float) -> None:
        """Tie the bias more loosely where r, of this length, hardly gets shorter and all else stands still."""
        numbers = self.arrays["numbers"]
        if numbers[GAPS] < STILL * numbers[BETA] * length**2 and length > STUCK * numbers[LENGTH]:
            numbers[BETA] = min(FASTER * numbers[BETA], numbers[LIMIT])
        numbers[LENGTH] = length

    def _first_beta(self) -> float:
        if self.joint.bias != "free":
            return 1.0 if self.joint.bias == "regularized" else 0.0
        squares, total = kernels.row_squares(self.joint.rows, kernels.thread_count()), self.joint.totals.sum()
        return (
            max(FREE_BETA * float(squares.sum()) / max(1, len(squares)), PULL * self.joint.k / total) if total else 1.0
        )


def climb(
    family: Family,
    joint: Joint,
    plan: Plan,
    tell: Callable[[Climb], object] = lambda _: None,
    past: Past = (None, None),
) -> tuple[Doubles, Doubles]:
    """Weights W (d, k) and biases b (k,), solved to `plan.tol` or for `plan.epochs`; `tell` may raise to end it.

    `past` has a copy of `Climb.arrays`: the work goes on from there, to the same bits; or one of when all strengths
    were so many times smaller: the work begins with its duals.

    >>> from linnaeus.optimizers.dual.crammer import CRAMMER
    >>> rows = np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([1.0, -1.0])
    >>> two = Joint(rows, 1, np.array([0, 1], np.int32), np.ones(2), 2)
    >>> climb(CRAMMER, two, Plan(tol=1e-9))[0].round(6).tolist()
    [[0.5, -0.5]]
    """
    saved, warm = past
    work = Climb(family, joint, plan, saved)
    if warm is not None and not saved:
        work.warm_up(*warm)
    while not work.finished and work.epoch < plan.epochs:
        work.run()
        tell(work)
    return work.arrays["W"], work.arrays["b"]
