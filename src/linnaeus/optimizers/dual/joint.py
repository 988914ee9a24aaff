"""Joint multiclass problems: all classes of an example move together, in one exact step on its simplex.

For the hinge, Nesterov's momentum is applied between epochs, and restarted when the dual value has fallen. An epoch
moves far in directions in which the dual is steep, and little in flat ones. With momentum, a gap of 1e-6 takes a fifth
of the epochs or less. (Y. Nesterov 1983; restarts: B. O'Donoghue and E. Candes, Adaptive Restart for Accelerated
Gradient Schemes, 2015.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from linnaeus import kernels
from linnaeus.frozen import dataclass
from linnaeus.optimizers.dual.binary import FASTER, KINKED_FLOOR, LOOSEST, PATIENCE, SMOOTH_FLOOR, STILL, STUCK
from linnaeus.optimizers.shuffle import shuffled
from linnaeus.types import Array, Arrays, Doubles, Ints, Sparse, Warm

if TYPE_CHECKING:
    from linnaeus.arrays import CSR


@dataclass(frozen=True)
class Joint:
    """min 1/2 ||W||^2 + sum_i C_i [upper_y(s_iy + cost(y, y_i)) - s_i,yi]  over W (d, k) and biases b (k,).

    `X` has the rows, `labels` their classes (int32), `strengths` C_i. `costs` (k, k) has a row for each true class;
    None stands for the default costs of the family. The bias is "free", "regularized" (+ 1/2 ||b||^2) or "none".
    """

    X: CSR
    labels: Ints
    strengths: Doubles
    k: int
    costs: Doubles | None = None
    bias: Literal["free", "regularized", "none"] = "free"

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.labels)

    @property
    def table(self) -> Doubles:
        """The costs as the kernels take them: empty if there are none."""
        return np.zeros((0, 0)) if self.costs is None else np.ascontiguousarray(self.costs, np.float64)

    @cached_property
    def totals(self) -> Doubles:
        """The sum of C over the rows of each class (k,)."""
        return np.bincount(self.labels, weights=self.strengths, minlength=self.k).astype(np.float64)

    @cached_property
    def spread(self) -> tuple[float, Doubles, float]:
        """|A|^2, A^T a and |a|^2 for A = sum_i C_i x_i e_yi^T (d, k) and its row sums a, for `_mixed`."""
        from scipy.sparse import csr_matrix

        here = np.arange(self.size + 1)
        A = csr_matrix((self.strengths, self.labels, here), shape=(self.size, self.k)).T @ self.X.to_scipy()
        a = np.asarray(A.sum(axis=0)).ravel()
        return float((A.data**2).sum()), np.asarray(A @ a), float((a * a).sum())


@dataclass(frozen=True)
class Family:
    """The differences between hinge and log: kernels for an epoch and for sums, default costs, and the entropy.

    `leap` is a kernel that applies momentum, if the family needs it. `flat` is the default cost of a mistake. `zero`
    computes the loss at equal scores from the costs of the other classes. A gap below `floor` times the objective at
    zero weights counts as zero.
    """

    epoch: Callable[..., float]
    sums: Callable[..., Doubles]
    leap: Callable[..., float] | None
    flat: float
    entropy: Callable[[Doubles], Doubles]
    zero: Callable[[Doubles], Doubles]
    floor: float

    def paid(self, joint: Joint) -> Doubles:
        """The costs (k, k) with a row for each true class: those of the problem, or the default."""
        return self.flat * (1.0 - np.eye(joint.k)) if joint.costs is None else joint.costs

    def at_zero(self, joint: Joint) -> float:
        """The objective at zero weights."""
        return float((joint.totals * self.zero(self.paid(joint))).sum())


def bounds(family: Family, joint: Joint, sums: Doubles, b: Doubles, P: Doubles) -> tuple[float, float]:
    """The primal value at (W, b) and a lower bound of the optimum, from the sums of the family's kernel.

    A regularized bias is like one more feature. For a free bias, the dual has the constraint
    sum_i C_i (e_yi - p_i) = r = 0. If r is not zero, the bound is the dual value of (1 - t) p_i + t z, with one z for
    all rows and the smallest t for which the constraint holds.
    """
    loss, gained, square = sums[:3]
    primal, r = loss + 0.5 * square, joint.totals - sums[4 + joint.k :]
    if joint.bias == "none":
        return float(primal), float(gained - 0.5 * square)
    if joint.bias == "regularized":
        return float(primal + 0.5 * (b * b).sum()), float(gained - 0.5 * square - 0.5 * (r * r).sum())
    return float(primal), _mixed(family, joint, sums, P)


def _mixed(family: Family, joint: Joint, sums: Doubles, P: Doubles) -> float:
    """The dual value of (1 - t) p_i + t z; see `bounds`."""
    k, N = joint.k, joint.totals
    gained, square, gold, scores, r = sums[1], sums[2], sums[3], sums[4 : 4 + k], N - sums[4 + k :]
    present = N > 0
    lacking = float(np.max(-r[present] / N[present], initial=0.0))
    if (r[~present] < -1e-12 * N.sum()).any():
        return -np.inf  # a class without rows: its bias has no minimum
    if lacking <= 0:
        return float(gained - 0.5 * square)
    t = lacking / (1.0 + lacking)
    z = np.maximum(N + r / lacking, 0.0)
    z /= z.sum()
    long, across, row = joint.spread
    far = long - 2.0 * (z * across).sum() + row * (z * z).sum()
    square = (1 - t) ** 2 * square + 2 * t * (1 - t) * (gold - (z * scores).sum()) + t * t * far
    paid = (family.paid(joint) * z).sum(axis=1)

    def entropy(t: float) -> float:
        return _sum_rows(joint, lambda at: family.entropy((1 - t) * P[at] + t * z))

    charged = (1 - t) * (gained - entropy(0.0)) + t * (N * paid).sum()
    return float(charged + entropy(t) - 0.5 * square)


def gain(family: Family, joint: Joint, P: Doubles) -> float:
    """Sum_i C_i (<p_i, cost_i> + entropy(p_i))."""
    table = family.paid(joint)
    return _sum_rows(joint, lambda at: (P[at] * table[joint.labels[at]]).sum(axis=1) + family.entropy(P[at]))


def _sum_rows(joint: Joint, value: Callable[[slice], Doubles]) -> float:
    """Sum_i C_i value_i, where `value` returns the values of some rows; in chunks."""
    step = max(1, (1 << 18) // joint.k)
    parts = (slice(i, i + step) for i in range(0, joint.size, step))
    return sum((float((joint.strengths[at] * value(at)).sum()) for at in parts), 0.0)


STEPS, SQUARE, GAIN = range(3)
"""The numbers of the momentum: leaps since the last restart, and two parts of the dual value one epoch ago."""


def _leap(family: Family, joint: Joint, arrays: Arrays, beta: float) -> None:
    """Apply momentum to W and P, and store them for the next time. The caller updates `b` and `center`.

    Whether the dual value has fallen is known only after the leap, so the restart takes effect one epoch later.
    """
    assert family.leap is not None
    numbers = arrays["leaps"]
    steps = numbers[STEPS]
    r, gained = _lacking(joint, arrays["P"]), gain(family, joint, arrays["P"])
    state = tuple(arrays[name] for name in ("W", "b", "P", "gaps"))
    past = arrays["past_W"], arrays["past_P"]
    by = steps / (steps + 3.0)
    square = family.leap(joint.X.arrays, (joint.labels, joint.strengths), state, past, by, kernels.thread_count())

    def dual(gained: float, square: float, r: Doubles) -> float:
        """The dual function of a problem whose bias is tied to the center."""
        return float(gained - 0.5 * square - 0.5 * beta * (r * r).sum() - (arrays["center"] * r).sum())

    fallen = dual(gained, square, r) < dual(numbers[GAIN], numbers[SQUARE], arrays["past_r"])
    arrays["past_r"][:] = r
    numbers[:] = 0.0 if fallen else steps + 1.0, square, gained


def _lacking(joint: Joint, P: Doubles) -> Doubles:
    """The residual of the constraint of a free bias: r = sum_i C_i (e_yi - p_i)."""
    return joint.totals - np.einsum("i,ij->j", joint.strengths, P)


CRAMMER = Family(
    epoch=lambda *given: kernels.crammer_epoch(*given),
    sums=lambda *given: kernels.crammer_sums(*given),
    leap=lambda *given: kernels.crammer_leap(*given),
    flat=1.0,
    entropy=lambda P: np.zeros(len(P)),
    zero=lambda costs: costs.max(axis=1),
    floor=KINKED_FLOOR,
)
"""best(s + cost) - s_y; every mistake costs 1 unless costs are given. Keerthi et al. 2008."""


SOFTMAX = Family(
    epoch=lambda *given: kernels.softmax_epoch(*given),
    sums=lambda *given: kernels.softmax_sums(*given),
    leap=None,
    flat=0.0,
    entropy=lambda P: -(P * np.log(np.maximum(P, 1e-300))).sum(axis=1),
    zero=lambda costs: np.log(np.exp(costs - costs.max()).sum(axis=1)) + costs.max(),
    floor=SMOOTH_FLOOR,
)
"""All classes of an example in one exact step, after Yu, Huang and Lin 2011."""


SLICE = 1 << 27
"""The number of multiplications in one call of a kernel: about a tenth of a second."""
LONGEST = 8
"""The largest number of epochs in which an example without a gap is skipped."""
FREE_BETA, PULL = 0.1, 5.0
"""The initial beta of a free bias: the larger of 0.1 times the mean squared length of a row, and 5 k / sum C."""
FIRST = 3
"""The number of epochs before the first leap."""


EPOCH, GAPS, VALUE, FOUND, BETA, LENGTH, LIMIT = range(7)
"""The numbers of a state: epochs done, sum of the gaps in the last one, objective, ratio of the last gap to its
estimate; and for a free bias its beta, the length of r, and the largest beta."""


@dataclass(frozen=True)
class Plan:
    """The stopping criteria: a gap of `tol` times the objective, or a number of epochs; and the random seed."""

    tol: float = 1e-4
    epochs: int = 1000
    seed: int = 0


class Climb:
    """The state of a solver: W (d, k), b (k,), p_i (n, k), and all that is needed to resume with identical results.

    Memory: the weights in float64, and 8 k + 32 bytes for each row; with momentum twice that. It never stores the
    scores of all rows.
    """

    def __init__(self, family: Family, joint: Joint, plan: Plan, saved: Mapping[str, Array] | None = None):
        self.family, self.joint, self.plan = family, joint, plan
        n, k = joint.size, joint.k
        self.primal, self.dual, self.fresh = np.inf, -np.inf, False
        self.floor = family.floor * family.at_zero(joint)
        self.work = int(joint.strengths.astype(bool) @ np.diff(joint.X.indptr)) * k
        if saved:
            self.arrays = {name: value.copy() for name, value in saved.items()}
            return
        P = np.zeros((n, k))
        P[np.arange(n), joint.labels] = 1.0
        self.arrays = {"W": np.zeros((joint.X.width, k)), "P": P, "gaps": np.zeros(n)}
        self.arrays |= {"b": np.zeros(k), "center": np.zeros(k)}
        self.arrays |= {"wake": np.zeros(n, np.int32), "streak": np.zeros(n, np.int32)}
        if family.leap is not None:
            self.arrays |= {"past_W": np.zeros((joint.X.width, k)), "past_P": np.zeros((n, k)), "past_r": np.zeros(k)}
            self.arrays["leaps"] = np.array([0.0, np.inf, 0.0])
        beta = self._first_beta()
        self.arrays["numbers"] = np.array([0.0, np.inf, family.at_zero(joint), 1.0, beta, np.inf, LOOSEST * beta])

    def warm_up(self, warm: Warm) -> None:
        """Start from the dual variables for smaller strengths. They are shares, so weights grow with the strengths."""
        saved = warm.state
        if saved["P"].shape != self.arrays["P"].shape:
            return
        self.arrays["P"][:] = saved["P"]
        np.multiply(saved["W"], warm.ratio, out=self.arrays["W"])
        for name in ("b", "center"):
            self.arrays[name][:] = saved[name]

    def state(self) -> Arrays:
        """Copies of all arrays."""
        return {name: value.copy() for name, value in self.arrays.items()}

    @property
    def epoch(self) -> int:
        """The number of epochs done."""
        return int(self.arrays["numbers"][EPOCH])

    @property
    def finished(self) -> bool:
        """Whether the last gap is small enough, or all strengths are zero."""
        if self.primal == np.inf:
            return bool(self.joint.totals.sum() == 0)
        return self.primal - self.dual <= max(self.plan.tol * self.primal, self.floor)

    def run(self) -> None:
        """Run one epoch, and compute the gap if it may be small enough or is due."""
        numbers, before = self.arrays["numbers"], self.arrays["numbers"][GAPS]
        self._prepare()
        numbers[EPOCH] += 1
        numbers[GAPS] = self._sweep(self._awake())
        expected = numbers[GAPS] * min(1.0, numbers[GAPS] / before if 0 < before < np.inf else 1.0)
        due = self.epoch % PATIENCE == 0 or self.epoch >= self.plan.epochs
        self.fresh = bool(due or expected * numbers[FOUND] <= max(self.plan.tol * numbers[VALUE], self.floor))
        if self.fresh:
            sums = self.family.sums(*self._given, kernels.thread_count())
            self.primal, self.dual = bounds(self.family, self.joint, sums, self.arrays["b"], self.arrays["P"])
            numbers[VALUE] = self.primal
            numbers[FOUND] = min(1.0, (self.primal - self.dual) / expected) if expected > 0 else 1.0

    @property
    def _given(self) -> tuple[Sparse, tuple[Ints, Doubles], tuple[Array, ...], Doubles]:
        state = tuple(self.arrays[name] for name in ("W", "b", "P", "gaps"))
        return self.joint.X.arrays, (self.joint.labels, self.joint.strengths), state, self.joint.table

    def _awake(self) -> Ints:
        """The examples of this epoch in random order, without those that are skipped."""
        order = shuffled(self.joint.size, self.plan.seed, self.epoch)
        return order[self.arrays["wake"][order] <= self.epoch]

    def _sweep(self, order: Ints) -> float:
        """Visit these examples, in calls of about a tenth of a second; those without a gap are skipped ever longer."""
        step = max(1, SLICE * max(1, self.joint.size) // max(1, self.work))
        total, beta = 0.0, float(self.arrays["numbers"][BETA])
        for first in range(0, len(order), step):
            total += self.family.epoch(*self._given, order[first : first + step], beta)
        streak, still = self.arrays["streak"], self.arrays["gaps"][order] <= 0
        streak[order] = np.where(still, np.minimum(2 * streak[order] + 1, LONGEST), 0)
        self.arrays["wake"][order] = self.epoch + 1 + streak[order]
        return total

    def _prepare(self) -> None:
        """Apply momentum, and the method of multipliers: move the center of a free bias to b = center + beta r."""
        arrays, numbers = self.arrays, self.arrays["numbers"]
        leaping = self.family.leap is not None and self.epoch >= FIRST
        r = _lacking(self.joint, arrays["P"])
        if leaping:
            _leap(self.family, self.joint, arrays, numbers[BETA])
        if self.joint.bias == "free":
            arrays["center"] += numbers[BETA] * r
            self._loosen(float(np.sqrt((r * r).sum())))
        if self.joint.bias != "none":
            r = _lacking(self.joint, arrays["P"]) if leaping else r
            arrays["b"][:] = arrays["center"] + numbers[BETA] * r

    def _loosen(self, length: float) -> None:
        """Tie the bias more loosely if the length of r has hardly changed, and nothing else changes much."""
        numbers = self.arrays["numbers"]
        if numbers[GAPS] < STILL * numbers[BETA] * length**2 and length > STUCK * numbers[LENGTH]:
            numbers[BETA] = min(FASTER * numbers[BETA], numbers[LIMIT])
        numbers[LENGTH] = length

    def _first_beta(self) -> float:
        if self.joint.bias != "free":
            return 1.0 if self.joint.bias == "regularized" else 0.0
        squares, total = self.joint.X.squares(), float(self.joint.totals.sum())
        if not total:
            return 1.0
        return max(FREE_BETA * float(squares.sum()) / max(1, len(squares)), PULL * self.joint.k / total)


def climb(
    family: Family,
    joint: Joint,
    plan: Plan,
    tell: Callable[[Climb], object] = lambda _: None,
    saved: Mapping[str, Array] | None = None,
    warm: Warm | None = None,
) -> tuple[Doubles, Doubles]:
    """Weights W (d, k) and biases b (k,), solved to `plan.tol` or for `plan.epochs`; `tell` may raise to stop.

    With `saved`, a copy of `Climb.arrays`, it resumes and returns identical results. `warm` has the final arrays of the
    same problem with smaller strengths, whose dual variables are the starting point.

    >>> from linnaeus.arrays import CSR
    >>> X = CSR(np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([1.0, -1.0]), 1)
    >>> two = Joint(X, np.array([0, 1], np.int32), np.ones(2), 2)
    >>> climb(CRAMMER, two, Plan(tol=1e-9))[0].round(6).tolist()
    [[0.5, -0.5]]
    """
    work = Climb(family, joint, plan, saved)
    if warm is not None and not saved:
        work.warm_up(warm)
    while not work.finished and work.epoch < plan.epochs:
        work.run()
        tell(work)
    return work.arrays["W"], work.arrays["b"]
