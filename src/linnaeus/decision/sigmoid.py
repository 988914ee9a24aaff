"""A sigmoid for each class, fitted to its scores."""

from __future__ import annotations

import numpy as np

from linnaeus.arrays.numerics import sigmoid
from linnaeus.decision.calibration import FittedCalibrator
from linnaeus.decision.scores import Kind, blocks, columns, fitting, normalized, softmax, stored_kind, with_truth
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.store.states import tensor
from linnaeus.types import Array, Bools, Doubles, Matrix, State, Truth

ROUNDS, NEAR, HALVINGS = 100, 1e-10, 40
STEEPEST = 1e300


@dataclass(frozen=True)
class Sigmoid:
    """P(class | s) = 1 / (1 + e^-(a s + b)) for each class against the rest, then over the sum of the classes.

    a >= 0 and b have the least log loss against Platt's targets, (n+ + 1)/(n+ + 2) for members and 1/(n- + 2) for
    others. Platt 1999; Lin, Lin and Weng 2007 for the Newton steps. With more than two classes the most probable class
    may be another than the one with the largest score.

    >>> S, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> Sigmoid().fit(S, y).probabilities([[2.0]]).round(2).tolist()
    [[0.21, 0.79]]
    """

    def fit(self, S: Matrix, truth: Truth, weights: Doubles | None = None) -> FittedSigmoid:
        """Slopes and offsets for scores of rows that the model was not trained on."""
        S, kind, weights = with_truth(S, truth, weights)
        counts = weights * (weights.sum() / np.square(weights).sum())  # so that weights 2, 2 count as many rows as 1, 1
        fitted = [_lines(S[:, a:b], columns(truth, kind, a, b), counts) for a, b in blocks(S)]
        return FittedSigmoid(kind, np.concatenate([f[0] for f in fitted]), np.concatenate([f[1] for f in fitted]))


@dataclass(frozen=True, eq=False)
class FittedSigmoid(FittedCalibrator):
    """Slope a and offset b for each column of the scores."""

    kind: Kind
    slopes: Doubles
    offsets: Doubles

    def probabilities(self, S: Matrix) -> Doubles:
        """P (n, k)."""
        S = fitting(self.kind, S, len(self.slopes))
        with np.errstate(over="ignore"):
            F = np.clip(S * self.slopes + self.offsets, -1e300, 1e300)
        if self.kind != "classes":
            return normalized(self.kind, sigmoid(F))
        # By logarithms, min(f, 0) - log(1 + e^-|f|): all chances of a row may be too small for a float.
        return softmax(np.minimum(F, 0.0) - np.log1p(np.exp(-np.abs(F))))

    def state(self) -> State:
        """Two vectors."""
        return State({"kind": "sigmoid", "scores": self.kind}, {"slopes": self.slopes, "offsets": self.offsets})

    @classmethod
    def from_state(cls, state: State) -> FittedSigmoid:
        """Restore from the result of `state`."""
        slopes, offsets = (tensor(state.tensors, name, np.float64) for name in ("slopes", "offsets"))
        kind = stored_kind(state.manifest)
        if len(slopes) == 0 or len(slopes) != len(offsets) or (kind == "binary" and len(slopes) != 1):
            raise damaged("the slopes and offsets of its calibration do not fit")
        if not (np.isfinite(slopes).all() and np.isfinite(offsets).all() and (slopes >= 0).all()):
            raise damaged("its calibration has slopes that are not usable")
        return cls(kind, slopes, offsets)


def _lines(S: Doubles, members: Bools, counts: Doubles) -> tuple[Doubles, Doubles]:
    """A and b of all columns, on scores brought to a range of about 1."""
    center = np.median(S, axis=0)
    with np.errstate(over="ignore"):
        far = np.minimum(np.abs(S - center).max(axis=0), 1e300)
    scale = np.where(far > 0, far, 1.0)
    Z = np.clip((S - center) / scale, -1.0, 1.0)
    yes, no = _total(counts, members), _total(counts, ~members)
    T = np.where(members, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))
    a, b = _newton(Z, T, counts)
    flat = (a <= 0) | (far == 0)  # convex: with slope 0, the best offset is that of the mean
    mean = _total(counts, T) / counts.sum()
    a, b = np.where(flat, 0.0, a), np.where(flat, np.log(mean / (1.0 - mean)), b)
    slopes = np.minimum(a / scale, STEEPEST)
    return slopes, b - np.clip(slopes * center, -STEEPEST, STEEPEST)


def _newton(Z: Doubles, T: Doubles, counts: Doubles) -> tuple[Doubles, Doubles]:
    """Damped Newton for all columns side by side; a column that stands still is left alone."""
    mean = _total(counts, T) / counts.sum()
    a, b = np.zeros(Z.shape[1]), np.log(mean / (1.0 - mean))
    live = np.arange(Z.shape[1])
    for _ in range(ROUNDS):
        z, t = (Z, T) if len(live) == Z.shape[1] else (Z[:, live], T[:, live])
        before = _loss(z, t, counts, (a[live], b[live]))
        da, db, drop = _direction(z, t, counts, (a[live], b[live]))
        step = np.ones(len(live))
        for _ in range(HALVINGS):
            at = a[live] - step * da, b[live] - step * db
            after = _loss(z, t, counts, at)
            worse = after > before - 1e-4 * step * drop
            if not worse.any():
                break
            step[worse] *= 0.5
        better = after < before
        a[live[better]], b[live[better]] = at[0][better], at[1][better]
        live = live[better & (drop > NEAR * before)]
        if len(live) == 0:
            break
    return a, b


def _total(counts: Doubles, M: Array) -> Doubles:
    """Counts times each column, row after row: a product by BLAS may depend on its threads."""
    return (counts[:, None] * M).sum(axis=0)


def _loss(Z: Doubles, T: Doubles, counts: Doubles, line: tuple[Doubles, Doubles]) -> Doubles:
    """Sum of counts (log(1 + e^f) - t f), f = a z + b, for each column."""
    F = Z * line[0] + line[1]
    return _total(counts, np.maximum(F, 0.0) + np.log1p(np.exp(-np.abs(F))) - T * F)


def _direction(Z: Doubles, T: Doubles, counts: Doubles, line: tuple[Doubles, Doubles]) -> tuple[Doubles, ...]:
    """The Newton direction (da, db) of each column, and how much the loss falls along it at first."""
    P = sigmoid(Z * line[0] + line[1])
    G, H = P - T, P * (1.0 - P) + 1e-12
    ga, gb = _total(counts, G * Z), _total(counts, G)
    haa, hab, hbb = _total(counts, H * Z * Z) + 1e-12, _total(counts, H * Z), _total(counts, H)
    det = np.maximum(haa * hbb - hab * hab, 1e-300)
    da, db = (hbb * ga - hab * gb) / det, (haa * gb - hab * ga) / det
    return da, db, ga * da + gb * db
