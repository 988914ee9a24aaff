"""Linear separability with a certificate, margin, radius, and the mistake bound of the perceptron."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from linnaeus.erm.constraints import Constraints, constraints
from linnaeus.erm.examined import examined
from linnaeus.erm.margin import widest_margin
from linnaeus.erm.stopping import Stop
from linnaeus.erm.train import Watch, train
from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.optimizers import SGD

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective
    from linnaeus.protocols import OutputSpace
    from linnaeus.types import Doubles, Params


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
    constraint_rows: Any = None

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
    X: Any,
    y: Any,
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
    expect("seconds", seconds, float)
    if not seconds >= 0:
        raise UsageError(f"seconds must be at least 0, not {seconds}.")
    objective = examined(X, y, space, k, bias)
    stop = Stop(epochs=1000, mistakes=0.0, seconds=seconds / 2)
    fit = train(objective, SGD(rate=1.0), Watch(stop))
    needs = constraints(objective)
    found = _separable(needs, fit.params)
    if found is None:
        found = _by_program(needs, objective, max(0.0, seconds - (time.perf_counter() - began)))
    if found.verdict != "separable":
        return found
    return _widened(found, needs, objective, max(0.0, seconds - (time.perf_counter() - began)))


def _widened(found: Separability, needs: Constraints, objective: Objective, seconds: float) -> Separability:
    """The same result with the widest margin, if the inequalities fit into memory."""
    assert found.params is not None
    if needs.entries > MAX_ENTRIES:
        return found
    wide = widest_margin(needs.matrix(), needs.pack(found.params), seconds)
    better = _separable(needs, needs.unpack(wide.separator, objective)) or found
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


def _by_program(needs: Constraints, objective: Objective, seconds: float) -> Separability:
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
    found = _separable(needs, needs.unpack(done.x[:columns], objective))
    if found is not None:
        return found
    duals = np.maximum(0.0, -done.ineqlin.marginals)
    total = duals.sum()
    if total <= 0 or np.abs(A.T @ (duals / total)).max() > 1e-7 * max(needs.radius, 1.0):
        return Separability("undecided", needs.radius)
    return Separability("not separable", needs.radius, weights=duals / total, constraint_rows=needs.rows)
