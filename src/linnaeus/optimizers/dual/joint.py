"""Joint multiclass problems: all classes of an example move together, in one exact step on its simplex."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Ints, Longs


@dataclass(frozen=True)
class Joint:
    """min 1/2 ||W||^2 + sum_i C_i [upper_y(s_iy + cost(y, y_i)) - s_i,yi]  over W (d, k) and biases b (k,).

    `rows` are indptr (int64), indices (int32) and data (float32 or float64) of n rows with `width` columns, `labels`
    their classes (int32), `strengths` C_i. `costs` has a row for each truth (k, k), or is None: then those of the
    family. The bias is "free", "regularized" (+ 1/2 ||b||^2) or "none".
    """

    rows: tuple[Longs, Ints, Any]
    width: int
    labels: Ints
    strengths: Doubles
    k: int
    costs: Doubles | None = None
    bias: Literal["free", "regularized", "none"] = "free"

    @property
    def size(self) -> int:
        """How many rows."""
        return len(self.labels)

    @property
    def table(self) -> Doubles:
        """The costs as the kernels take them: empty for none."""
        return np.zeros((0, 0)) if self.costs is None else np.ascontiguousarray(self.costs, np.float64)

    @cached_property
    def totals(self) -> Doubles:
        """The sum of C over the rows of each class (k,)."""
        totals: Doubles = np.bincount(self.labels, weights=self.strengths, minlength=self.k).astype(np.float64)
        return totals

    @cached_property
    def spread(self) -> tuple[float, Doubles, float]:
        """|A|^2, A^T a and |a|^2 for A = sum_i C_i x_i e_yi^T (d, k) and a its row sums: lengths of mixed points."""
        from scipy.sparse import csr_matrix

        indptr, indices, data = self.rows
        X = csr_matrix((data, indices, indptr), shape=(self.size, self.width))
        here = np.arange(self.size + 1)
        A = csr_matrix((self.strengths, self.labels, here), shape=(self.size, self.k)).T @ X
        a = np.asarray(A.sum(axis=0)).ravel()
        return float((A.data**2).sum()), np.asarray(A @ a), float((a * a).sum())


@dataclass(frozen=True)
class Family:
    """What tells hinge from log: kernels for an epoch and for sums, the cost of a mistake unless given, the entropy.

    `leap` is a kernel that goes on the way come so far, for a family whose epochs alone get slower and slower.
    `zero` is the loss when all scores are equal, given the costs of the other classes; `floor` is the part of the
    objective there that is no gap.
    """

    epoch: Callable[..., float]
    sums: Callable[..., Doubles]
    leap: Callable[..., float] | None
    flat: float
    entropy: Callable[[Doubles], Doubles]
    zero: Callable[[Doubles], Doubles]
    floor: float

    def paid(self, joint: Joint) -> Doubles:
        """The costs by truth (k, k), whether given or not."""
        return self.flat * (1.0 - np.eye(joint.k)) if joint.costs is None else joint.costs

    def at_zero(self, joint: Joint) -> float:
        """The objective at zero weights: a first idea of its size."""
        return float((joint.totals * self.zero(self.paid(joint))).sum())


def bounds(family: Family, joint: Joint, sums: Doubles, b: Doubles, P: Doubles) -> tuple[float, float]:
    """Primal value at (W, b), and a lower bound of every primal value, from the sums of the family's kernel.

    A regularized bias is one more feature. A free one asks of the dual that sum_i C_i (e_yi - p_i) = r is zero. Where
    it is not, the bound is that of (1 - t) p_i + t z, with one z for all rows and the least t that make it so.
    """
    loss, gained, square = sums[:3]
    primal, r = loss + 0.5 * square, joint.totals - sums[4 + joint.k :]
    if joint.bias == "none":
        return float(primal), float(gained - 0.5 * square)
    if joint.bias == "regularized":
        return float(primal + 0.5 * (b * b).sum()), float(gained - 0.5 * square - 0.5 * (r * r).sum())
    return float(primal), _mixed(family, joint, sums, P)


def _mixed(family: Family, joint: Joint, sums: Doubles, P: Doubles) -> float:
    """The dual value of the mixture."""
    k, N = joint.k, joint.totals
    gained, square, gold, scores, r = sums[1], sums[2], sums[3], sums[4 : 4 + k], N - sums[4 + k :]
    present = N > 0
    lacking = float(np.max(-r[present] / N[present], initial=0.0))
    if (r[~present] < -1e-12 * N.sum()).any():
        return -np.inf  # a class without rows, whose bias sinks for ever
    if lacking <= 0:
        return float(gained - 0.5 * square)
    t = lacking / (1.0 + lacking)
    z = np.maximum(N + r / lacking, 0.0)
    z /= z.sum()
    long, across, row = joint.spread
    far = long - 2.0 * (z * across).sum() + row * (z * z).sum()
    square = (1 - t) ** 2 * square + 2 * t * (1 - t) * (gold - (z * scores).sum()) + t * t * far
    paid = (family.paid(joint) * z).sum(axis=1)
    charged = (1 - t) * (gained - _entropy(family, joint, P, (0.0, z))) + t * (N * paid).sum()
    return float(charged + _entropy(family, joint, P, (t, z)) - 0.5 * square)


def gain(family: Family, joint: Joint, P: Doubles) -> float:
    """Sum_i C_i (<p_i, cost_i> + entropy(p_i)), in chunks."""
    table, step = family.paid(joint), max(1, (1 << 18) // joint.k)
    total = 0.0
    for at in (slice(i, i + step) for i in range(0, joint.size, step)):
        charged = (P[at] * table[joint.labels[at]]).sum(axis=1) + family.entropy(P[at])
        total += float((joint.strengths[at] * charged).sum())
    return total


def _entropy(family: Family, joint: Joint, P: Doubles, mix: tuple[float, Doubles]) -> float:
    """Sum_i C_i times the entropy of (1 - t) p_i + t z, in chunks."""
    t, z = mix
    step = max(1, (1 << 18) // joint.k)
    parts = (slice(i, i + step) for i in range(0, joint.size, step))
    return sum(float((joint.strengths[at] * family.entropy((1 - t) * P[at] + t * z)).sum()) for at in parts)
