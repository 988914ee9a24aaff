"""The recipe of a decision, from scores to predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from linnaeus.decision.abstention import Abstention, Coverage, InScope, as_abstention
from linnaeus.decision.calibration import CALIBRATORS, FittedCalibrator, FittedTemperature
from linnaeus.decision.conformal import Conformal, FittedConformal
from linnaeus.decision.fitted import FittedDecision, Rules, learn_scope
from linnaeus.decision.scores import BLOCK, Kind, classes, with_truth
from linnaeus.decision.thresholds import THRESHOLDS, FittedThresholds
from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.outputs.costs import as_costs
from linnaeus.types import Doubles, Matrix, Truth

USUAL: dict[Kind, str] = {"binary": "temperature", "classes": "shared", "labels": "sigmoid"}
"""The default calibration of each kind of scores."""


@dataclass(frozen=True)
class Decision:
    """How scores become probabilities and predictions.

    `calibration` is one of `CALIBRATORS`, by name or as an object; by default one sigmoid shared by all classes, a
    temperature for two classes, and for label sets a sigmoid for each label.
    `thresholds` is one of `THRESHOLDS`, for label sets and for two classes; by default label sets use the best F1, and
    two classes the more probable one. A label set has at least `least` labels. With `costs` l(y', y) the class that
    has the lowest expected cost is predicted. `abstain`, one of `ABSTENTIONS`, says when not to predict one label;
    `decide` may be given another rule.

    >>> S, y = np.array([[-2.0], [-1.0], [0.5], [2.0]]), np.array([0, 0, 1, 1])
    >>> fitted = Decision().learn(S, y)
    >>> fitted.decide([[3.0], [-0.1]], abstain="confidence=0.9").labels.tolist()
    [1, -1]
    """

    calibration: Any = None
    thresholds: Any = None
    conformal: Conformal = field(default_factory=Conformal)
    costs: Any = None
    abstain: Abstention | str | None = None
    least: int = 0

    def __post_init__(self) -> None:
        if self.calibration is not None:
            _piece("calibration", self.calibration, CALIBRATORS)
        if self.thresholds is not None:
            _piece("thresholds", self.thresholds, THRESHOLDS)
        if not isinstance(self.conformal, Conformal):
            raise InputTypeError(f"conformal takes a Conformal, not {self.conformal!r}.")
        expect("least", self.least, int)
        object.__setattr__(self, "abstain", as_abstention(self.abstain))
        object.__setattr__(self, "costs", as_costs(self.costs))
        if self.costs is not None and self.thresholds is not None:
            raise UsageError(
                "A decision takes costs or thresholds, not both: each of them weighs the errors against each other."
            )

    def learn(
        self, S: Matrix, truth: Truth, weights: Doubles | None = None, known: Doubles | None = None, blank: float = 0.0
    ) -> FittedDecision:
        """Learn from scores (n, w) of rows by models that were not trained on these rows.

        `known` (n,) is the share of each row that is in the vocabulary, see `scope.voice`; None: all of it. `blank` is
        the score of a text without features, for two classes.
        """
        S, kind, weights = with_truth(S, truth, weights)
        chosen = self.calibration or USUAL[kind]
        calibrator: FittedCalibrator = _piece("calibration", chosen, CALIBRATORS).fit(S, truth, weights)
        k = classes(kind, S)
        if self.costs is not None and (kind == "labels" or len(self.costs) != k):
            raise UsageError(f"costs is for {len(self.costs)} classes, one per row; these rows have {k} {_WHAT[kind]}.")
        return FittedDecision(
            calibrator,
            learn_scope(kind, S, known, blank),
            self._thresholds(kind, calibrator.probabilities, S, (truth, weights)),
            None if kind == "labels" else self._conformal(calibrator.probabilities, S, truth, k),
            Rules(self.costs, as_abstention(self.abstain), self.least),
        )

    def untaught(self, kind: Kind, k: int) -> FittedDecision:
        """The decision without held-out rows: no calibration, thresholds of one half, no label sets and no scope.

        >>> Decision().untaught("binary", 2).decide([[0.3]]).labels.tolist()
        [1]
        """
        if self.costs is not None and (kind == "labels" or len(self.costs) != k):
            raise UsageError(f"costs is for {len(self.costs)} classes, one per row; there are {k} {_WHAT[kind]}.")
        if self.thresholds is not None or isinstance(self.abstain, Coverage | InScope):
            raise UsageError("Thresholds, coverage and scope are learned from held-out rows; set tuning in the recipe.")
        halves = FittedThresholds(kind, np.full(k, 0.5)) if kind == "labels" else None
        rules = Rules(self.costs, as_abstention(self.abstain), self.least)
        return FittedDecision(FittedTemperature(kind, 1.0), None, halves, None, rules)

    def _thresholds(
        self, kind: Kind, probabilities: Callable[[Doubles], Doubles], S: Doubles, facts: tuple[Truth, Doubles]
    ) -> FittedThresholds | None:
        if self.thresholds is None and kind != "labels":
            return None
        if kind == "classes":
            raise UsageError("thresholds are for label sets and for two classes; with more classes use costs.")
        chosen = _piece("thresholds", self.thresholds or "f1", THRESHOLDS)
        return chosen.fit(probabilities(S), *facts)

    def _conformal(
        self, probabilities: Callable[[Doubles], Doubles], S: Doubles, truth: Truth, k: int
    ) -> FittedConformal:
        y, step = np.asarray(truth), max(1, BLOCK // k)
        starts = range(0, len(S), step)
        strange = [self.conformal.strange(probabilities(S[a : a + step]), y[a : a + step]) for a in starts]
        return self.conformal.learn(np.concatenate(strange), y, k)


_WHAT = {"binary": "classes", "classes": "classes", "labels": "labels in sets"}


def _piece(name: str, value: Any, table: Mapping[str, Any]) -> Any:
    """The object of this name, or the object itself."""
    if isinstance(value, str):
        if value not in table:
            raise UsageError(f"{name} takes one of {', '.join(table)}, not {value!r}.")
        return table[value]()
    if type(value) not in table.values():
        raise InputTypeError(f"{name} takes one of {', '.join(table)}, by name or as an object, not {value!r}.")
    return value
