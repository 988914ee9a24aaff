"""One sigmoid that all classes share: for scores of classes that were each learned against the rest."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from linnaeus.decision.calibration import FittedCalibrator, FittedTemperature, Temperature
from linnaeus.decision.scores import Kind, as_scores, sample, shared_chances, stored_kind, thinned, with_truth
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Doubles, Matrix, State, Truth

ROUNDS, HALVINGS, NEAR = 60, 30, 1e-9
LONGEST, LOWEST = 4.0, -40.0
"""Bounds of a step and of b, where the best score of a row is 0 on average; below the second it is a temperature."""
FARTHEST = 50.0
"""Bound of the size of log scale/T: beyond it rows differ so much more than classes that no offset suits them all."""
BLOCK, FEW = 250_000, 100_000
"""Entries of the scores that are worked on at a time, and among which the search begins."""
STARTS = [(0.0, -4.0), (0.0, -1.0), (0.0, 2.0), (0.7, 5.0)]
"""By how much log 1/T is more than that of the temperature, and b."""


@dataclass(frozen=True)
class SharedSigmoid:
    """P proportional to 1 / (1 + e^-(s/T + b)), T > 0 and b the same for all classes; they have the least log loss.

    A temperature is the limit b -> -infinity, where the sigmoid is e^b e^(s/T). It is what remains for two classes, for
    label sets, and wherever b does not lower the log loss of the rows by more than one parameter is worth: by 1 in sum
    (Akaike 1974). The order of the classes stays. One row in n + 1 is held to be of any class, as with `Temperature`.

    >>> S = np.array([[1.0, -1.0, -1.0], [1.0, 0.8, -1.0], [1.0, 0.8, -1.0], [-1.0, -0.8, 1.0]] * 25)
    >>> y = np.array([0, 0, 1, 2] * 25)
    >>> SharedSigmoid().fit(S, y).probabilities(S[:2]).round(2).tolist()
    [[0.99, 0.0, 0.0], [0.51, 0.49, 0.0]]
    >>> Temperature().fit(S, y).probabilities(S[:2]).round(2).tolist()
    [[0.98, 0.01, 0.01], [0.62, 0.38, 0.0]]
    """

    def fit(self, S: Matrix, truth: Truth, weights: Doubles | None = None) -> FittedTemperature | FittedShared:
        """T and b for scores of rows that the model was not trained on."""
        S, kind, weights = with_truth(S, truth, weights)
        plain = Temperature().fit(S, truth, weights)
        if kind != "classes":
            return plain
        S, truth, weights, heavy = thinned(S, truth, weights)
        share = weights / weights.sum()
        middle = float((share * S.max(axis=1)).sum())
        with np.errstate(over="ignore"):
            far = np.clip(S - middle, -1e300, 1e300)
        scale = float(np.abs(far).max()) or 1.0
        problem = _Problem(far / scale, np.asarray(truth), share, 1.0 / (heavy + 1))
        start = math.log(scale) - math.log(plain.temperature)
        if abs(start) > FARTHEST:
            return plain
        loss, steep, b = _search(problem, start)
        T = math.exp(min(max(math.log(scale) - steep, -690.0), 690.0))
        better = heavy * (problem.plain(start) - loss) > 1.0
        return FittedShared(kind, T, b - middle / T) if better and math.isfinite(middle / T) else plain


@dataclass(frozen=True)
class FittedShared(FittedCalibrator):
    """The temperature T and the offset b of the sigmoid."""

    kind: Kind
    temperature: float
    offset: float
    keeps_order: ClassVar[bool] = True

    @property
    def curve(self) -> tuple[float, float]:
        """T and b: the order of the scores stays."""
        return self.temperature, self.offset

    def probabilities(self, S: Matrix) -> Doubles:
        """P (n, k)."""
        chances = shared_chances(as_scores(S), self.curve)
        return chances / chances.sum(axis=1, keepdims=True)

    def state(self) -> State:
        """Two numbers."""
        manifest = {"kind": "shared", "scores": self.kind, "temperature": self.temperature, "offset": self.offset}
        return State(manifest, {})

    @classmethod
    def from_state(cls, state: State) -> FittedShared:
        """Restore from the result of `state`."""
        T, b, kind = state.manifest.get("temperature"), state.manifest.get("offset"), stored_kind(state.manifest)
        if not isinstance(T, float) or not 0.0 < T < math.inf or not isinstance(b, float) or not math.isfinite(b):
            raise damaged(f"its calibration has the temperature {T!r} and the offset {b!r}")
        if kind != "classes":
            raise damaged("its calibration is for more than two classes")
        return cls(kind, T, b)


@dataclass(frozen=True, eq=False)
class _Problem:
    """The log loss of chances 1 / (1 + e^-(e^a z + b)) over their sum, in a and b.

    `Z` (n, k) are scores, `y` (n,) the truth, `share` (n,) the weights of the rows, `doubt` that of any class in a row.
    """

    Z: Doubles
    y: Array
    share: Doubles
    doubt: float

    def few(self) -> _Problem:
        """Some of the rows, for the way to about where the best is."""
        most = max(1000, FEW // self.Z.shape[1])
        if len(self.Z) <= most or not self.share[rows := sample(len(self.Z), most)].any():
            return self
        share = self.share[rows]
        return _Problem(self.Z[rows], self.y[rows], share / share.sum(), self.doubt)

    def plain(self, a: float) -> float:
        """The loss of the temperature e^-a: that of an offset far below all scores."""
        return self.at(a, LOWEST - math.exp(a) * float(self.Z.max()))[0]

    def at(self, a: float, b: float) -> tuple[float, Doubles, Doubles]:
        """The loss, its gradient (2,) and its second derivatives (2, 2), summed over blocks of rows."""
        step = max(1, BLOCK // self.Z.shape[1])
        total = np.zeros(6)
        for i in range(0, len(self.Z), step):
            total += self._block(slice(i, i + step), math.exp(a), b)
        return float(total[0]), total[1:3], total[[3, 4, 4, 5]].reshape(2, 2)

    def _block(self, rows: slice, slope: float, b: float) -> Doubles:
        """Loss, d/da, d/db, d2/da2, d2/dadb, d2/db2 of some rows."""
        F, y, share = slope * self.Z[rows], self.y[rows], self.share[rows]
        U = F + b
        small = np.exp(-np.abs(U))
        L, no = np.minimum(U, 0.0) - np.log1p(small), np.where(U >= 0, small, 1.0) / (1.0 + small)
        top = L.max(axis=1, keepdims=True)
        P = np.exp(L - top)
        mass = P.sum(axis=1, keepdims=True)
        P /= mass
        each = np.arange(len(y))
        loss = (top + np.log(mass))[:, 0] - (1.0 - self.doubt) * L[each, y] - self.doubt * L.mean(axis=1)
        R = P - self.doubt / P.shape[1]
        R[each, y] -= 1.0 - self.doubt
        # With L = log chance: dL/db = no, d2L/db2 = -no (1 - no); d/da takes a factor F, and F has dF/da = F.
        first, bent = R * no, R * no * (1.0 - no)
        P *= no
        mean, spread = np.stack([(P * F).sum(axis=1), P.sum(axis=1)]), P * no
        sums = [
            loss,
            (first * F).sum(axis=1),
            first.sum(axis=1),
            ((first - bent * F + spread * F) * F).sum(axis=1) - mean[0] * mean[0],
            ((spread - bent) * F).sum(axis=1) - mean[0] * mean[1],
            (spread - bent).sum(axis=1) - mean[1] * mean[1],
        ]
        return np.array([float((share * part).sum()) for part in sums])


def _search(problem: _Problem, start: float) -> tuple[float, float, float]:
    """The least loss that is found, with its a and b: Newton steps from the best of some starts near a temperature."""
    few = problem.few()
    _, a, b = min((few.at(start + steeper, b)[0], start + steeper, b) for steeper, b in STARTS)
    if few is not problem:
        _, a, b = _newton(few, a, b)
    return _newton(problem, a, b)


def _newton(problem: _Problem, a: float, b: float) -> tuple[float, float, float]:
    """Newton steps downhill: the loss is not convex, so curvatures count by their size; halved until the loss falls."""
    loss, gradient, H = problem.at(a, b)
    for _ in range(ROUNDS):
        sizes, axes = np.linalg.eigh(H)
        sizes = np.maximum(np.abs(sizes), 1e-9 * np.abs(sizes).max() + 1e-300)
        step = -axes @ ((axes.T @ gradient) / sizes)
        drop = -float(gradient @ step)
        step *= min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-300))
        if drop <= NEAR * loss or b <= LOWEST:
            break
        for _ in range(HALVINGS):
            new = problem.at(a + step[0], b + step[1])
            if new[0] < loss:
                break
            step *= 0.5
        else:
            break
        (loss, gradient, H), a, b = new, a + float(step[0]), b + float(step[1])
    return loss, a, b
