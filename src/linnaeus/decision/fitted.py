"""A fitted decision: probabilities and predictions for the scores of new rows."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.decision.abstain import (
    AnyAbstention,
    Decided,
    Evidence,
    InScope,
    abstention_text,
    as_abstention,
)
from linnaeus.decision.costs import cheapest
from linnaeus.decision.scores import as_scores
from linnaeus.errors import UsageError, damaged, damaged_or_newer
from linnaeus.frozen import dataclass
from linnaeus.outputs.costs import CostTable, as_costs
from linnaeus.store.states import field, nest, nested, tensor
from linnaeus.types import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.decision.calibrate import FittedCalibrator
    from linnaeus.decision.conformal import FittedConformal
    from linnaeus.decision.scope import FittedScope
    from linnaeus.decision.thresholds import FittedThresholds
    from linnaeus.types import Doubles


@dataclass(frozen=True)
class Rules:
    """The settings that need no learning: costs, when to abstain, the least number of labels in a set."""

    costs: CostTable | None = None
    abstain: AnyAbstention | None = None
    least: int = 0


@dataclass(frozen=True, eq=False)
class FittedDecision:
    """From scores of new rows to probabilities, out-of-scope scores and predictions. It is immutable.

    >>> import numpy as np
    >>> from linnaeus.decision import Decision
    >>> S, y = np.array([[2.0], [-1.0], [0.5], [-2.0]]), np.array([1, 0, 1, 0])
    >>> fitted = Decision().learn(S, y)
    >>> isinstance(fitted, FittedDecision), fitted.probabilities(S).shape
    (True, (4, 2))
    """

    calibrator: FittedCalibrator
    scope: FittedScope | None = None
    thresholds: FittedThresholds | None = None
    conformal: FittedConformal | None = None
    rules: Rules = Rules()

    @property
    def calibrated(self) -> bool:
        """Whether it was learned from held-out rows; without any, probabilities are no more than a scale of scores."""
        return self.scope is not None

    def probabilities(self, S: Any) -> Doubles:
        """Class probabilities P (n, k): each row adds up to 1; for label sets each label has its own probability."""
        return self.calibrator.probabilities(S)

    def out_of_scope(self, S: Any, known: Any = None) -> Doubles:
        """Out-of-scope scores (n,): the share of training rows with stronger scores; near 1 is unlike all of them.

        `known` is the known share of each row, as `scope.voice` says, or a function that gives it when it is needed.
        """
        if self.scope is None:
            raise UsageError(
                "This model has no out-of-scope scores, because no rows were held out; set tuning in its recipe."
            )
        if callable(known):
            known = known() if self.scope.by_known else None
        return self.scope.scores(S, known)

    def decide(self, S: Any, abstain: Any = None, known: Any = None) -> Decided:
        """The predictions; `abstain` replaces the rule of the recipe."""
        S = as_scores(S)
        P = self.probabilities(S)
        rule = as_abstention(abstain) or self.rules.abstain
        if self.calibrator.kind == "labels":
            return self._label_sets(S, P, rule, known)
        labels = self._labels(S, P)
        if rule is None:
            return Decided(labels)
        sets = None if self.conformal is None else self.conformal.sets
        seen = Evidence(
            labels, P, None if sets is None else lambda share: sets(P, share), lambda: self.out_of_scope(S, known)
        )
        return rule.decide(seen)

    def _labels(self, S: Doubles, P: Doubles) -> NDArray[np.intp]:
        """One class for each row; among equals, the lowest index."""
        if self.rules.costs is not None:
            return cheapest(P, self.rules.costs)
        if self.thresholds is not None:
            return self.thresholds.second(P)
        # One curve for all classes keeps the order of the scores, but rounding may make two probabilities equal.
        if self.calibrator.curve is not None:
            P = S if S.shape[1] > 1 else np.hstack([np.zeros_like(S), S])
        best: NDArray[np.intp] = np.argmax(P, axis=1)
        return best

    def _label_sets(self, S: Doubles, P: Doubles, rule: AnyAbstention | None, known: Any) -> Decided:
        """Label sets; empty for out-of-scope rows if the rule is scope."""
        from linnaeus.decision.conformal import as_sets

        if rule is not None and not isinstance(rule, InScope):
            raise UsageError("For label sets, abstain can only be scope, because a label set may already be empty.")
        assert self.thresholds is not None
        given = self.thresholds.labels(P, self.rules.least)
        if isinstance(rule, InScope):
            given[self.out_of_scope(S, known) > rule.at_most] = False
        return Decided(None, as_sets(given))

    def state(self) -> State:
        """The parts as blocks, the rules in the manifest."""
        rules = self.rules
        manifest = {
            "kind": "decision",
            "abstain": None if rules.abstain is None else abstention_text(rules.abstain),
            "least": rules.least,
        }
        parts: list[Any] = [self.calibrator, self.scope, self.thresholds, self.conformal]
        tensors = {} if rules.costs is None else {"costs": np.array(rules.costs).reshape(-1)}
        return nest(manifest, [part for part in parts if part is not None], tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedDecision:
        """Restore from `state`; parts that do not fit together are refused."""
        parts: dict[str, Any] = {}
        for part in nested(state):
            kind = part.manifest.get("kind")
            if not isinstance(kind, str) or kind not in PARTS:
                raise damaged_or_newer(f"its decision has a part {kind!r}")
            name, module, piece = PARTS[kind]
            parts[name] = getattr(import_module(f"linnaeus.decision.{module}"), piece).from_state(part)
        if "calibrator" not in parts:
            raise damaged("its decision lacks a part")
        found = cls(**parts, rules=_stored_rules(state))
        _check(found)
        return found


PARTS: dict[Any, tuple[str, str, str]] = {
    "temperature": ("calibrator", "temperature", "FittedTemperature"),
    "shared": ("calibrator", "shared", "FittedShared"),
    "sigmoid": ("calibrator", "sigmoid", "FittedSigmoid"),
    "isotonic": ("calibrator", "isotonic", "FittedIsotonic"),
    "scope": ("scope", "scope", "FittedScope"),
    "thresholds": ("thresholds", "thresholds", "FittedThresholds"),
    "conformal": ("conformal", "conformal", "FittedConformal"),
}
"""The field of a fitted decision that each kind of part is, and the piece that is built again; loaded when needed."""


def _stored_rules(state: State) -> Rules:
    """The rules in a manifest."""
    least, costs = field(state.manifest, "least", int), None
    if "costs" in state.tensors:
        costs = tensor(state.tensors, "costs", np.float64)
    try:
        if costs is not None:
            costs = costs.reshape(math.isqrt(len(costs)), -1)
        return Rules(as_costs(costs), as_abstention(state.manifest.get("abstain")), least)
    except (ValueError, TypeError) as error:
        raise damaged(f"a rule of its decision cannot be used ({error})") from error


def _check(found: FittedDecision) -> None:
    """Refuse parts for different kinds of scores."""
    kind, rules = found.calibrator.kind, found.rules
    same = all(part is None or part.kind == kind for part in (found.scope, found.thresholds))
    if not same or (kind == "labels" and (found.conformal is not None or found.thresholds is None)):
        raise damaged("the parts of its decision are for different kinds of scores")
    if rules.costs is not None and (kind == "labels" or (kind == "binary" and len(rules.costs) != 2)):
        raise damaged("its costs do not fit its classes")
