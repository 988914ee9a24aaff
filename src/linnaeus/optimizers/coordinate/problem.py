"""One score column: min over w, b of sum_i phi_i(x_i w + b) + l1 ||w||_1 + l2/2 ||w||^2.

Proximal Newton steps (newGLMNET: Yuan, Ho and Lin 2012) on a working set of columns, grown by how much each column
violates the conditions of the optimum (Massias, Gramfort and Salmon 2018; skglm: Bertrand et al. 2022).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.optimizers.coordinate.rowwise import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.optimizers.coordinate.columns import Columns
    from linnaeus.optimizers.coordinate.rowwise import RowLoss
    from linnaeus.types import Doubles, Ints

SMALLEST_SET = 3000
"""A working set has room for so many columns, and for as many new ones as are in use: it doubles."""
STEPS = 8
"""Most Newton steps in one iteration, before all columns are looked at again."""
MOST_PASSES = 20
"""Most passes of descent in one Newton step; a first step makes two, for its model is still poor."""
REST = 0.1
"""A Newton step ends when the slopes are down to this part of those it met first."""
SETTLED = 0.3
"""An iteration ends when the slopes on the working set are down to this part of the worst of all columns."""


@dataclass
class Place:
    """Where a problem stands: weights (d,), bias (0 or 1 numbers), passes allowed, the best lower bound known."""

    w: Doubles
    b: Doubles
    passes: float = 2.0
    bound: float = -np.inf


@dataclass
class Problem:
    """One problem on columns it shares with others. `look`, `judge` and `advance` take turns."""

    columns: Columns
    phi: RowLoss
    l1: float
    l2: float
    place: Place
    z: Doubles = field(init=False)
    alpha: Doubles = field(init=False)
    used: NDArray[np.intp] = field(init=False)
    gradient: Doubles = field(init=False)
    violation: float = field(init=False, default=np.inf)
    value: float = field(init=False, default=np.inf)

    def look(self) -> None:
        """Scores, value and the dual point at the present weights; nothing is carried over.

        So a problem that is taken up again goes on with the bits it would have had.
        """
        place = self.place
        self.used = np.flatnonzero(place.w)
        weights = place.w[self.used]
        self.z = self.columns.combine(self.used.astype(np.int32), weights)
        if len(place.b):
            place.b[0] = level(self.phi, self.z, float(place.b[0]))
            self.z += place.b[0]
        self.value = self.phi.value(self.z) + self._penalty(weights)
        slope = self.phi.slope(self.z)
        self.alpha = balance(slope) if len(place.b) else slope

    def judge(self, gradient: Doubles) -> None:
        """The largest violation of the conditions of the optimum, and the lower bound, from X.T alpha."""
        self.gradient = gradient
        w = self.place.w[self.used]
        inside = np.abs(gradient[self.used] + self.l2 * w + self.l1 * np.sign(w))
        steepest = float(np.abs(gradient).max(initial=0.0))
        self.violation = max(steepest - self.l1, float(inside.max(initial=0.0)), 0.0)
        self.place.bound = max(self.place.bound, self._bound(steepest))

    @property
    def gap(self) -> float | None:
        """A certified bound on the distance from the optimum, or None where the loss has no conjugate."""
        return max(0.0, self.value - self.place.bound) if np.isfinite(self.place.bound) else None

    def _penalty(self, weights: Doubles) -> float:
        return self.l1 * float(np.abs(weights).sum()) + 0.5 * self.l2 * inner(weights, weights)

    def _bound(self, steepest: float) -> float:
        """The dual value -sum phi*(alpha) - R*(-X.T alpha), with alpha made shorter until it is feasible."""
        shrink = 1.0 if steepest <= self.l1 else self.l1 / steepest
        conjugate = self.phi.conjugate(shrink * self.alpha)
        if conjugate is None:
            return -np.inf
        if self.l2 == 0 or shrink == 1.0:
            return -conjugate
        whole = self.phi.conjugate(self.alpha)
        over = np.maximum(np.abs(self.gradient) - self.l1, 0.0)
        return max(-conjugate, -np.inf if whole is None else -whole - inner(over, over) / (2.0 * self.l2))

    def working_set(self) -> Ints:
        """The columns in use, and of the others those that violate most; at equal violation the lower column."""
        used = self.used
        steep = np.flatnonzero(np.abs(self.gradient) > self.l1)
        steep = steep[self.place.w[steep] == 0]
        room = max(SMALLEST_SET - len(used), len(used))
        if room < len(steep):
            order = np.argsort(-np.abs(self.gradient[steep]), kind="stable")
            steep = steep[order[:room]]
        return np.sort(np.concatenate([used, steep])).astype(np.int32)

    def advance(self) -> None:
        """Newton steps on a working set, until it is settled."""
        worst, picked = self.violation, self.working_set()
        weights = self.place.w[picked]
        # Summed in the order of the set, like all values it is compared with.
        self.value = self.phi.value(self.z) + self._penalty(weights)
        for _ in range(STEPS):
            first, moved = self._step(picked, weights)
            self.place.passes = min(1.5 * self.place.passes, MOST_PASSES)
            if not moved or first <= SETTLED * worst:
                break
        self.place.w[picked] = weights

    def _step(self, picked: Ints, weights: Doubles) -> tuple[float, bool]:
        """One Newton step: weights, bias and scores move. The largest slope it met, and whether it moved."""
        slope, curve = self.phi.model(self.z)
        after, b, moved = weights.copy(), self.place.b.copy(), np.empty_like(self.z)
        limits = int(self.place.passes), REST
        place, penalty = (after, b, moved), (self.l1, self.l2)
        first, _, _ = kernels.descend(self.columns.arrays, picked, (slope, curve), place, penalty, limits)
        change = after - weights
        promise = inner(slope, moved) + self._penalty(after) - self._penalty(weights)
        part = self._search(weights, change, moved, promise)
        weights += part * change
        if part == 1.0:
            weights[:] = after  # exact zeros stay exact
        self.place.b += part * (b - self.place.b)
        return first, part > 0.0

    def _search(self, weights: Doubles, change: Doubles, moved: Doubles, promise: float) -> float:
        """Halve the step until it keeps a hundredth of what it promises; 0 where rounding is all there is to win."""
        part = 1.0
        while promise < 0.0 and part > 1e-9:
            z = self.z + part * moved
            value = self.phi.value(z) + self._penalty(weights + part * change)
            if value <= self.value + 0.01 * part * promise:
                self.z, self.value = z, value
                return part
            part *= 0.5
        return 0.0


def level(phi: RowLoss, z: Doubles, b: float) -> float:
    """The bias that minimizes sum phi_i(z_i + b), by Newton steps; one that already balances the slopes stays."""
    slope = phi.slope(z + b)
    total = float(slope.sum())
    for _ in range(100):
        if abs(total) <= 1e-11 * float(np.abs(slope).sum()):
            break
        step = -total / max(float(phi.curve(z + b).sum()), 1e-12)
        slope = phi.slope(z + (b + step))
        while abs(float(slope.sum())) > abs(total) and b + step != b:
            step *= 0.5
            slope = phi.slope(z + (b + step))
        if b + step == b:
            break
        b, total = b + step, float(slope.sum())
    return b


def balance(slope: Doubles) -> Doubles:
    """Slopes whose sum is zero, as a free bias asks of a dual point: the heavier side is made lighter.

    >>> balance(np.array([3.0, -1.0, -1.0])).tolist()
    [2.0, -1.0, -1.0]
    """
    up, down = float(slope[slope > 0].sum()), -float(slope[slope < 0].sum())
    if up > down:
        return np.where(slope > 0, slope * (down / up), slope)
    return np.where(slope < 0, slope * (up / down), slope) if down > up else slope
