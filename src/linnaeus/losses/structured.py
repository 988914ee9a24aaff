"""Structured losses: an upper bound of the score of the truth, minus that score (`gold`), in every output space.

The gradient in the scores is the difference of the two parts. On two outputs each is a function of the margin m, given
by `value`, `slope` and `curve`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from linnaeus.arrays.numerics import sigmoid
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.kernels.online import LOSSES
from linnaeus.losses.margin import Logistic
from linnaeus.losses.scalar import ShapedLoss
from linnaeus.protocols import (
    Chances,
    CostFree,
    CurvedSpace,
    DualLoss,
    GroupedSpace,
    JointDualLoss,
    NewtonLoss,
    OnlineLoss,
    OracleLoss,
    OutputSpace,
    ScalarForm,
    capability,
    has,
)
from linnaeus.types import Answer, Doubles, Margins, Truth


class StructuredLoss(ShapedLoss, ABC):
    """Base class of structured losses: upper(S, y) - gold(S, y). A subclass defines `upper`.

    >>> from linnaeus.losses import Hinge, Log
    >>> issubclass(Hinge, StructuredLoss), issubclass(Log, StructuredLoss)
    (True, True)
    """

    smooth: ClassVar[bool] = False
    decreasing: ClassVar[bool] = True
    provides: ClassVar[tuple[type, ...]] = (OracleLoss,)

    @abstractmethod
    def upper(self, space: OutputSpace, S: Doubles, y: Truth) -> Answer:
        """The value that is compared with gold, and its gradient."""

    def view(self, space: OutputSpace, S: Doubles, y: Truth) -> Margins:
        """The margins, for solvers that use the loss as a function of the margin."""
        return space.margins(S, y)

    def value_and_grad(self, space: OutputSpace, S: Doubles, y: Truth) -> tuple[Doubles, Doubles]:
        """Values (n,), and their gradient in the scores (n, w)."""
        upper, gold = self.upper(space, S, y), space.gold(S, y)
        return upper.value - gold.value, upper.parts - gold.parts


@dataclass(frozen=True)
class Perceptron(StructuredLoss):
    """Perceptron loss: best(S) - gold(S, y), max(0, -m) on two outputs. A margin of 0 counts as a mistake.

    >>> Perceptron().value(np.array([-2.0, 0.0, 1.0])).tolist()
    [2.0, 0.0, 0.0]
    """

    provides: ClassVar[tuple[type, ...]] = (ScalarForm, CostFree, OnlineLoss)
    online: ClassVar[int] = LOSSES["perceptron"]

    def upper(self, space: OutputSpace, S: Doubles, y: Truth) -> Answer:
        """The best output."""
        return space.best(S, y)

    def value(self, m: Doubles) -> Doubles:
        """max(0, -m)."""
        return np.where(m < 0.0, -m, 0.0)

    def slope(self, m: Doubles) -> Doubles:
        """-1 up to and at margin 0, then 0."""
        return np.where(m <= 0.0, -1.0, 0.0)


@dataclass(frozen=True)
class Hinge(StructuredLoss):
    """Hinge loss of SVMs: best(S + cost) - gold(S, y), max(0, 1 - m) on two outputs; takes any cost matrix.

    >>> Hinge().value(np.array([-2.0, 0.0, 1.0])).tolist()
    [3.0, 1.0, 0.0]
    """

    provides: ClassVar[tuple[type, ...]] = (ScalarForm, DualLoss, JointDualLoss, OnlineLoss)
    dual: ClassVar[str] = "hinge"
    joint: ClassVar[str] = "hinge"
    online: ClassVar[int] = LOSSES["hinge"]

    def upper(self, space: OutputSpace, S: Doubles, y: Truth) -> Answer:
        """The output with the largest score plus cost."""
        return _augmented(space.best, space, S, y)

    def value(self, m: Doubles) -> Doubles:
        """max(0, 1 - m)."""
        return np.maximum(0.0, 1.0 - m)

    def slope(self, m: Doubles) -> Doubles:
        """-1 up to and at margin 1, then 0."""
        return np.where(m <= 1.0, -1.0, 0.0)


@dataclass(frozen=True)
class Log(StructuredLoss):
    """Log loss of softmax regression: soft(S) - gold(S, y) = -log P(y); the logistic loss on two outputs.

    >>> import numpy as np
    >>> from linnaeus.outputs import Multiclass
    >>> loss, gradient = Log().value_and_grad(Multiclass(), np.zeros((1, 2)), np.array([0]))
    >>> loss.round(4).tolist(), gradient.tolist()
    ([0.6931], [[-0.5, 0.5]])
    """

    provides: ClassVar[tuple[type, ...]] = (
        ScalarForm,
        CostFree,
        NewtonLoss,
        Chances,
        DualLoss,
        JointDualLoss,
        OnlineLoss,
    )
    online: ClassVar[int] = LOSSES["log"]
    smooth: ClassVar[bool] = True
    attained: ClassVar[bool] = False
    dual: ClassVar[str] = "logistic"
    joint: ClassVar[str] = "log"
    value = Logistic.value
    slope = Logistic.slope
    curve = Logistic.curve
    conjugate = Logistic.conjugate
    chance = Logistic.chance

    def upper(self, space: OutputSpace, S: Doubles, y: Truth) -> Answer:
        """The soft maximum."""
        return space.soft(S, y)

    def curvature(self, space: OutputSpace, S: Doubles, y: Truth) -> Callable[[Doubles], Doubles]:
        """The Hessian in the scores: covariance of the parts."""
        curved = _curved(space)
        return lambda V: curved.soft_dot(S, V, y)


@dataclass(frozen=True)
class SoftMargin(StructuredLoss):
    """soft(S + cost) - gold(S, y): the smooth hinge (softmax-margin, Gimpel and Smith 2010).

    >>> import numpy as np
    >>> from linnaeus.outputs import Multiclass
    >>> loss, _ = SoftMargin().value_and_grad(Multiclass(), np.zeros((1, 2)), np.array([0]))
    >>> loss.round(4).tolist()
    [1.3133]
    """

    provides: ClassVar[tuple[type, ...]] = (ScalarForm, NewtonLoss, Chances, JointDualLoss, OnlineLoss)
    online: ClassVar[int] = LOSSES["softmargin"]
    smooth: ClassVar[bool] = True
    joint: ClassVar[str] = "softmargin"
    attained: ClassVar[bool] = False
    chance = Logistic.chance

    def upper(self, space: OutputSpace, S: Doubles, y: Truth) -> Answer:
        """The soft maximum of the scores plus the costs."""
        return _augmented(space.soft, space, S, y)

    def value(self, m: Doubles) -> Doubles:
        """log(1 + e^(1 - m))."""
        return np.logaddexp(0.0, 1.0 - m)

    def slope(self, m: Doubles) -> Doubles:
        """-1 / (1 + e^(m - 1))."""
        return -sigmoid(1.0 - m)

    def curve(self, m: Doubles) -> Doubles:
        """P (1 - p) at m - 1."""
        p = sigmoid(1.0 - m)
        return p * (1.0 - p)

    def conjugate(self, a: Doubles) -> Doubles:
        """The conjugate of the logistic loss, shifted by one."""
        return Logistic().conjugate(a) + np.clip(a, -1.0, 0.0)

    def curvature(self, space: OutputSpace, S: Doubles, y: Truth) -> Callable[[Doubles], Doubles]:
        """The Hessian in the scores, at the scores plus the costs."""
        T, curved = S + space.cost(S, y).parts, _curved(space)
        return lambda V: curved.soft_dot(T, V, y)


@dataclass(frozen=True)
class Probability(StructuredLoss):
    """1 - P(y): minimizing it maximizes the probability itself, not its logarithm. Not convex.

    >>> Probability().slope(np.zeros(1)).tolist()  # a first step of a quarter of the features
    [-0.25]
    """

    provides: ClassVar[tuple[type, ...]] = (ScalarForm, CostFree, Chances)
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = True
    chance = Logistic.chance

    def upper(self, space: OutputSpace, S: Doubles, y: Truth) -> Answer:
        """The soft maximum, as for `Log`."""
        return space.soft(S, y)

    def value(self, m: Doubles) -> Doubles:
        """1 / (1 + e^m)."""
        return sigmoid(-m)

    def slope(self, m: Doubles) -> Doubles:
        """-p (1 - p)."""
        p = sigmoid(m)
        return -p * (1.0 - p)

    def value_and_grad(self, space: OutputSpace, S: Doubles, y: Truth) -> tuple[Doubles, Doubles]:
        """1 - e^(gold - soft), and its gradient; not defined where examples share scores or have several rows."""
        if has(space, GroupedSpace):
            raise UsageError("The loss probability is for classes; for candidates, sequences and trees use log.")
        soft, gold = space.soft(S, y), space.gold(S, y)
        p = np.exp(gold.value - soft.value)
        return 1.0 - p, p[:, None] * (soft.parts - gold.parts)


def _augmented(oracle: Callable[[Doubles, Truth], Answer], space: OutputSpace, S: Doubles, y: Truth) -> Answer:
    """The oracle at the scores plus the costs."""
    from linnaeus.types import Answer

    cost = space.cost(S, y)
    found = oracle(S + cost.parts, y)
    return Answer(found.value + cost.value, found.parts)


def _curved(space: OutputSpace) -> CurvedSpace:
    """The space with its second derivatives."""
    curved = capability(space, CurvedSpace)
    if curved is None:
        raise UsageError(f"{type(space).__name__} has no second derivatives; use a first-order optimizer.")
    return curved
