"""Abstentions: when to predict no label, or a set of labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from linnaeus.decision.scores import check_share
from linnaeus.errors import InputTypeError, UsageError
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Bools, Doubles, LabelSets

ABSTAINED = -1


@dataclass(frozen=True, eq=False)
class Decided:
    """The decisions for n rows.

    `labels` (n,) are class indices, -1 where nothing is predicted; None when rows have label sets of their own. `sets`
    are the label sets: those predicted, or with a stated coverage; None when every row has one class.

    >>> import numpy as np
    >>> Decided(labels=np.array([1, -1])).labels.tolist()
    [1, -1]
    """

    labels: NDArray[np.intp] | None
    sets: LabelSets | None = None

    @property
    def abstained(self) -> Bools:
        """The rows for which nothing is predicted."""
        labels = self.labels
        if labels is None:
            assert self.sets is not None
            labels = np.where(np.diff(self.sets.offsets) == 0, ABSTAINED, 0)
        return labels == ABSTAINED


@dataclass(frozen=True, eq=False)
class Evidence:
    """The input of an abstention: the labels so far, P (n, k), conformal sets, scope scores.

    `sets` is a function of the coverage, `scope` of nothing; each is None if nothing was learned for it.
    """

    labels: NDArray[np.intp]
    P: Doubles
    sets: Callable[[float], LabelSets] | None = None
    scope: Callable[[], Doubles] | None = None


class Abstention(ABC):
    """A rule for when to abstain, by its plain name, with one number."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        check_share(self.name, self.number)

    @property
    def number(self) -> float:
        """Its one field."""
        number: float
        (number,) = vars(self).values()
        return number

    @abstractmethod
    def decide(self, seen: Evidence) -> Decided:
        """The labels, -1 for abstentions, or label sets."""


@dataclass(frozen=True)
class Confidence(Abstention):
    """Predict a label only if its probability is at least this.

    >>> seen = Evidence(np.array([0, 1]), np.array([[0.9, 0.1], [0.4, 0.6]]))
    >>> Confidence(0.8).decide(seen).labels.tolist()
    [0, -1]
    """

    at_least: float = 0.8
    name = "confidence"

    def decide(self, seen: Evidence) -> Decided:
        """-1 if the predicted label is not probable enough."""
        chosen = seen.P[np.arange(len(seen.P)), seen.labels]
        return Decided(np.where(chosen >= self.at_least, seen.labels, ABSTAINED))


@dataclass(frozen=True)
class Margin(Abstention):
    """Predict a label only if its probability exceeds that of the second label by at least this.

    >>> seen = Evidence(np.array([0, 1]), np.array([[0.9, 0.1], [0.4, 0.6]]))
    >>> Margin(0.5).decide(seen).labels.tolist()
    [0, -1]
    """

    at_least: float = 0.2
    name = "margin"

    def decide(self, seen: Evidence) -> Decided:
        """-1 if the second label is too close."""
        rows = np.arange(len(seen.P))
        others = seen.P.copy()
        others[rows, seen.labels] = -np.inf
        lead = seen.P[rows, seen.labels] - others.max(axis=1)
        return Decided(np.where(lead >= self.at_least, seen.labels, ABSTAINED))


@dataclass(frozen=True)
class Coverage(Abstention):
    """Predict label sets that contain the true label for this share of rows; an empty set: no label is likely enough.

    >>> Coverage(0.95).share
    0.95
    """

    share: float = 0.9
    name = "coverage"

    def decide(self, seen: Evidence) -> Decided:
        """The sets; -1 for empty ones."""
        if seen.sets is None:
            raise UsageError("abstain='coverage' needs a decision that learned label sets, for one class per row.")
        sets = seen.sets(self.share)
        return Decided(np.where(np.diff(sets.offsets) > 0, seen.labels, ABSTAINED), sets)


@dataclass(frozen=True)
class InScope(Abstention):
    """Predict a label only if the out-of-scope score is at most this: 0.95 refuses one in twenty in-scope rows.

    >>> seen = Evidence(np.array([0, 1]), np.eye(2), scope=lambda: np.array([0.3, 0.99]))
    >>> InScope(0.95).decide(seen).labels.tolist()
    [0, -1]
    """

    at_most: float = 0.95
    name = "scope"

    def decide(self, seen: Evidence) -> Decided:
        """-1 if a row is too unlike the training rows."""
        if seen.scope is None:
            raise UsageError("abstain='scope' needs a decision that was learned from held-out rows.")
        return Decided(np.where(seen.scope() <= self.at_most, seen.labels, ABSTAINED))


@dataclass(frozen=True)
class Risk(Abstention):
    """Answer as exactly as at most this share of wrong answers allows: of a taxonomy with a node above the label.

    Held-out rows in training tell how sure an answer has to be. Only models of many labels have it.

    >>> Risk(0.05).at_most
    0.05
    """

    at_most: float = 0.05
    name = "risk"

    def decide(self, seen: Evidence) -> Decided:
        """Refused: it needs what only a model of many labels knows."""
        raise UsageError("abstain='risk' is for models of many labels; take confidence=0.8.")


def sure(rule: Abstention | str | None, labels: Array, P: Doubles) -> Bools:
    """Which of these labels are sure enough for a rule, given as `as_abstention` takes it, by probabilities alone.

    >>> sure("confidence=0.8", np.array([0, 1]), np.array([[0.9, 0.1], [0.4, 0.6]])).tolist()
    [True, False]
    """
    found = as_abstention(rule)
    if found is None:
        return np.ones(len(labels), bool)
    if not isinstance(found, Confidence | Margin):
        raise UsageError("These answers can be abstained from by confidence=0.8 or margin=0.2 only.")
    return ~found.decide(Evidence(labels.astype(np.intp), P)).abstained


ABSTENTIONS = {kind.name: kind for kind in (Confidence, Margin, Coverage, InScope, Risk)}
"""Every abstention by its plain name; each has one number."""


def as_abstention(value: object) -> Abstention | None:
    """An abstention from an object, None, or a text as on the command line: a name, or name=number.

    >>> as_abstention("confidence=0.7")
    Confidence(at_least=0.7)
    >>> as_abstention("coverage")
    Coverage(share=0.9)
    """
    if value is None or isinstance(value, Abstention):
        return value
    if not isinstance(value, str):
        raise InputTypeError(f"abstain takes one of {', '.join(ABSTENTIONS)}, such as 'confidence=0.8', not {value!r}.")
    name, equals, number = value.partition("=")
    if name.strip() not in ABSTENTIONS:
        raise UsageError(
            f"abstain={value!r} is not known; use one of {', '.join(ABSTENTIONS)}, such as confidence=0.8."
        )
    piece = ABSTENTIONS[name.strip()]
    try:
        return piece(float(number)) if equals else piece()
    except ValueError as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"abstain={value!r} has no number after the '='; write {name}=0.9, say.") from error


def abstention_text(piece: Abstention) -> str:
    """The text that `as_abstention` reads.

    >>> abstention_text(Coverage(0.95))
    'coverage=0.95'
    """
    return f"{piece.name}={piece.number!r}"
