"""The calibrators by name, and fitted ones from their state; temperature scaling, one parameter for all scores.

A calibrator's `fit(S, truth, weights)` learns from scores of rows that the model was not trained on, and gives a fitted
piece with `probabilities(S)`, `state()` and `from_state`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from linnaeus.decision.scores import Kind, as_scores, columns, stored_kind, thinned, uncalibrated, with_truth
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.lazy import Table
from linnaeus.protocols import Chances, ChanceSpace, capability
from linnaeus.store.states import field
from linnaeus.types import Array, Doubles, Matrix, State, Truth


class FittedCalibrator(ABC):
    """Scores of a kind to probabilities.

    `keeps_order` says whether the class with the largest score is the most probable one; `curve` is (T, b) if all
    classes share 1 / (1 + e^-(s/T + b)) before normalization, None if it differs by class.
    """

    kind: Kind
    keeps_order: ClassVar[bool] = False

    @property
    def curve(self) -> tuple[float, float] | None:
        """None: each class has its own."""
        return None

    @abstractmethod
    def probabilities(self, S: Matrix) -> Doubles:
        """P (n, k)."""

    @abstractmethod
    def state(self) -> State:
        """The parameters, for a model file."""


CALIBRATORS = Table(
    "linnaeus.decision",
    {
        "none": "calibration.NoCalibration",
        "temperature": "calibration.Temperature",
        "shared": "shared_sigmoid.SharedSigmoid",
        "sigmoid": "sigmoid.Sigmoid",
        "isotonic": "isotonic.Isotonic",
    },
)
"""Every calibrator by its plain name."""

SLOWEST, FASTEST = 1e-6, 1e12
"""Bounds of 1/T, for scores whose largest difference is 1."""
ROUNDS, NEAR = 100, 1e-10


@dataclass(frozen=True)
class NoCalibration:
    """P = softmax(S), for two classes and for label sets 1 / (1 + e^-s): right for the scores of a log loss.

    >>> NoCalibration().fit([[0.0], [1.0]], np.array([0, 1])).probabilities([[0.0]]).tolist()
    [[0.5, 0.5]]
    """

    def fit(self, S: Matrix, truth: Truth, weights: Doubles | None = None) -> FittedTemperature:
        """Nothing is learned."""
        return FittedTemperature(with_truth(S, truth, weights)[1], 1.0)


@dataclass(frozen=True)
class Temperature:
    """P = softmax(S / T), for two classes and for label sets 1 / (1 + e^(-s/T)); T minimizes the log loss.

    The class with the largest score keeps the largest probability. One row in n + 1 is held to be of any class, so that
    scores without a mistake get a finite T. Guo et al. 2017, "On calibration of modern neural networks".

    >>> S, y = np.array([[4.0], [4.0], [4.0], [-4.0]]), np.array([1, 1, 0, 0])
    >>> Temperature().fit(S, y).probabilities(S)[0].round(2).tolist()
    [0.3, 0.7]
    """

    def fit(self, S: Matrix, truth: Truth, weights: Doubles | None = None) -> FittedTemperature:
        """The temperature for scores of rows that the model was not trained on."""
        S, kind, weights = with_truth(S, truth, weights)
        S, truth, weights, heavy = thinned(S, truth, weights)
        if kind == "labels":  # every label is a problem of two classes
            truth = columns(truth, kind, 0, S.shape[1]).reshape(-1).astype(np.intp)
            S, weights = S.reshape(-1, 1), np.repeat(weights, S.shape[1])
        if S.shape[1] == 1:
            S = np.hstack([np.zeros_like(S), S])
        return FittedTemperature(kind, 1.0 / _inverse(S, np.asarray(truth), weights / weights.sum(), 1.0 / (heavy + 1)))


@dataclass(frozen=True)
class FittedTemperature(FittedCalibrator):
    """Scores over a temperature."""

    kind: Kind
    temperature: float
    keeps_order: ClassVar[bool] = True

    @property
    def curve(self) -> tuple[float, float]:
        """T, and the offset of a sigmoid that is all exponential: the order of the scores stays."""
        return self.temperature, -math.inf

    def probabilities(self, S: Matrix) -> Doubles:
        """P (n, k)."""
        with np.errstate(over="ignore"):
            L = np.clip(as_scores(S) / self.temperature, -1e307, 1e307)
        return uncalibrated(self.kind, L)

    def state(self) -> State:
        """The temperature."""
        return State({"kind": "temperature", "scores": self.kind, "temperature": self.temperature}, {})

    @classmethod
    def from_state(cls, state: State) -> FittedTemperature:
        """Restore from the result of `state`."""
        T = state.manifest.get("temperature")
        if not isinstance(T, float) or not 0.0 < T < math.inf:
            raise damaged(f"its temperature is {T!r}")
        return cls(stored_kind(state.manifest), T)


@dataclass(frozen=True)
class FittedChances(FittedCalibrator):
    """The probabilities that a loss itself gives to the scores of an output space, both by their plain names.

    >>> FittedChances("binary", "logistic", "binary").probabilities([[0.0]]).tolist()
    [[0.5, 0.5]]
    """

    kind: Kind
    loss: str
    space: str
    keeps_order: ClassVar[bool] = True

    def probabilities(self, S: Matrix) -> Doubles:
        """P (n, k)."""
        loss, space = self._pieces()
        return space.probabilities(as_scores(S), loss.chance)

    def _pieces(self) -> tuple[Chances, ChanceSpace]:
        from linnaeus.losses import LOSSES
        from linnaeus.outputs import OUTPUTS

        known = self.loss in LOSSES and self.space in SCORED.get(self.kind, ())
        loss = capability(LOSSES[self.loss](), Chances) if known else None
        space = capability(OUTPUTS[self.space](), ChanceSpace) if known else None
        if loss is None or space is None:
            raise damaged(f"its probabilities are those of the loss {self.loss!r} in the output {self.space!r}")
        return loss, space

    def state(self) -> State:
        """Two names."""
        return State({"kind": "chances", "scores": self.kind, "loss": self.loss, "space": self.space}, {})

    @classmethod
    def from_state(cls, state: State) -> FittedChances:
        """Restore from the result of `state`."""
        loss, space = field(state.manifest, "loss", str), field(state.manifest, "space", str)
        found = cls(stored_kind(state.manifest), loss, space)
        found._pieces()
        return found


@dataclass(frozen=True)
class FittedLogarithms(FittedCalibrator):
    """P = e^s, at most 1, for scores that are logarithms of probabilities already; they need not add up to 1.

    >>> FittedLogarithms("classes").probabilities(np.log([[0.5, 0.25]])).tolist()
    [[0.5, 0.25]]
    """

    kind: Kind
    keeps_order: ClassVar[bool] = True

    def probabilities(self, S: Matrix) -> Doubles:
        """P (n, k)."""
        return np.exp(np.minimum(as_scores(S), 0.0))

    def state(self) -> State:
        """The kind of the scores."""
        return State({"kind": "logarithms", "scores": self.kind}, {})

    @classmethod
    def from_state(cls, state: State) -> FittedLogarithms:
        """Restore from the result of `state`."""
        kind = stored_kind(state.manifest)
        if kind != "classes":
            raise damaged("its probabilities are logarithms, but not of classes")
        return cls(kind)


SCORED: dict[Kind, tuple[str, ...]] = {
    "binary": ("binary",),
    "classes": ("multiclass", "onevsrest"),
    "labels": ("multilabel",),
}
"""The output spaces whose scores are of each kind."""


def _inverse(S: Doubles, y: Array, weights: Doubles, doubt: float) -> float:
    """The b = 1/T of least log loss: Newton steps inside a bracket, since the loss is convex in b."""
    with np.errstate(over="ignore"):
        M = np.maximum(S - S.max(axis=1, keepdims=True), -1e300)
    scale = float(-M.min())
    if scale == 0.0:
        return 1.0
    M /= scale
    wanted = (1.0 - doubt) * M[np.arange(len(M)), y] + doubt * M.mean(axis=1)
    low, high, b = SLOWEST, FASTEST, 1.0
    for _ in range(ROUNDS):
        slope, curve = _derivatives(M, wanted, weights, b)
        low, high = (low, b) if slope > 0 else (b, high)
        new = min(max(b - slope / max(curve, 1e-300), b / 8.0), b * 8.0)
        if not low < new < high:
            new = math.sqrt(low * high)
        if abs(new - b) <= NEAR * b:
            break
        b = new
    return min(max(b / scale, 1e-300), 1e300)


def _derivatives(M: Doubles, wanted: Doubles, weights: Doubles, b: float) -> tuple[float, float]:
    """Slope and curvature in b of the log loss of softmax(b M): mean and variance of the scores under it."""
    P = np.exp(b * M)
    P /= P.sum(axis=1, keepdims=True)
    mean = (P * M).sum(axis=1)
    spread = (P * M * M).sum(axis=1) - mean * mean
    return float((weights * (mean - wanted)).sum()), float((weights * spread).sum())
