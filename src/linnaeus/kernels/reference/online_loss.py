"""Twin of online_loss.hpp: what one example's scores cost, and the gradient in these scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from linnaeus.kernels.online import LOSSES, SPACES

Doubles = NDArray[np.float64]


class Example(NamedTuple):
    """Scores (k), the labels, what the example counts, and the sum of squares of its features."""

    scores: Doubles
    labels: NDArray[np.int32]
    weight: float
    norm: float


class Verdict(NamedTuple):
    """Loss and gradient, both times the weight, and whether the prediction was wrong or tied."""

    loss: float
    mistake: bool
    gradient: Doubles


class Judge(Protocol):
    """A loss, or a rule that knows its own step."""

    def judge(self, e: Example) -> Verdict:
        """What to say of an example."""
        ...


def at_margin(loss: int, m: Doubles, stake: Doubles) -> tuple[Doubles, Doubles]:
    """Value and slope of each margin; ties go against the truth."""
    room = 1.0 - m
    soft = np.logaddexp
    down = np.maximum(0.0, room)
    spread = np.exp(np.minimum(-m, 700.0))
    linear = m < -1.0
    cases: dict[str, Callable[[], tuple[Doubles, Doubles]]] = {
        "perceptron": lambda: (np.maximum(0.0, -m), np.where(m <= 0, -1.0, 0.0)),
        "hinge": lambda: (np.maximum(0.0, stake - m), np.where(m <= stake, -1.0, 0.0)),
        "log": lambda: (soft(0.0, -m), -_sigmoid(-m)),
        "softmargin": lambda: (soft(0.0, stake - m), -_sigmoid(stake - m)),
        "logistic": lambda: (stake * soft(0.0, -m), -stake * _sigmoid(-m)),
        "squared_hinge": lambda: (stake * down**2, -2.0 * stake * down),
        "exponential": lambda: (stake * spread, -stake * spread),
        "modified_huber": lambda: (
            stake * np.where(linear, -4.0 * m, down**2),
            stake * np.where(linear, -4.0, -2.0 * down),
        ),
        "squared": lambda: (stake * room**2, -2.0 * stake * room),
        "absolute": lambda: (stake * np.abs(room), -stake * np.sign(room)),
    }
    return cases[list(LOSSES)[loss]]()


def _sigmoid(t: Doubles) -> Doubles:
    small = np.exp(-np.abs(t))
    p: Doubles = np.where(t >= 0, 1.0, small) / (1.0 + small)
    return p


class ProductLoss:
    """A sum over classes; stakes are none, or one row for each true class (for one class: of no, and of yes)."""

    def __init__(self, loss: int, k: int, stakes: Doubles, joint: bool) -> None:
        self.loss, self.k, self.joint = loss, k, joint
        self.stakes = stakes.reshape(-1, k) if len(stakes) else None

    def judge(self, e: Example) -> Verdict:
        """Every class for itself."""
        signs = np.full(self.k, -1.0)
        signs[e.labels] = 1.0
        stake = np.ones(self.k)
        if self.stakes is not None:
            stake = self.stakes[len(e.labels) if self.k == 1 else e.labels[0]]
        m = signs * e.scores
        values, slopes = at_margin(self.loss, m, stake)
        right = bool((m > 0).all())
        if self.joint:
            gold = int(e.labels[0])
            right = bool(e.scores[gold] > e.scores[best_rival(e.scores, gold)])
        return Verdict(e.weight * float(values.sum()), not right, e.weight * (signs * slopes))


class JointLoss:
    """An oracle minus gold, or a function of gold minus the best rival; costs have one row for each true class."""

    def __init__(self, loss: int, k: int, costs: Doubles) -> None:
        self.loss, self.k, self.given = loss, k, len(costs) > 0
        self.costs = costs.reshape(k, k) if self.given else 1.0 - np.eye(k)

    def judge(self, e: Example) -> Verdict:
        """Of all classes together."""
        gold = int(e.labels[0])
        rival = best_rival(e.scores, gold)
        mistake = not e.scores[gold] > e.scores[rival]
        gradient = np.zeros(self.k)
        if self.loss in (LOSSES["log"], LOSSES["softmargin"]):
            start = self.costs[gold] if self.loss == LOSSES["softmargin"] else 0.0
            shifted = e.scores + start
            high = shifted.max()
            each = np.exp(shifted - high)
            gradient = e.weight * (each / each.sum())
            gradient[gold] -= e.weight
            return Verdict(e.weight * float(high + np.log(each.sum()) - e.scores[gold]), mistake, gradient)
        if self.loss == LOSSES["hinge"]:
            rival = best_rival(e.scores + self.costs[gold], gold)
        m = np.array([e.scores[gold] - e.scores[rival]])
        value, slope = at_margin(self.loss, m, np.array([self.costs[gold, rival]]))
        gradient[gold], gradient[rival] = e.weight * slope[0], -e.weight * slope[0]
        return Verdict(e.weight * float(value[0]), mistake, gradient)


class Aggression:
    """Passive-aggressive: tau = min(cap, loss / (|x|^2 + softness)); in a joint space |x|^2 counts twice."""

    def __init__(self, space: int, k: int, cap: float, softness: float) -> None:
        self.space, self.k, self.cap, self.softness = space, k, cap, softness

    def judge(self, e: Example) -> Verdict:
        """The step itself stands in the gradient, for a rate of one."""
        gradient = np.zeros(self.k)
        if self.space == SPACES["joint"]:
            gold = int(e.labels[0])
            rival = best_rival(e.scores, gold)
            m = float(e.scores[gold] - e.scores[rival])
            gradient[rival] = self._step(m, 2.0 * e.norm, e.weight)
            gradient[gold] = -gradient[rival]
            return Verdict(e.weight * max(0.0, 1.0 - m), not m > 0, gradient)
        signs = np.full(self.k, -1.0)
        signs[e.labels] = 1.0
        margins = signs * e.scores
        for c in range(self.k):
            gradient[c] = -signs[c] * self._step(float(margins[c]), e.norm, e.weight)
        loss = e.weight * float(np.maximum(0.0, 1.0 - margins).sum())
        return Verdict(loss, not bool((margins > 0).all()), gradient)

    def _step(self, m: float, norm: float, weight: float) -> float:
        loss = max(0.0, 1.0 - m)
        if not (loss > 0 and norm > 0 and weight > 0):
            return 0.0
        return min(self.cap * weight, loss / (norm + self.softness / weight))


def best_rival(worth: Doubles, gold: int) -> int:
    """The best class that is not the true one; the lowest among equals."""
    others = [c for c in range(len(worth)) if c != gold]
    return max(others, key=lambda c: (worth[c], -c))
