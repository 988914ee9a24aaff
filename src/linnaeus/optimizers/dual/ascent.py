"""Dual coordinate ascent as an optimizer, for independent binary problems and for joint multiclass problems."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from linnaeus.errors import expect
from linnaeus.frozen import dataclass
from linnaeus.optimizers.certificate import rounding
from linnaeus.optimizers.dual.binary import LOSSES, Binaries, Progress, Settings
from linnaeus.optimizers.dual.grouped import solve_teams
from linnaeus.optimizers.dual.joint import CRAMMER, SOFTMAX, Climb, Family, Joint, Plan, climb
from linnaeus.optimizers.dual.separate import solve_binaries
from linnaeus.optimizers.newton import NewtonCG
from linnaeus.optimizers.requirements import has_costs, ridge
from linnaeus.protocols import CostFree, DualLoss, JointDualLoss, JointSpace, OwnTolerance, ProductSpace, ability, has
from linnaeus.types import Doubles, Params, Start, Step

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective

MOST = 1 << 28
"""The largest number of dual variables of a joint problem, n x k: two gigabytes."""


class JointLoss(NamedTuple):
    """A loss of classes that are scored together: its family, and when it uses costs. By default a mistake costs 1."""

    family: Family
    costs: Literal["never", "given", "always"]


FAMILIES = {
    "hinge": JointLoss(CRAMMER, "given"),
    "log": JointLoss(SOFTMAX, "never"),
    "softmargin": JointLoss(SOFTMAX, "always"),
}
"""The joint losses by the name in their attribute `joint`."""


def refuse_joint(objective: Objective) -> str | None:
    """Refuse losses without an exact step, penalties other than L2, and problems that do not fit into memory."""
    if not has(objective.loss, JointDualLoss):
        return f"DualAscent has no dual step for the {type(objective.loss).__name__} loss in Multiclass."
    if not ridge(objective):
        return _no_ridge(objective)
    n, k = objective.X.shape[0], objective.k
    if n * k > MOST:
        return f"DualAscent keeps {n:,} x {k:,} dual variables for joint classes, which is too many."
    return None


def minimize_joint(objective: Objective, tol: float, start: Start, report: Callable[[Step], float | None]) -> None:
    """Minimize until the gap is `tol` times the objective, the planned epochs are over, or `report` raises.

    The objective is the strength times that of the joint problem with C_i = weight_i / strength.
    """
    kind, strength = FAMILIES[ability(objective.loss, JointDualLoss).joint], ridge(objective) or 0.0
    X, k, labels = objective.X.to_csr(), objective.k, np.asarray(objective.y, np.int32)
    strengths = np.asarray(objective.weights, np.float64) / strength
    paid = kind.costs == "always" or (kind.costs == "given" and has_costs(objective))
    costs = ability(objective.space, JointSpace).head_starts(k) if paid else None
    before = _epochs_before(start)

    def tell(work: Climb) -> None:
        bounds = (strength * work.primal, strength * (work.primal - work.dual)) if work.fresh else (None, None)
        params = _params(objective, lambda: work.arrays["W"], lambda: work.arrays["b"])
        report(Step(before + work.epoch, params, work.state, *bounds))

    joint = Joint(X, labels, strengths, k, costs, objective.bias)
    climb(kind.family, joint, Plan(tol, start.epochs, start.seed), tell, start.state or None, start.warm)


def _params(objective: Objective, W: Callable[[], Doubles], b: Callable[[], Doubles]) -> Callable[[], Params]:
    """A function that returns the parameters by name, without a copy."""
    return lambda: {"W": W()} if objective.bias == "none" else {"W": W(), "b": b()}


def _epochs_before(start: Start) -> int:
    """The epochs that the solver does not count itself: with a saved state it counts them all."""
    return 0 if start.state else start.epoch


LAST_PART = 50
"""One in 50 of the planned epochs is reserved for Newton's method."""

HANDED_OVER = "handed_over"
"""The name in a saved state which tells that Newton's method continues."""


@dataclass(frozen=True)
class DualAscent:
    """Dual coordinate ascent (Hsieh et al. 2008, Yu et al. 2011) with a certified duality gap.

    For the hinge, squared hinge and logistic losses with an L2 penalty, in binary, one-vs-rest, one-vs-one and
    multi-label output. Each binary problem ends when its duality gap is at most `tol` times its objective, or after the
    maximum number of epochs. It always starts from zero weights, unless it resumes from its own state.

    In multiclass output the hinge (Crammer and Singer, with any costs), log and softmargin losses are solved for all
    classes together, with exact steps on the simplex of an example.

    The gap is a difference of two large sums, so rounding limits it. If the ascent ends before `tol` is reached,
    because of rounding or of the maximum number of epochs, and the loss is smooth, Newton's method continues: its bound
    is the square of a gradient norm, which is more precise. One in fifty of the epochs is reserved for it.

    For the hinge and squared hinge with three or more classes or labels, problems are solved in groups, which is
    several times faster.

    Memory: the weights, and 12 bytes for each row of up to 32 problems at a time; in groups, 4 or 8 bytes for each row
    and problem; multiclass, 8 k + 32 for each row.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="hinge", optimizer=DualAscent()).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    tol: float = 1e-4
    provides: ClassVar[tuple[type, ...]] = (OwnTolerance,)

    def __post_init__(self) -> None:
        expect("tol", self.tol, float, 0)

    def refuse(self, objective: Objective) -> str | None:
        """Refuse losses without a dual step, penalties other than L2, and other output spaces."""
        if has(objective.space, JointSpace):
            return refuse_joint(objective)
        if not has(objective.loss, DualLoss):
            return f"DualAscent has no dual step for the {type(objective.loss).__name__} loss."
        if not has(objective.space, ProductSpace):
            return f"DualAscent solves independent binary problems, not {type(objective.space).__name__}."
        if not ridge(objective):
            return _no_ridge(objective)
        if has_costs(objective) and not has(objective.loss, CostFree):
            return "DualAscent does not support costs in binary problems."
        return None

    def with_tol(self, tol: float) -> DualAscent:
        """A copy with this tolerance."""
        return replace(self, tol=tol)

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Minimize until every problem is solved to `tol`, its epochs are over, or `report` raises."""
        if HANDED_OVER in start.state:
            _finish(objective, start, report)
            return
        last: list[Step] = []
        smooth = NewtonCG().refuse(objective) is None
        ascent = replace(start, epochs=start.epochs - start.epochs // LAST_PART) if smooth else start

        def heard(step: Step) -> float | None:
            last[:] = [step]
            return report(step)

        if has(objective.space, JointSpace):
            minimize_joint(objective, self.tol, ascent, heard)
        else:
            self._binaries(objective, ascent, heard)
        if not last or not smooth or last[0].gap is None or last[0].value is None:
            return
        if last[0].gap > self.tol * abs(last[0].value):
            params = {name: value.copy() for name, value in last[0].params().items()}
            _finish(objective, replace(start, params=params, epoch=last[0].epoch, state=last[0].state()), report)

    def _binaries(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Solve independent binary problems, in teams or one by one."""
        loss, strength = ability(objective.loss, DualLoss), ridge(objective) or 0.0
        settings = Settings(loss.dual, objective.bias, self.tol, start.epochs, start.seed)
        before = _epochs_before(start)

        def tell(progress: Progress) -> None:
            value = strength * float(progress.primal.sum())
            bounds = (value, value - strength * float(progress.dual.sum())) if progress.fresh else (None, None)
            params = _params(objective, progress.weights, progress.bias)
            report(Step(before + progress.epoch, params, progress.state, *bounds))

        problems, saved = _binaries(objective, strength), start.state or None
        # Teams are faster down to a tolerance; below it a single problem gains more by skipping inactive rows.
        teams = self.tol >= LOSSES[loss.dual].together.get(problems.X.data.dtype.name, np.inf)
        if not teams or solve_teams(problems, settings, tell, saved, start.warm) is None:
            solve_binaries(problems, settings, tell, saved, start.warm)


class _Exact(Exception):  # noqa: N818 - not an error: it stops a solver
    """The gap is at the level of rounding errors."""


def _finish(objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
    """Continue with Newton's method; the dual variables stay in the state, for warm starts."""
    state = {**start.state, HANDED_OVER: np.ones(1)}

    def heard(step: Step) -> float | None:
        score = report(replace(step, state=lambda: state))
        if step.gap is not None and step.gap <= 2 * rounding(objective, step.value or 0.0):
            raise _Exact
        return score

    with suppress(_Exact):
        NewtonCG().minimize(objective, replace(start, state={}), heard)


def _no_ridge(objective: Objective) -> str:
    return f"DualAscent needs an L2 penalty with a positive strength, not {type(objective.regularizer).__name__}."


def _binaries(objective: Objective, strength: float) -> Binaries:
    """The binary problems with C_i = weight_i / strength; the objective is strength times the sum of theirs."""
    w, space = objective.width, ability(objective.space, ProductSpace)
    costs = np.asarray(objective.weights, np.float64) / strength
    return Binaries(objective.X.to_csr(), costs, w, lambda which: space.sides(objective.y, which, w))
