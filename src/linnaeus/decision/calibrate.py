"""The calibrators by name, and fitted ones from their state.

A calibrator's `fit(S, truth, weights)` learns from scores of rows that the model was not trained on, and gives a fitted
piece with `probabilities(S)`, `state()` and `from_state`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from linnaeus.errors import damaged_or_newer
from linnaeus.lazy import Table

if TYPE_CHECKING:
    from linnaeus.decision.scores import Kind
    from linnaeus.types import Doubles, State, Truth


class FittedCalibrator(Protocol):
    """Scores to probabilities."""

    @property
    def kind(self) -> Kind:
        """The kind of the scores."""
        ...

    @property
    def curve(self) -> tuple[float, float] | None:
        """(T, b) if all classes share 1 / (1 + e^-(s/T + b)) before normalization; None if it differs by class."""
        ...

    def probabilities(self, S: Any) -> Doubles:
        """P (n, k)."""
        ...

    def state(self) -> State:
        """The parameters, for a model file."""
        ...


class Calibrator(Protocol):
    """How scores become probabilities."""

    def fit(self, S: Any, truth: Truth, weights: Any = None) -> FittedCalibrator:
        """Learn from scores of rows that the model was not trained on."""
        ...


CALIBRATORS = Table(
    "linnaeus.decision",
    {
        "none": "temperature.NoCalibration",
        "temperature": "temperature.Temperature",
        "shared": "shared.SharedSigmoid",
        "sigmoid": "sigmoid.Sigmoid",
        "isotonic": "isotonic.Isotonic",
    },
)
"""Every calibrator by its plain name."""

FITTED = Table(
    "linnaeus.decision",
    {
        "temperature": "temperature.FittedTemperature",
        "shared": "shared.FittedShared",
        "sigmoid": "sigmoid.FittedSigmoid",
        "isotonic": "isotonic.FittedIsotonic",
    },
)
"""How each kind of fitted calibrator is restored."""


def restore_calibrator(state: State) -> FittedCalibrator:
    """A fitted calibrator from what `state()` gave.

    >>> from linnaeus.decision.temperature import FittedTemperature
    >>> restore_calibrator(FittedTemperature("classes", 2.0).state())
    FittedTemperature(kind='classes', temperature=2.0)
    """
    kind = state.manifest.get("kind")
    if not isinstance(kind, str) or kind not in FITTED:
        raise damaged_or_newer(f"its calibration is of kind {kind!r}")
    found: FittedCalibrator = FITTED[kind].from_state(state)
    return found
