"""A fitted decision: probabilities, out-of-scope scores and predictions for the scores of new rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnaeus.decision.abstention import Abstention, Decided, Evidence, InScope, abstention_text, as_abstention
from linnaeus.decision.scores import Kind, as_scores, cheapest, stored_kind
from linnaeus.errors import UsageError, damaged, damaged_or_newer
from linnaeus.frozen import dataclass
from linnaeus.lazy import Table
from linnaeus.outputs.costs import CostTable, as_costs
from linnaeus.store.states import field, nest, nested, tensor
from linnaeus.types import Doubles, Matrix, State

if TYPE_CHECKING:
    from linnaeus.decision.calibration import FittedCalibrator
    from linnaeus.decision.conformal import FittedConformal
    from linnaeus.decision.thresholds import FittedThresholds


Known: TypeAlias = Doubles | Callable[[], Doubles | None] | None


KEPT = 2000
"""The number of quantiles of the training rows that are kept."""
LOUDEST = 1e300


def voice(kind: Kind, S: Matrix, known: Doubles | None = None, blank: float = 0.0) -> Doubles:
    """The strength of each row (n,): its largest class score minus the mean of its scores.

    For label sets it is the largest score. For two classes it is the distance of the score to `blank`, the score of
    a text without features (the intercept): a score near 0 means that both classes are possible, a score near `blank`
    that the text has no evidence. `known` (n,) is the share of a row that
    the vocabulary contains, by length or by count. The strength is multiplied by it: when unknown words are dropped and
    the rest is normalized to length 1, a row of few known words would otherwise be as strong as a fully known one.

    >>> voice("classes", np.array([[3.0, 0.0, 0.0]]), [0.5]).tolist()
    [1.0]
    """
    S = as_scores(S)
    share = np.ones(len(S)) if known is None else np.asarray(known, dtype=np.float64)
    if share.shape != (len(S),) or not ((share >= 0) & (share <= 1)).all():
        raise UsageError("known takes one share between 0 and 1 for each row.")
    if kind == "binary":
        return np.minimum(np.abs(S[:, 0] - blank), LOUDEST) * share
    top: Doubles = np.clip(S.max(axis=1), -LOUDEST, LOUDEST)
    if kind == "labels":
        return np.minimum(top, top * share)  # a negative score already means no, and unknown words must not raise it
    mean: Doubles = np.clip((S / S.shape[1]).sum(axis=1), -LOUDEST, LOUDEST)
    return (top - mean) * share


def learn_scope(kind: Kind, S: Matrix, known: Doubles | None = None, blank: float = 0.0) -> FittedScope:
    """Learn the strengths of training rows from scores of models that were not trained on them; see `voice`.

    >>> scope = learn_scope("binary", np.linspace(1, 9, 9).reshape(-1, 1))
    >>> scope.scores(np.array([[5.0], [-0.5]])).round(2).tolist()
    [0.5, 0.91]
    """
    voices = np.sort(voice(kind, S, known, blank))
    places = np.unique(np.linspace(0, len(voices) - 1, KEPT).astype(np.int64))
    values, first = np.unique(voices[places], return_index=True)
    louder = np.asarray(1.0 - (places[first] + 1.0) / (len(voices) + 1.0), np.float64)
    return FittedScope(kind, len(voices), louder, values, blank, known is not None)


@dataclass(frozen=True, eq=False)
class FittedScope:
    """Rising strengths of training rows, and the share of the n rows that are stronger than each.

    With `by_known` they were learned with the known shares of the rows, and `scores` needs these too.
    """

    kind: Kind
    rows: int
    louder: Doubles
    voices: Doubles
    blank: float = 0.0
    by_known: bool = False

    def scores(self, S: Matrix, known: Doubles | None = None) -> Doubles:
        """The share of training rows with a larger strength (n,): near 1 is unlike the training data.

        Beyond the range of the training rows it continues towards 0 and 1, so that different strengths never tie.
        """
        said = voice(self.kind, S, known, self.blank)
        inside = np.interp(said, self.voices, self.louder)
        edge = 1.0 / (self.rows + 1.0)
        spread = max(float(self.voices[-1] / 2 - self.voices[0] / 2), 1e-300)
        with np.errstate(over="ignore"):
            under, over = (self.voices[0] - said) / spread, (said - self.voices[-1]) / spread
        inside = np.where(under > 0, 1.0 - edge * np.exp(-np.maximum(under, 0.0)), inside)
        return np.where(over > 0, edge * np.exp(-np.maximum(over, 0.0)), inside)

    def state(self) -> State:
        """Two vectors, and plain settings."""
        manifest = {"kind": "scope", "scores": self.kind, "rows": self.rows, "blank": self.blank}
        if self.by_known:
            manifest["by_known"] = True
        return State(manifest, {"louder": self.louder, "voices": self.voices})

    @classmethod
    def from_state(cls, state: State) -> FittedScope:
        """Restore from the result of `state`."""
        kind, rows = stored_kind(state.manifest), field(state.manifest, "rows", int)
        blank = field({"blank": 0.0, **state.manifest}, "blank", float)
        by_known = field({"by_known": False, **state.manifest}, "by_known", bool)
        louder, voices = (tensor(state.tensors, name, np.float64) for name in ("louder", "voices"))
        if rows < 1 or len(voices) == 0 or len(louder) != len(voices) or not np.isfinite([*voices, blank]).all():
            raise damaged("its out-of-scope quantiles do not fit")
        if (np.diff(voices) <= 0).any() or (np.diff(louder) >= 0).any() or not ((louder >= 0) & (louder <= 1)).all():
            raise damaged("its out-of-scope quantiles are not in order")
        return cls(kind, rows, louder, voices, blank, by_known)


@dataclass(frozen=True)
class Rules:
    """The settings that need no learning: costs, when to abstain, the least number of labels in a set."""

    costs: CostTable | None = None
    abstain: Abstention | None = None
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

    def probabilities(self, S: Matrix) -> Doubles:
        """Class probabilities P (n, k): each row adds up to 1; for label sets each label has its own probability."""
        return self.calibrator.probabilities(S)

    def out_of_scope(self, S: Matrix, known: Known = None) -> Doubles:
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

    def decide(self, S: Matrix, abstain: Abstention | str | None = None, known: Known = None) -> Decided:
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
        # Rounding may make two probabilities equal where scores differ.
        if self.calibrator.keeps_order:
            P = S if S.shape[1] > 1 else np.hstack([np.zeros_like(S), S])
        return np.argmax(P, axis=1)

    def _label_sets(self, S: Doubles, P: Doubles, rule: Abstention | None, known: Known) -> Decided:
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
        parts = [self.calibrator, self.scope, self.thresholds, self.conformal]
        tensors = {} if rules.costs is None else {"costs": np.array(rules.costs).reshape(-1)}
        return nest(manifest, [part for part in parts if part is not None], tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedDecision:
        """Restore from `state`; parts that do not fit together are refused."""
        found = {str(part.manifest.get("kind")): restored(part) for part in nested(state)}
        parts = {kind if kind in PLACES else "calibrator": part for kind, part in found.items()}
        if "calibrator" not in parts:
            raise damaged("its decision lacks a part")
        made = cls(**parts, rules=_stored_rules(state))
        _check(made)
        return made


PLACES = ("scope", "thresholds", "conformal")
"""Parts that are fields of a fitted decision by their own names; all others are calibrators."""

PARTS = Table(
    "linnaeus.decision",
    {
        "temperature": "calibration.FittedTemperature",
        "chances": "calibration.FittedChances",
        "logarithms": "calibration.FittedLogarithms",
        "shared": "shared_sigmoid.FittedShared",
        "sigmoid": "sigmoid.FittedSigmoid",
        "isotonic": "isotonic.FittedIsotonic",
        "scope": "fitted.FittedScope",
        "thresholds": "thresholds.FittedThresholds",
        "conformal": "conformal.FittedConformal",
    },
)
"""What is built again of each kind of part; loaded when needed."""


def restored(part: State) -> Any:
    """A part of a decision from its state; an unknown kind is refused."""
    kind = part.manifest.get("kind")
    if not isinstance(kind, str) or kind not in PARTS:
        raise damaged_or_newer(f"its decision has a part {kind!r}")
    return PARTS[kind].from_state(part)


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
