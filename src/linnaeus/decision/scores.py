"""What class scores mean, and how they become probabilities and the prediction with the lowest expected cost.

Three kinds: "binary" (n, 1), one score, positive for the second class; "classes" (n, k), the largest wins; "labels"
(n, k), one yes or no each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnaeus.arrays.numerics import sigmoid
from linnaeus.errors import DataError, UsageError, damaged, expect
from linnaeus.types import Bools, Doubles, Json, LabelSets, Matrix, Truth

Kind: TypeAlias = Literal["binary", "classes", "labels"]
KINDS: tuple[Kind, ...] = ("binary", "classes", "labels")
GOLDEN = 0.6180339887498949
BLOCK = 4_000_000
"""Entries of a score matrix that are worked on at a time."""


def kind_of(S: Doubles, truth: Truth) -> Kind:
    """The kind of these scores; the true labels show whether they are label sets or classes.

    >>> kind_of(np.zeros((5, 1)), np.zeros(5, int))
    'binary'
    """
    if isinstance(truth, LabelSets):
        return "labels"
    return "binary" if S.shape[1] == 1 else "classes"


def as_scores(S: Matrix) -> Doubles:
    """The scores as float64 (n, w) that lie row by row, so that every sum over a row has one order; finite."""
    found = np.ascontiguousarray(S, dtype=np.float64)
    if found.ndim == 1:
        found = found.reshape(-1, 1)
    if found.ndim != 2 or found.shape[1] == 0:
        raise UsageError(f"Scores must have the shape (rows, classes), not {found.shape}.")
    if not np.isfinite(found).all():
        row = int(np.nonzero(~np.isfinite(found).all(axis=1))[0][0])
        raise DataError(f"The scores of row {row} are not finite; train with smaller values or more regularization.")
    return found


def with_truth(S: Matrix, truth: Truth, weights: Doubles | None = None) -> tuple[Doubles, Kind, Doubles]:
    """Check sizes and labels; return the scores, their kind, and a weight for each row (1 by default)."""
    S = as_scores(S)
    kind = kind_of(S, truth)
    heavy = np.ones(len(S)) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(S) == 0 or len(truth) != len(S) or heavy.shape != (len(S),):
        raise UsageError(f"{len(S)} rows of scores do not fit {len(truth)} labels and {len(heavy)} weights.")
    if not (np.isfinite(heavy).all() and (heavy >= 0).all() and heavy.any()):
        raise UsageError("Weights must be finite and not negative, and not all zero.")
    named = truth.labels if isinstance(truth, LabelSets) else np.asarray(truth)
    if named.dtype.kind not in "iu" or (len(named) and not 0 <= named.min() <= named.max() < classes(kind, S)):
        raise UsageError(f"The truth must be class indices from 0 to {classes(kind, S) - 1}.")
    return S, kind, heavy


def classes(kind: Kind, S: Doubles) -> int:
    """The number of classes or labels."""
    return 2 if kind == "binary" else S.shape[1]


def columns(truth: Truth, kind: Kind, start: int, stop: int) -> Bools:
    """Which rows belong to the classes of the columns `start` to `stop` of the scores (n, stop - start)."""
    if isinstance(truth, LabelSets):
        found = np.zeros((len(truth), stop - start), bool)
        asked = (truth.labels >= start) & (truth.labels < stop)
        rows = np.repeat(np.arange(len(truth)), np.diff(truth.offsets))[asked]
        found[rows, truth.labels[asked] - start] = True
        return found
    which = np.ones(1, int) if kind == "binary" else np.arange(start, stop)
    return np.asarray(truth)[:, None] == which


def blocks(S: Doubles) -> Iterator[tuple[int, int]]:
    """Ranges of columns, few enough at a time that the memory beside the scores stays bounded."""
    step = max(1, BLOCK // max(1, len(S)))
    for start in range(0, S.shape[1], step):
        yield start, min(start + step, S.shape[1])


def sample(n: int, most: int) -> Bools | slice:
    """At most about `most` of n rows, spread evenly whatever the order of the rows: multiples of the golden ratio.

    >>> int(sample(1000, 100).sum())
    100
    """
    if n <= most:
        return slice(None)
    return (np.arange(n) * GOLDEN) % 1.0 < most / n


def thinned(S: Doubles, truth: Truth, weights: Doubles) -> tuple[Doubles, Truth, Doubles, float]:
    """Enough of the rows to learn one or two parameters, and their effective number of rows."""
    rows = sample(len(S), max(1000, BLOCK // S.shape[1]))
    weights = weights[rows]
    return S[rows], truth[rows], weights, float(weights.sum() ** 2 / np.square(weights).sum())


def softmax(L: Doubles) -> Doubles:
    """exp(L) over its sum in each row, for any finite L.

    >>> softmax(np.array([[0.0, 0.0], [1e300, -1e300]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    with np.errstate(over="ignore"):  # a difference too large for a float gives probability 0
        E = np.exp(L - L.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


def shared_chances(S: Doubles, curve: tuple[float, float]) -> Doubles:
    """1 / (1 + e^-(s/T + b)) of each score, for the curve (T, b), up to a factor in each row that no float is beyond.

    With b of minus infinity what is left is e^(s/T), of which the largest in each row is 1.

    >>> shared_chances(np.array([[2.0, 0.0], [-1e9, -1e9]]), (1.0, 0.0)).round(3).tolist()
    [[0.881, 0.5], [1.0, 1.0]]
    """
    T, b = curve
    top = S.max(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        high = top / T + b if b > -np.inf else np.full_like(top, b)
        E = np.exp((S - top) / T)
        chances: Doubles = E / (1.0 + np.exp(np.minimum(high, 0.0)) * E)
        sure = high[:, 0] > 0
        if sure.any():  # e^(s/T) itself would overflow
            chances[sure] = sigmoid(S[sure] / T + b)
    return chances


def normalized(kind: Kind, P: Doubles) -> Doubles:
    """One-vs-rest probabilities of each column, normalized (n, k); one column gets its complement."""
    if kind == "binary":
        return np.hstack([1.0 - P, P])
    if kind == "labels":
        return P
    return P / P.sum(axis=1, keepdims=True)


def uncalibrated(kind: Kind, S: Doubles) -> Doubles:
    """The softmax of the scores, for labels the sigmoid of each."""
    if kind == "labels":
        return sigmoid(S)
    return softmax(np.hstack([np.zeros_like(S), S]) if kind == "binary" else S)


def stored_kind(manifest: dict[str, Json]) -> Kind:
    """The kind of scores that a manifest names."""
    for kind in KINDS:
        if manifest.get("scores") == kind:
            return kind
    raise damaged(f"{manifest.get('kind')!r} is for scores of kind {manifest.get('scores')!r}")


def fitting(kind: Kind, S: Matrix, width: int) -> Doubles:
    """The scores as `as_scores` gives them; those with another number of classes than in training are refused."""
    found = as_scores(S)
    if found.shape[1] != width or (kind == "binary") != (width == 1 and kind != "labels"):
        raise UsageError(f"The decision was learned for scores of width {width}, not {found.shape[1]}.")
    return found


def expected_costs(P: Doubles, costs: Matrix) -> Doubles:
    """The expected cost of each prediction (n, k): sum over y of P(y) l(y', y).

    >>> expected_costs(np.array([[0.7, 0.3]]), [[0, 5], [1, 0]]).round(2).tolist()
    [[1.5, 0.7]]
    """
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (P.shape[1], P.shape[1]):
        raise UsageError(
            f"costs is {matrix.shape}, but there are {P.shape[1]} classes; give a square matrix of that size."
        )
    return P @ matrix.T


def cheapest(P: Doubles, costs: Matrix) -> NDArray[np.intp]:
    """The prediction with the lowest expected cost; among equals, the lowest class index.

    >>> cheapest(np.array([[0.7, 0.3]]), [[0, 5], [1, 0]]).tolist()
    [1]
    """
    return np.argmin(expected_costs(P, costs), axis=1)


def check_share(name: str, value: float, whole: bool = False) -> None:
    """Refuse a value that does not lie between 0 and 1, or is 1 where the whole is not allowed."""
    expect(name, value, float)
    if not (0 < value < 1 or (whole and value == 1)):
        raise UsageError(f"{name} must lie between 0 and 1, not {value}.")
