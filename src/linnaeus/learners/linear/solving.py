"""From the parameters of an estimator and checked data to fitted weights: objective, optimizer, watch, warning.

If the optimizer is "auto", the solver gets an equivalent problem in a better form.

*Canonical*: equal examples become one with the sum of their weights, in a fixed order. The objective is a sum over
examples, so it is the same function. Repeating an example or giving it twice the weight, shuffling the rows, or leaving
out zeros then gives an identical problem, and so an identical model. Above `SMALL` entries, sorting the rows would take
too long.

*Folded*: under an L2 penalty, equal columns have equal weights, and one column can stand for them.

*Centered*: with a free bias, x W + b = (x - m) W + (b + m W), and b is not penalized, so columns can be shifted to mean
zero. Solvers are very slow if columns are far from zero, like years or prices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np

from linnaeus.arrays import CSR, Dense, linear
from linnaeus.arrays.folded import Folded
from linnaeus.arrays.grouped import Grouped
from linnaeus.arrays.numerics import refuse_overflow
from linnaeus.erm import Objective, Stop, Watch
from linnaeus.erm.check import check_loss
from linnaeus.erm.choose import choose_optimizer, mistake_driven, rated, stepwise
from linnaeus.erm.pieces import piece
from linnaeus.erm.progress import listening
from linnaeus.errors import DataError, UsageError, expect, expect_within
from linnaeus.frozen import dataclass
from linnaeus.learners.base import values_of
from linnaeus.learners.early_stopping import check_early_stopping, set_aside
from linnaeus.learners.linear.checkpoint import Owner, train_from
from linnaeus.learners.linear.convergence import warn
from linnaeus.optimizers.shuffle import shuffled
from linnaeus.protocols import Chances, HeldOutSchedule, Loss, NumberSpace, Solver, capability, has
from linnaeus.regularizers import L2
from linnaeus.store.parts import Part, PartsFile
from linnaeus.types import (
    AnyFloats,
    AnyInts,
    Doubles,
    GroupedLesson,
    Ints,
    LabelSets,
    Longs,
    Params,
    Piece,
    Start,
    Truth,
)

if TYPE_CHECKING:
    from types import SimpleNamespace

    from linnaeus.erm import Fit
    from linnaeus.erm.objective import Structured
    from linnaeus.estimators.face import LinearFace
    from linnaeus.learners.linear.learner import Linear

    Spec: TypeAlias = LinearFace | SimpleNamespace

STEPWISE_EPOCHS, PERCEPTRON_EPOCHS, SOLVER_EPOCHS = 20, 100, 5000
"""Default epochs: of stochastic optimizers, of those that stop when there are no mistakes, and of other solvers."""

CANDIDATE_BATCH = 16
"""The number of examples with candidates in a step."""

SMALL = 1 << 15
"""The largest number of rows plus stored values for which a problem is brought into its canonical form."""

FOLDED = 1 << 20
"""The fewest stored values for which equal columns are looked for."""

DENSE = 1 << 22
"""The largest dense matrix of which a centered copy is made, in numbers: 32 MB."""

BIASES: dict[bool | str, Literal["free", "regularized", "none"]] = {
    True: "free",
    False: "none",
    "free": "free",
    "regularized": "regularized",
    "none": "none",
}


@dataclass(frozen=True)
class Problem:
    """Checked data: a matrix, the encoded labels, row weights, the output space and its number of classes.

    `names` gives the names of the columns, for learners that look words up.
    """

    rows: Any
    y: Any
    weights: Doubles
    space: Piece
    k: int
    names: Callable[[], Sequence[str]] | None = None

    def take(self, rows: AnyInts, weights: Doubles | None = None) -> Problem:
        """The same problem on these rows."""
        kept = self.weights[rows] if weights is None else weights
        return replace(self, rows=self.rows.take(rows), y=self.y[rows], weights=kept)

    def part(self, rows: AnyInts, X: CSR | Dense) -> Problem:
        """The same problem on these rows, with other features X."""
        return replace(self, rows=X, y=self.y[rows], weights=self.weights[rows])


def solve(spec: Spec, problem: Problem, start: Params | None = None) -> Fit:
    """Train with the parameters of an estimator; warns if the optimum was not reached."""
    expect("seed", spec.seed, int)
    refuse_large(problem)
    problem, aside = _split(spec, problem)
    folded = fold(spec, problem.rows) if aside is None and start is None else None
    if folded is not None:
        problem = replace(problem, rows=folded.rows)
    objective, optimizer, mean = _prepared(spec, problem)
    if aside is not None and mean is not None:
        aside = replace(aside, rows=_moved(aside.rows, mean))
    if aside is None:
        refuse_following(optimizer)
    stop = stopping(spec, objective.loss, optimizer)
    begin = Start(start or objective.initial(), seed=int(spec.seed), epochs=stop.epochs or 100)
    score = None if aside is None else _held_out(objective, aside)
    place, file = spec.checkpoint, None
    if place is not None and not isinstance(place, Part):  # the name of a file, given by a user
        file = PartsFile(place, Owner(objective, optimizer, begin.seed, aside).digest())
        place = file.part("solver")
    with listening(spec.progress, stop) as listeners:
        fit = train_from(place, objective, optimizer, Watch(stop, score, listeners), begin)
    if file is not None:
        file.done()
    warn(fit, objective, optimizer)
    params: dict[str, AnyFloats] = dict(fit.params if mean is None else _back(fit.params, mean))
    if folded is not None:
        params["W"] = folded.unfolded(params["W"])
    return replace(fit, params=cast("Params", params))


def fold(spec: Spec, rows: CSR | Dense) -> Folded | None:
    """The rows with equal columns as one, where the solver is ours to choose and that makes it faster; else None."""
    large = isinstance(rows, CSR) and rows.nnz >= FOLDED and rows.data.dtype == np.float32
    ours = isinstance(spec.optimizer, str) and spec.optimizer == "auto"
    if not (large and ours and isinstance(piece("regularizer", spec.regularizer), L2)):
        return None
    return Folded.of(rows.to_csr())


def refuse_large(problem: Problem) -> None:
    """Refuse features, targets and weights whose squares overflow."""
    refuse_overflow("X", values_of(problem.rows), "features")
    refuse_overflow("sample_weight", problem.weights, "weights")
    if isinstance(problem.y, np.ndarray) and problem.y.dtype.kind == "f":
        refuse_overflow("y", problem.y, "targets")


def objective_of(spec: Spec, problem: Problem) -> Objective:
    """The objective of the parameters of an estimator: the sum of losses and the penalty."""
    if not isinstance(spec.bias, bool | np.bool_ | str) or spec.bias not in BIASES:
        raise UsageError(f"bias takes 'free' (True), 'regularized' or 'none' (False), not {spec.bias!r}.")
    bias = BIASES[spec.bias]  # type: ignore[index]
    loss, regularizer = piece("loss", spec.loss), piece("regularizer", spec.regularizer)
    check_loss(loss)
    return Objective(problem.rows, problem.y, problem.space, loss, regularizer, problem.weights, problem.k, bias)


def stopping(spec: Spec, loss: Loss, optimizer: Solver) -> Stop:
    """When to stop: at a gap of `tol` of the objective; without gaps, a gradient of tol/100 of that at zero weights."""
    if spec.tol is not None:
        expect("tol", spec.tol, float)
    waits = stepwise(optimizer) and mistake_driven(loss)
    usual = PERCEPTRON_EPOCHS if waits else STEPWISE_EPOCHS if stepwise(optimizer) else SOLVER_EPOCHS
    return Stop(
        epochs=usual if spec.epochs is None else spec.epochs,
        tol=spec.tol,
        gradient=None if spec.tol is None else spec.tol / 100,
        mistakes=0.0 if waits else None,
        patience=spec.patience if spec.held_out else None,
        seconds=spec.seconds,
    )


def refuse_following(optimizer: Solver) -> None:
    """Refuse a schedule that needs held-out scores, because no rows are held out."""
    solver = rated(optimizer)
    if solver is not None and capability(solver.schedule, HeldOutSchedule) is not None:
        raise UsageError("The held-out schedule follows the score of held-out rows; use fit and held_out, such as 0.1.")


def _prepared(spec: Spec, problem: Problem) -> tuple[Objective, Solver, Doubles | None]:
    """Objective, optimizer, and the mean row if columns were centered.

    A given optimizer gets the rows unchanged. With "auto" it gets an easier problem; columns are not centered for
    stochastic optimizers, which would gain nothing.
    """
    objective = objective_of(spec, problem)
    if not (isinstance(spec.optimizer, str) and spec.optimizer == "auto"):
        return objective, piece("optimizer", spec.optimizer), None
    optimizer, mean = choose_optimizer(objective, spec.tol), None
    if small(problem.rows):
        problem = problem.take(*canonical(problem.rows, problem.y, problem.weights))
    centers = objective.bias == "free" and not stepwise(optimizer)
    better = centered(problem.rows, problem.weights) if centers else None
    if better is not None:
        problem, mean = replace(problem, rows=better[0]), better[1]
    return objective_of(spec, problem), optimizer, mean


def _moved(rows: CSR | Dense, mean: Doubles) -> Dense:
    """The rows minus the mean row."""
    values = rows.to_scipy().toarray() if isinstance(rows, CSR) else rows.values
    return Dense(values - mean)


def _back(params: Params, mean: Doubles) -> Params:
    """The parameters for the original rows; the bias corrects for the rounding of the stored weights."""
    with np.errstate(over="ignore", invalid="ignore"):  # `stored` refuses what is not finite
        W = params["W"].astype(np.float32).astype(np.float64)
        return {"W": params["W"], "b": params["b"] - mean @ W}


def _split(spec: Spec, problem: Problem) -> tuple[Problem, Problem | None]:
    """The rows to learn from, and those held out: a share of all, chosen by the seed."""
    expect_within("held_out", spec.held_out, float, "[0, 1)")
    if not spec.held_out:
        return problem, None
    n = problem.rows.shape[0]
    count = round(n * spec.held_out)
    if not 0 < count < n:
        raise DataError(f"held_out={spec.held_out} of {n} rows leaves nothing on one side; give more rows.")
    kept, aside = _class_by_class(problem, shuffled(n, spec.seed, 0), count)
    if not len(aside):
        raise DataError(f"held_out={spec.held_out} of {n} rows would take all of a class; give more rows.")
    return problem.take(np.sort(kept)), problem.take(np.sort(aside))


def _class_by_class(problem: Problem, order: Ints, count: int) -> tuple[Ints, Ints]:
    """Hold out the first `count` rows of this order, but keep one row of each class that would have none left."""
    kept, aside = order[count:], order[:count]
    if isinstance(problem.y, LabelSets) or has(problem.space, NumberSpace):
        return kept, aside
    found, first = np.unique(problem.y[aside], return_index=True)
    back = first[~np.isin(found, problem.y[kept])]
    return np.concatenate([kept, aside[back]]), np.delete(aside, back)


def _held_out(objective: Objective, aside: Problem) -> Callable[[Params], float]:
    """The mean log-likelihood if the loss has probabilities; for numbers minus the loss; else the accuracy."""
    X, total = aside.rows, float(aside.weights.sum())
    space, loss = objective.space, objective.loss

    def score(params: Params) -> float:
        S = linear.scores(X, params)
        if capability(loss, Chances) or not hasattr(space.decode(S), "dtype") or space.decode(S).dtype.kind == "f":
            values, _ = loss.value_and_grad(space, S, aside.y)
            return -float(values @ aside.weights) / total
        best, gold = space.best(S, aside.y), space.gold(S, aside.y)
        right = ~np.any(best.parts != gold.parts, axis=1)
        return float(right @ aside.weights) / total

    return score


def canonical(rows: CSR | Dense, y: Truth, weights: Doubles) -> tuple[Longs, Doubles]:
    """The rows to keep, in order, and their weights; equal examples are kept once.

    >>> from linnaeus.arrays import as_rows
    >>> X, y = as_rows([[1.0], [2.0], [1.0]]), np.array([0, 1, 0])
    >>> [part.tolist() for part in canonical(X, y, np.ones(3))]
    [[1, 0], [1.0, 2.0]]
    """
    X = rows if isinstance(rows, CSR) else rows.to_csr()
    first: dict[bytes, int] = {}
    totals: dict[bytes, float] = {}
    for i in range(len(X)):
        key = _row(X, i) + _truth(y, i)
        first.setdefault(key, i)
        totals[key] = totals.get(key, 0.0) + float(weights[i])
    order = sorted(first)
    return np.array([first[key] for key in order], np.int64), np.array([totals[key] for key in order])


def centered(rows: CSR | Dense, weights: Doubles) -> tuple[Dense, Doubles] | None:
    """The rows minus their mean, and that mean; None if a copy would be too large.

    >>> from linnaeus.arrays import as_rows
    >>> X, mean = centered(as_rows([[1.0], [3.0]]), np.ones(2))
    >>> X.values.tolist(), mean.tolist()
    ([[-1.0], [1.0]], [2.0])
    """
    n, d = rows.shape
    if n * d > (SMALL if isinstance(rows, CSR) else DENSE):
        return None
    mean: Doubles = rows.tdot(weights) / weights.sum()
    return _moved(rows, mean), mean


def small(rows: CSR | Dense) -> bool:
    """Whether the matrix is small enough for the canonical form."""
    n, d = rows.shape
    return (rows.nnz if isinstance(rows, CSR) else n * d) + n <= SMALL


def _row(X: CSR, i: int) -> bytes:
    """The number of nonzeros of a row and their columns and values, as bytes."""
    at = slice(int(X.indptr[i]), int(X.indptr[i + 1]))
    full = X.data[at] != 0
    columns, values = X.indices[at][full], X.data[at][full].astype(np.float64)
    return b"".join((len(columns).to_bytes(8, "big"), columns.tobytes(), values.tobytes()))


def _truth(y: Truth, i: int) -> bytes:
    found = y.labels[y.offsets[i] : y.offsets[i + 1]] if isinstance(y, LabelSets) else np.asarray(y[i])
    return bytes(found.tobytes())


def solve_candidates(learner: Linear, lesson: GroupedLesson, start: Params | None = None) -> Fit:
    """Weights W (d, 1) of the rows of all candidates, from these weights on: all share one weight for each feature.

    If the learner holds out examples, training stops when their right candidates are found no more often.
    """
    from linnaeus.erm.objective import structured
    from linnaeus.outputs import Candidates

    check_early_stopping(learner.held_out, learner.patience or 1)
    seed, run = lesson.seed, lesson.run
    learned, aside = set_aside(len(lesson.y), learner.held_out, seed)
    score = _found(lesson.take(aside)) if len(aside) else None
    given = lesson if score is None else lesson.take(learned)
    objective = structured(given.X, given.y, Candidates(), learner.loss, learner.regularizer)
    optimizer = _candidate_optimizer(learner)
    stop = stopping(learner.settings(seed), learner.loss, optimizer)
    objective, columns = _narrowed(objective) if start is None else (objective, None)
    begin = Start(start or objective.initial(), seed=seed, epochs=stop.epochs or 100)
    with listening(None if run is None else run.watching, stop) as listeners:
        place = None if run is None else run.kept
        watch = Watch(stop, None if score is None else lambda params: score(params["W"], columns), listeners)
        fit = train_from(place, objective, optimizer, watch, begin)
    if columns is None:
        return fit
    W = np.zeros((lesson.X.width, 1))
    W[columns] = fit.params["W"]
    return replace(fit, params={"W": W})


def _found(lesson: GroupedLesson) -> Callable[[Doubles, AnyInts | None], float]:
    """How often these examples have a right candidate first, by the weights of all columns or of some."""
    from linnaeus.outputs import Candidates

    own, truth = lesson.X, lesson.y

    def score(W: Doubles, columns: AnyInts | None) -> float:
        full = W
        if columns is not None:
            full = np.zeros((own.width, 1))
            full[columns] = W
        place = Candidates().decode(own.dot(full), truth.offsets)
        some = place >= 0
        return float(truth.gold[(truth.offsets[:-1] + place)[some]].sum()) / len(truth)

    return score


def _narrowed(objective: Structured) -> tuple[Structured, AnyInts | None]:
    """The same objective with only the columns that have values, and these columns; None if all have."""
    X = objective.X
    assert isinstance(X, Grouped)
    columns = X.touched()
    if isinstance(columns, slice) or len(columns) == X.shape[1]:
        return objective, None
    return replace(objective, X=X.narrow(columns)), columns


def _candidate_optimizer(learner: Linear) -> Solver:
    if not (isinstance(learner.optimizer, str) and learner.optimizer == "auto"):
        return learner.optimizer
    from linnaeus.optimizers import LBFGS, AdaGrad, Average

    return LBFGS() if learner.loss.smooth else Average(AdaGrad(batch=CANDIDATE_BATCH))
