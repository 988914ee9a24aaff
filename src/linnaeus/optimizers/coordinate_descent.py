"""Coordinate descent with working sets, for L1 and the elastic net.

Each score column is a separate problem: min over w, b of sum_i phi_i(x_i w + b) + l1 ||w||_1 + l2/2 ||w||^2. It takes
proximal Newton steps (newGLMNET: Yuan, Ho and Lin 2012) on a working set of columns, to which it adds the columns that
violate the optimality conditions most (Massias, Gramfort and Salmon 2018; skglm: Bertrand et al. 2022).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.arrays.csr import CSR, transpose, vstack
from linnaeus.frozen import dataclass
from linnaeus.optimizers.requirements import has_costs, single_rows
from linnaeus.protocols import LossShape, NewtonLoss, OracleLoss, ScalarForm, SeparablePenalty, ability, capability, has
from linnaeus.types import Arrays, Doubles, Ints, Params, Start, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.erm.objective import Objective

NEAR = 1e-6
"""For arguments closer to zero the second derivative replaces the secant, which would be dominated by rounding."""


@dataclass(frozen=True)
class RowLoss:
    """The loss of one column of scores z (n,).

    The argument of the loss is m = sign z + offset: for margins, the sign is that of the label and the offset is 0; for
    residuals, the sign is 1 and the offset is -y. Rows with sign 0 are ignored.
    """

    loss: ScalarForm
    sign: Doubles
    offset: Doubles
    weights: Doubles

    def value(self, z: Doubles) -> float:
        """The sum of the losses."""
        return inner(self.weights, self.loss.value(self.sign * z + self.offset))

    def slope(self, z: Doubles) -> Doubles:
        """The derivative of each row's loss in its score."""
        return self.weights * self.sign * self.loss.slope(self.sign * z + self.offset)

    def curve(self, z: Doubles) -> Doubles:
        """The second derivative."""
        return self.weights * self.loss.curve(self.sign * z + self.offset)

    def model(self, z: Doubles) -> tuple[Doubles, Doubles]:
        """The slope, and a curvature that is at least the second derivative, so that steps do not overshoot.

        A loss that is nearly linear far from zero has almost no curvature there, and a Newton step would be far too
        long. On the wrong side (m < 0, or any residual) the curvature is the secant of the slope between m and -m: for
        the logistic loss this is the bound of Jaakkola and Jordan (2000), for the Huber loss the weight of iteratively
        reweighted least squares. On the right side it is the second derivative, so that the last steps are Newton's.
        """
        m = self.sign * z + self.offset
        slope, curve = self.loss.slope(m), np.array(self.loss.curve(m))
        far = np.flatnonzero(m < -NEAR) if self.loss.decreasing else np.flatnonzero(np.abs(m) > NEAR)
        if len(far):
            there = m[far]
            secant = (slope[far] - self.loss.slope(-there)) / (2.0 * there)
            curve[far] = np.maximum(curve[far], secant)
        return self.weights * self.sign * slope, self.weights * np.abs(self.sign) * curve

    def conjugate(self, alpha: Doubles) -> float | None:
        """sum_i phi_i*(alpha_i) for slopes alpha between 0 and those of the losses; None if it is not known."""
        used = (self.weights > 0) & (self.sign != 0)
        a = self.sign[used] * alpha[used]
        found = self.loss.conjugate(a / self.weights[used])
        return None if found is None else inner(self.weights[used], found) - inner(a, self.offset[used])


def inner(a: Doubles, b: Doubles) -> float:
    """The inner product without BLAS, whose result may depend on the number of threads.

    >>> inner(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(np.einsum("i,i->", a, b))


SMALLEST_SET = 3000
"""The smallest limit of a working set; the limit is at least twice the number of columns in use."""
STEPS = 8
"""The largest number of Newton steps in one iteration, before all columns are checked again."""
MOST_PASSES = 20
"""The largest number of passes of descent in one Newton step; the first step makes two, because its model is poor."""
REST = 0.1
"""A Newton step ends when the slopes have fallen to this share of the first ones."""
SETTLED = 0.3
"""An iteration ends when the slopes on the working set have fallen to this share of the largest violation."""


@dataclass
class Problem:
    """One problem on the columns of a matrix (d, n) that all problems share: `look`, `judge` and `advance` take turns.

    It has weights w (d,), a bias b (0 or 1 numbers), the number of passes of the next step, and the best lower bound so
    far.
    """

    columns: CSR
    phi: RowLoss
    l1: float
    l2: float
    w: Doubles
    b: Doubles
    passes: float = 2.0
    bound: float = -np.inf
    z: Doubles = field(init=False)
    alpha: Doubles = field(init=False)
    used: NDArray[np.intp] = field(init=False)
    gradient: Doubles = field(init=False)
    violation: float = field(init=False, default=np.inf)
    value: float = field(init=False, default=np.inf)

    def look(self) -> None:
        """Compute scores, value and the dual point at the current weights.

        They are computed from scratch, so that a resumed problem has identical results.
        """
        self.used = np.flatnonzero(self.w)
        weights = self.w[self.used]
        self.z = np.empty(self.columns.width)
        kernels.combine(self.columns.arrays, self.used.astype(np.int32), weights, self.z)
        if len(self.b):
            self.b[0] = level(self.phi, self.z, float(self.b[0]))
            self.z += self.b[0]
        self.value = self.phi.value(self.z) + self._penalty(weights)
        slope = self.phi.slope(self.z)
        self.alpha = balance(slope) if len(self.b) else slope

    def judge(self, gradient: Doubles) -> None:
        """Compute the largest violation of the optimality conditions, and the lower bound, from X.T alpha."""
        self.gradient = gradient
        w = self.w[self.used]
        inside = np.abs(gradient[self.used] + self.l2 * w + self.l1 * np.sign(w))
        steepest = float(np.abs(gradient).max(initial=0.0))
        self.violation = max(steepest - self.l1, float(inside.max(initial=0.0)), 0.0)
        self.bound = max(self.bound, self._bound(steepest))

    @property
    def gap(self) -> float | None:
        """A certified bound on the distance from the optimum; None if the conjugate of the loss is not known."""
        return max(0.0, self.value - self.bound) if np.isfinite(self.bound) else None

    def _penalty(self, weights: Doubles) -> float:
        return self.l1 * float(np.abs(weights).sum()) + 0.5 * self.l2 * inner(weights, weights)

    def _bound(self, steepest: float) -> float:
        """The dual value -sum phi*(alpha) - R*(-X.T alpha), with alpha scaled down until it is feasible."""
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
        """The columns in use, and the others with the largest violations; equal ones by column number."""
        used = self.used
        steep = np.flatnonzero(np.abs(self.gradient) > self.l1)
        steep = steep[self.w[steep] == 0]
        room = max(SMALLEST_SET - len(used), len(used))
        if room < len(steep):
            order = np.argsort(-np.abs(self.gradient[steep]), kind="stable")
            steep = steep[order[:room]]
        return np.sort(np.concatenate([used, steep])).astype(np.int32)

    def advance(self) -> None:
        """Take Newton steps on a working set until its slopes are small."""
        worst, picked = self.violation, self.working_set()
        weights = self.w[picked]
        # Summed in the order of the set, like all values it is compared with.
        self.value = self.phi.value(self.z) + self._penalty(weights)
        for _ in range(STEPS):
            first, moved = self._step(picked, weights)
            self.passes = min(1.5 * self.passes, MOST_PASSES)
            if not moved or first <= SETTLED * worst:
                break
        self.w[picked] = weights

    def _step(self, picked: Ints, weights: Doubles) -> tuple[float, bool]:
        """Take one Newton step. Returns the largest slope before it, and whether the weights changed."""
        slope, curve = self.phi.model(self.z)
        after, b, moved = weights.copy(), self.b.copy(), np.empty_like(self.z)
        limits = int(self.passes), REST
        there, penalty = (after, b, moved), (self.l1, self.l2)
        first, _, _ = kernels.descend(self.columns.arrays, picked, (slope, curve), there, penalty, limits)
        change = after - weights
        promise = inner(slope, moved) + self._penalty(after) - self._penalty(weights)
        part = self._search(weights, change, moved, promise)
        weights += part * change
        if part == 1.0:
            weights[:] = after  # exact zeros stay exact
        self.b += part * (b - self.b)
        return first, part > 0.0

    def _search(self, weights: Doubles, change: Doubles, moved: Doubles, promise: float) -> float:
        """Halve the step until it achieves 1 % of the predicted decrease; 0 if only rounding is left to gain."""
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
    """The bias that minimizes sum phi_i(z_i + b), by Newton steps; an optimal bias is returned unchanged."""
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


LEFT = 0.1
"""A problem whose gap is below this share of the mean gap pauses."""


@dataclass(frozen=True)
class CoordinateDescent:
    """Coordinate descent for L1 and elastic net, with working sets, proximal Newton steps and a certified gap.

    For losses with a second derivative, in output spaces with independent score columns: binary, one-vs-rest,
    one-vs-one, multi-label, real. An epoch is one working set. Memory: a transposed copy of the matrix, and per score
    column four numbers for each row and two for each feature.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="logistic", optimizer=CoordinateDescent(), regularizer="l1").fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    def refuse(self, objective: Objective) -> str | None:
        """Refuse losses that are not smooth, joint output spaces, and penalties on groups of weights."""
        loss, penalty = type(objective.loss).__name__, type(objective.regularizer).__name__
        shape, scalar = capability(objective.loss, LossShape), capability(objective.loss, ScalarForm)
        if not has(objective.regularizer, SeparablePenalty):
            return f"CoordinateDescent takes penalties on single weights, not {penalty}."
        curved = has(objective.loss, NewtonLoss) and scalar is not None
        if not curved or (shape is not None and not shape.convex):
            return f"CoordinateDescent needs a convex loss with a second derivative, which {loss} is not."
        if not single_rows(objective) or not _separable(objective):
            space = type(objective.space).__name__
            return f"CoordinateDescent needs independent scores, but {space} combines them."
        if has(objective.loss, OracleLoss) and has_costs(objective):
            return f"CoordinateDescent takes the {loss} loss without costs."
        return None

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Minimize until no weight changes, or `report` raises."""
        threads = kernels.thread_count()
        problems = _problems(objective, start)
        with ThreadPoolExecutor(min(threads, len(problems))) as pool:
            team = _Team(problems, pool, threads)
            team.look(problems)
            epoch, best = start.epoch, np.inf
            while team.value < best:
                epoch, best = epoch + 1, team.value
                team.advance()
                report(team.step(epoch, objective))


@dataclass
class _Team:
    """Problems that are solved in parallel."""

    problems: Sequence[Problem]
    pool: ThreadPoolExecutor
    threads: int

    @property
    def value(self) -> float:
        return sum(problem.value for problem in self.problems)

    def look(self, problems: Sequence[Problem]) -> None:
        """Each problem runs in a thread; the gradients of all are computed in one pass over the matrix."""
        list(self.pool.map(Problem.look, problems))
        slopes, columns = [problem.alpha for problem in problems], problems[0].columns.arrays
        if len(self.problems) == 1:
            gradients = kernels.correlate(columns, slopes[0], self.threads)[None]
        else:
            block = np.stack(slopes, axis=1).ravel()
            gradients = kernels.correlate_block(columns, block, len(slopes), self.threads).reshape(len(slopes), -1)
        list(self.pool.map(Problem.judge, problems, gradients))

    def advance(self) -> None:
        """Run an iteration of every problem that is not far ahead of the others."""
        late = self._late()
        list(self.pool.map(Problem.advance, late))
        self.look(late)

    def _late(self) -> list[Problem]:
        left = [problem.violation if problem.gap is None else problem.gap for problem in self.problems]
        mean = sum(left) / len(left)
        return [problem for problem, own in zip(self.problems, left, strict=True) if own >= LEFT * mean]

    def step(self, epoch: int, objective: Objective) -> Step:
        """The report: values and gaps are sums over problems, the gradient is the largest violation."""
        gaps = [problem.gap for problem in self.problems]
        gap = None if None in gaps else float(sum(g for g in gaps if g is not None))
        worst = max(problem.violation for problem in self.problems)
        return Step(epoch, lambda: self.params(objective), self.state, value=self.value, gap=gap, gradient=worst)

    def params(self, objective: Objective) -> Params:
        """W (d, w) and b (w,), copied."""
        d = objective.X.shape[1]
        params: Params = {"W": np.stack([problem.w[:d] for problem in self.problems], axis=1)}
        if objective.bias == "free":
            params["b"] = np.concatenate([problem.b for problem in self.problems])
        elif objective.bias == "regularized":
            params["b"] = np.array([problem.w[d] for problem in self.problems])
        return params

    def state(self) -> Arrays:
        """The numbers besides the parameters on which the next iteration depends."""
        return {
            "passes": np.array([problem.passes for problem in self.problems]),
            "bound": np.array([problem.bound for problem in self.problems]),
        }


def _problems(objective: Objective, start: Start) -> list[Problem]:
    """One problem for each score column, at the parameters of the start."""
    W, b = start.params["W"], start.params.get("b")
    loss, penalty = ability(objective.loss, ScalarForm), ability(objective.regularizer, SeparablePenalty)
    seen = loss.view(objective.space, np.zeros((len(objective.weights), W.shape[1])), objective.y)
    signs = seen.push(np.ones_like(seen.values))
    columns = transpose(objective.X.to_csr())
    if objective.bias == "regularized":  # a last column of ones
        n = columns.width
        ones = CSR(np.array([0, n]), np.arange(n, dtype=np.int32), np.ones(n, columns.data.dtype), n)
        columns = vstack([columns, ones])
    problems = []
    for j in range(W.shape[1]):
        w, free = W[:, j].astype(np.float64), np.zeros(0)
        if objective.bias == "free" and b is not None:
            free = b[j : j + 1].astype(np.float64)
        elif b is not None:
            w = np.append(w, b[j])
        phi = RowLoss(loss, signs[:, j].copy(), seen.values[:, j].copy(), objective.weights * seen.stakes[:, j])
        problem = Problem(columns, phi, penalty.l1, penalty.l2, w, free)
        if "passes" in start.state:
            problem.passes, problem.bound = float(start.state["passes"][j]), float(start.state["bound"][j])
        problems.append(problem)
    return problems


def _separable(objective: Objective) -> bool:
    """Whether the loss has one argument for each score."""
    width, loss = objective.width, ability(objective.loss, ScalarForm)
    try:
        seen = loss.view(objective.space, np.zeros((1, width)), objective.y[:1])
    except ValueError:
        return False
    return bool(seen.values.shape[1] == width)
