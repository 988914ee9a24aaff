"""Linear separability with a certificate, margin, radius, and the mistake bound of the perceptron.

The hard-margin problem `min 1/2 |u|^2` with `A u >= 1`, a row of A for each inequality, has the dual `max sum(alpha) -
1/2 |A' alpha|^2` over `alpha >= 0`. A vector u with `A u > 0` has the margin `min(A u) / |u|`; all convex weights p
give `margin <= |A' p|`. Dual coordinate ascent (Hsieh et al. 2008) closes the gap: it solves a binary problem whose
rows are all positive, with costs so high that no slack is used.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from linnaeus.arrays import CSR, as_rows
from linnaeus.arrays.numerics import refuse_overflow, single_blas
from linnaeus.erm.objective import Objective
from linnaeus.erm.pieces import piece, refuse_unfit
from linnaeus.erm.train import Enough, Stop, Watch, train
from linnaeus.errors import DataError, UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.losses import Perceptron
from linnaeus.optimizers import SGD
from linnaeus.optimizers.dual import Binaries, Progress, Settings, solve_binaries
from linnaeus.outputs import Binary, Multiclass, MultiLabel
from linnaeus.protocols import JointSpace, OutputSpace, ProductSpace, ability, has
from linnaeus.regularizers import NoPenalty
from linnaeus.types import Array, Doubles, Ints, Label, LabelSets, Matrix, Params, Piece, Truth

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from linnaeus.arrays.labels import Labels


@dataclass(frozen=True)
class Constraints:
    """Inequality c: the score `up[c]` minus the score `down[c]` (-1: none), times `sign[c]`, of example `rows[c]` > 0.

    `factor` times radius^2 / margin^2 bounds the mistakes of a perceptron (Novikoff 1962): 1 for binaries, where a
    mistake moves one weight vector, and 2 for joint classes, where it moves two.
    """

    features: csr_matrix  # (n, d or d + 1), the constant of the bias included
    rows: Ints
    up: Ints
    down: Ints
    sign: Doubles
    width: int
    bias: bool
    factor: float

    @property
    def radius(self) -> float:
        """The largest Euclidean norm of an example."""
        return float(np.sqrt(_squares(self.features).max(initial=0.0)))

    @property
    def shortest(self) -> float:
        """The smallest norm of an inequality over all weights, an upper bound of the margin."""
        twice = np.where(self.down >= 0, 2.0, 1.0)
        return float(np.sqrt((twice * _squares(self.features)[self.rows]).min(initial=np.inf)))

    @property
    def entries(self) -> int:
        """An upper bound of the number of entries of `matrix`."""
        sizes = np.diff(self.features.indptr)[self.rows]
        return int((np.where(self.down >= 0, 2, 1) * sizes).sum())

    def margins(self, params: Params) -> Doubles:
        """The slack of each inequality; positive if it holds."""
        S = self.features @ self._stacked(params)
        lower = np.where(self.down >= 0, S[self.rows, np.maximum(self.down, 0)], 0.0)
        return self.sign * (S[self.rows, self.up] - lower)

    def matrix(self) -> csr_matrix:
        """The inequalities as rows over all weights, class after class."""
        from scipy.sparse import csr_matrix, diags

        chosen = diags(self.sign) @ self.features[self.rows]
        n, d = chosen.shape
        coo = chosen.tocoo()
        up = csr_matrix((coo.data, (coo.row, coo.col + d * self.up[coo.row])), shape=(n, d * self.width))
        below = self.down[coo.row] >= 0
        at = (coo.row[below], coo.col[below] + d * self.down[coo.row][below])
        down = csr_matrix((coo.data[below], at), shape=(n, d * self.width))
        return up - down

    def pack(self, params: Params) -> Doubles:
        """Named parameters as a vector over all weights, in the order of `matrix`."""
        return np.ascontiguousarray(self._stacked(params).T, dtype=np.float64).reshape(-1)

    def _stacked(self, params: Params) -> Doubles:
        return np.vstack([params["W"], params["b"][None, :]]) if self.bias else params["W"]

    def unpack(self, u: Doubles) -> Params:
        """A vector over all weights as named parameters."""
        U = u.reshape(self.width, -1).T.copy()
        return {"W": U[:-1], "b": U[-1]} if self.bias else {"W": U}


def _squares(A: csr_matrix) -> Doubles:
    """The squared norm of each row."""
    return np.asarray(A.multiply(A).sum(axis=1)).ravel()


def constraints(objective: Objective) -> Constraints:
    """The inequalities of this objective's data and output space."""
    from scipy.sparse import csr_matrix, hstack

    X = objective.X.to_csr().to_scipy().astype(np.float64)
    bias = objective.bias != "none"
    features = hstack([X, csr_matrix(np.ones((X.shape[0], 1)))], format="csr") if bias else csr_matrix(X)
    n, w = X.shape[0], objective.width
    if has(objective.space, JointSpace):
        truth = np.asarray(objective.y)
        rows, others = np.repeat(np.arange(n), w), np.tile(np.arange(w), n)
        wrong = others != truth[rows]
        rows, others = rows[wrong].astype(np.int32), others[wrong].astype(np.int32)
        return Constraints(features, rows, truth[rows].astype(np.int32), others, np.ones(len(rows)), w, bias, 2.0)
    signs = ability(objective.space, ProductSpace).signs(objective.y, w)
    at, part = (index.astype(np.int32) for index in np.nonzero(signs))
    none = np.full(len(at), -1, np.int32)
    return Constraints(features, at, part, none, signs[at, part], w, bias, 1.0)


def examined(
    X: Matrix, y: Iterable[Label], space: OutputSpace | str, k: int | None, bias: Literal["free", "none"]
) -> Objective:
    """The perceptron's objective on these data: its loss is zero if every example is classified correctly."""
    if bias not in ("free", "none"):
        raise UsageError(f"bias takes 'free' or 'none', not {bias!r}.")
    rows = as_rows(X, who="separability")
    rows = rows if isinstance(rows, CSR) else rows.to_csr()
    refuse_overflow("X", rows.data[: rows.nnz], "features")
    truth, classes = _truth(y, k)
    if len(truth) != len(rows):
        raise DataError(f"X has {len(rows)} rows, but y has {len(truth)}; give one label for each row.")
    output = _space(space, isinstance(truth, LabelSets), classes)
    output.width(classes)
    return Objective(rows, truth, output, Perceptron(), NoPenalty(), np.ones(len(rows)), classes, bias)


def _truth(y: Iterable[Label], k: int | None) -> tuple[Truth, int]:
    """Class indices or label sets, and the number of classes."""
    from linnaeus.arrays.labels import encode, refuse_one_class

    if k is not None:
        expect("k", k, int)
    if isinstance(y, LabelSets):
        return _indices(y, y.labels, int(y.labels.max(initial=0)) + 1 if k is None else k)
    labels = encode(y)
    if k is None:
        if not labels.sets:
            refuse_one_class(labels.classes)
        return labels.y, len(labels.classes)
    return _numbered(labels, k)


def _numbered(labels: Labels, k: int) -> tuple[Truth, int]:
    """The labels themselves as indices; those of an indicator matrix are its columns."""
    if labels.classes.dtype.kind not in "biu":
        raise UsageError(f"k={k} needs class indices from 0 to {k - 1}; leave k out for other labels.")
    if labels.sets:
        labels_of = LabelSets(labels.y.offsets, labels.classes[labels.y.labels].astype(np.int32))
        return _indices(labels_of, labels.classes, k)
    return _indices(labels.classes[labels.y].astype(np.int32), labels.classes, k)


def _indices(truth: Truth, used: Array, k: int) -> tuple[Truth, int]:
    """Refuse class indices outside 0 to k - 1."""
    if len(used) and not 0 <= int(used.min()) <= int(used.max()) < k:
        raise UsageError(f"k={k} classes have the indices 0 to {k - 1}, but y goes from {used.min()} to {used.max()}.")
    return truth, k


def _space(space: Piece, sets: bool, k: int) -> Piece:
    """The output space with this name, if it fits the labels."""
    if isinstance(space, str) and space == "auto":
        return MultiLabel() if sets else Binary() if k == 2 else Multiclass()
    found = piece("output", space)
    refuse_unfit(found, sets)
    return found


SAME = 1.1
"""The margin and its upper bound are shown as one number if their ratio is at most this."""

MAX_ENTRIES = 20_000_000
"""Most entries of the inequalities for which the widest margin is computed: 240 MB."""


@dataclass(frozen=True)
class Separability:
    """Whether the data are linearly separable, with a certificate.

    `verdict` is "separable", "not separable" or "undecided". If separable, `params` classifies every example correctly
    with `margin`, where the vector of all weights has norm one, and no weights have a margin above `widest`. If not
    separable, the convex combination of the constraints with `weights` is zero, which proves that no separating weights
    exist; `constraint_rows` has the example of each constraint. `radius` is the largest norm of an example, including
    the constant feature of the bias. `bound` is an upper bound of the mistakes of a perceptron on these data, over all
    epochs.

    >>> import numpy as np
    >>> from linnaeus.erm import separability
    >>> separability(np.array([[0.0], [1.0]]), ["no", "yes"]).verdict
    'separable'
    """

    verdict: Literal["separable", "not separable", "undecided"]
    radius: float
    params: Params | None = None
    margin: float | None = None
    bound: float | None = None
    widest: float | None = None
    weights: Doubles | None = None
    constraint_rows: Ints | None = None

    def sentence(self) -> str:
        """The result as a sentence."""
        if self.verdict == "separable":
            assert self.margin is not None
            assert self.widest is not None
            close = self.widest <= SAME * self.margin
            margin = f"{self.margin:.3g}" if close else f"at least {self.margin:.3g} and at most {self.widest:.3g}"
            return (
                f"The data are linearly separable with a margin of {margin} at radius {self.radius:.3g}: a perceptron "
                f"makes at most {self.bound:.0f} mistakes."
            )
        if self.verdict == "not separable":
            return "The data are not linearly separable: no weights classify all examples correctly."
        return "The time limit ended before it was known whether the data are linearly separable; allow more seconds."


def separability(
    X: Matrix,
    y: Iterable[Label],
    space: OutputSpace | str = "auto",
    k: int | None = None,
    bias: Literal["free", "none"] = "free",
    seconds: float = 10.0,
) -> Separability:
    """Decide whether the data are linearly separable in this output space, with a certificate in both cases.

    X is any matrix and y any labels that a classifier takes; `space` is an output space or its name; "auto" is
    binary for two classes, multiclass for more, multilabel for lists of labels and indicator matrices. With `k`, y
    holds class indices from 0 to k - 1.

    First a perceptron is trained: an epoch without mistakes proves that the data are separable. Otherwise a linear
    program (HiGHS) minimizes the violations of the margin: its minimum is zero exactly for separable data, and if it is
    not, its dual solution proves that the data are not separable. For separable data the hard-margin problem is then
    solved in the remaining time; `margin` and `widest` differ by at most 1 % if the time was sufficient.

    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> separability(corners, ["no", "no", "no", "yes"]).verdict  # AND
    'separable'
    >>> separability(corners, ["no", "yes", "yes", "no"]).verdict  # XOR
    'not separable'
    """
    began = time.perf_counter()
    expect("seconds", seconds, float, 0)
    objective = examined(X, y, space, k, bias)
    stop = Stop(epochs=1000, mistakes=0.0, seconds=seconds / 2)
    fit = train(objective, SGD(rate=1.0), Watch(stop))
    needs = constraints(objective)
    found = _separable(needs, fit.params)
    if found is None:
        found = _by_program(needs, max(0.0, seconds - (time.perf_counter() - began)))
    if found.verdict != "separable":
        return found
    return _widened(found, needs, max(0.0, seconds - (time.perf_counter() - began)))


def _widened(found: Separability, needs: Constraints, seconds: float) -> Separability:
    """The same result with the widest margin, if the inequalities fit into memory."""
    assert found.params is not None
    if needs.entries > MAX_ENTRIES:
        return found
    wide = widest_margin(needs.matrix(), needs.pack(found.params), seconds)
    better = _separable(needs, needs.unpack(wide.separator)) or found
    assert better.margin is not None
    return replace(better, widest=max(wide.most, better.margin))


def _separable(needs: Constraints, params: Params) -> Separability | None:
    """The verdict if these parameters satisfy every constraint strictly; else None."""
    length = np.sqrt(sum(float(np.vdot(p, p)) for p in params.values()))
    slack = needs.margins(params)
    if length == 0 or not (slack.min() > 1e-12 * length * max(needs.radius, 1e-300)):
        return None
    margin = float(slack.min() / length)
    bound = needs.factor * needs.radius**2 / margin**2
    return Separability("separable", needs.radius, params, margin, bound, needs.shortest)


def _by_program(needs: Constraints, seconds: float) -> Separability:
    """Min sum of violations v >= 0 with A u + v >= 1: zero for separable data; else the dual solution is the proof."""
    from scipy.optimize import linprog
    from scipy.sparse import hstack, identity

    A = needs.matrix()
    rows, columns = A.shape
    table = hstack([-A, -identity(rows, format="csr")], format="csr")
    cost = np.concatenate([np.zeros(columns), np.ones(rows)])
    bounds = [(None, None)] * columns + [(0, None)] * rows
    done = linprog(
        cost, A_ub=table, b_ub=-np.ones(rows), bounds=bounds, method="highs", options={"time_limit": max(seconds, 0.01)}
    )
    if done.status != 0 or done.x is None:
        return Separability("undecided", needs.radius)
    found = _separable(needs, needs.unpack(done.x[:columns]))
    if found is not None:
        return found
    duals = np.maximum(0.0, -done.ineqlin.marginals)
    total = duals.sum()
    if total <= 0 or np.abs(A.T @ (duals / total)).max() > 1e-7 * max(needs.radius, 1.0):
        return Separability("undecided", needs.radius)
    return Separability("not separable", needs.radius, weights=duals / total, constraint_rows=needs.rows)


CLOSE = 0.99
"""The margin found is at least this share of the widest margin."""

EPOCHS = 100_000


@dataclass(frozen=True)
class Margin:
    """A vector over all weights with margin `least`, and `most`, an upper bound of every margin."""

    separator: Doubles
    least: float
    most: float


def widest_margin(A: csr_matrix, separator: Doubles, seconds: float) -> Margin:
    """The widest margin of the inequalities `A u > 0`, to 1 %, or as near as the time limit allows.

    `separator` is some u that satisfies them all.

    >>> from scipy.sparse import csr_matrix
    >>> found = widest_margin(csr_matrix([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.1]), 1.0)
    >>> round(found.least, 2), round(found.most, 2)
    (0.71, 0.71)
    """
    deadline, due = time.perf_counter() + seconds, 1
    scale = float(np.sqrt(_squares(A).max()))
    A = A.multiply(1.0 / scale).tocsr()
    best = Margin(separator, _margin(A, separator), float(np.sqrt(_squares(A).min())))
    problem = Binaries(
        X=CSR(A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data.astype(np.float64), A.shape[1]),
        costs=np.full(A.shape[0], 1.0 / best.least**2),  # the duals of the optimum sum up to 1 / margin^2
        count=1,
        sides=lambda which: [(np.arange(A.shape[0], dtype=np.int32), np.zeros(0, np.int32)) for _ in which],
    )

    def look(progress: Progress) -> None:
        """Compute margin and bound, at first after each epoch, later less often, as it costs as much as an epoch."""
        nonlocal best, due
        over = time.perf_counter() >= deadline
        if progress.epoch >= due or over:
            due = progress.epoch + 1 + progress.epoch // 10
            best = _improved(best, A, progress.state()["alpha"])
        if over or best.least >= CLOSE * best.most:
            raise Enough

    with single_blas(), suppress(Enough):
        solve_binaries(problem, Settings("hinge", "none", 0.0, EPOCHS), look)
    return Margin(best.separator, best.least * scale, max(best.most, best.least) * scale)


def _improved(best: Margin, A: csr_matrix, alpha: Doubles) -> Margin:
    """The better of this margin and that of these dual variables, with the better bound."""
    u, total = A.T @ alpha, float(alpha.sum())
    if not total > 0:
        return best
    least, most = _margin(A, u), min(best.most, float(np.sqrt(u @ u)) / total)
    return Margin(u, least, most) if least > best.least else replace(best, most=most)


def _margin(A: csr_matrix, u: Doubles) -> float:
    length = float(np.sqrt(u @ u))
    return float((A @ u).min()) / length if length else -np.inf
