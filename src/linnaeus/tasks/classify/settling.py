"""What classes and numbers learn from held-out rows: how to decide, and how good the model is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linnaeus.data.split import folds
from linnaeus.evaluation import Outcome
from linnaeus.features.known_words import known_share_held_out
from linnaeus.protocols import OneScore, SetSpace, has
from linnaeus.tasks.classify.answers import chosen
from linnaeus.tasks.examples import Examples, Held
from linnaeus.tasks.judging import held_out_evaluation
from linnaeus.types import Array, Doubles, LabelSets, Longs, Truth, Words64

if TYPE_CHECKING:
    from linnaeus.decision.scores import Kind
    from linnaeus.evaluation import Evaluation
    from linnaeus.model.model import Model


CROSSED = 1 << 24
"""Scores up to which decisions are learned again without the rows that they are judged by."""
PARTS = 5


def settle(found: Model, examples: Examples, held: Held | None) -> Model:
    """The model with its decision and its evaluation."""
    if found.classes is None:
        return found if held is None else replace(found, account=_numbers(examples, held))
    if held is None:
        return replace(found, decision=found.recipe.decision.untaught(kind_of(found), len(found.classes)))
    known = known_share_held_out(found.features, examples.stream)
    known = None if known is None else known[held.rows]
    rows = Rows(found.class_scores(held.answers), examples.y[held.rows], examples.weights[held.rows], known)
    found = _taught(found, rows)
    decision = found.decided()
    many = decision.thresholds is not None or decision.calibrator.curve is None
    if many and len(rows.S) > 1 and rows.S.size <= CROSSED:
        said, P = _crossed(found, rows, None if examples.keys is None else examples.keys[held.rows])
    else:
        said, P = _said(found, rows)
    outcome = Outcome(rows.y, said, list(found.names), P, rows.S, rows.weights, found.recipe.decision.costs)
    return replace(found, account=held_out_evaluation(outcome, examples, held, found.recipe.seed))


class Rows(NamedTuple):
    """Held-out rows: class scores, truth, weights, and the share of the words of each that the features know."""

    S: Doubles
    y: Truth
    weights: Doubles
    known: Doubles | None

    def take(self, rows: Longs) -> Rows:
        """These rows, in this order."""
        known = None if self.known is None else self.known[rows]
        return Rows(self.S[rows], self.y[rows], self.weights[rows], known)


def _taught(found: Model, rows: Rows) -> Model:
    """The model with the decision that these rows teach."""
    decision = found.recipe.decision.learn(rows.S, rows.y, rows.weights, rows.known, blank=blank_of(found))
    return replace(found, decision=decision)


def _said(found: Model, rows: Rows) -> tuple[Truth, Doubles]:
    """Predictions and probabilities."""
    return chosen(found, rows.S, known=rows.known), found.decided().probabilities(rows.S)


def _crossed(found: Model, rows: Rows, keys: Words64 | None) -> tuple[Truth, Doubles]:
    """Predictions and probabilities of held-out rows by decisions that were learned without them.

    Thresholds and a calibration by many numbers fit the rows that they are learned from better than others.
    """
    if (len(rows.S) if keys is None else len(np.unique(keys))) < PARTS:
        return _said(found, rows)
    parts = folds(len(rows.S), PARTS, seed=found.recipe.seed, groups=keys)
    P, said = np.zeros((len(rows.S), len(found.names))), []
    for part in parts:
        labels, P[part.test] = _said(_taught(found, rows.take(part.train)), rows.take(part.test))
        said.append(labels)
    return _in_order(said, [part.test for part in parts]), P


def _in_order(said: list[Any], rows: list[Longs]) -> Truth:
    """The predictions of all parts in the order of the rows: class numbers, or label sets."""
    order = np.argsort(np.concatenate(rows), kind="stable")
    if not isinstance(said[0], LabelSets):
        labels: Array = np.concatenate(said)[order]
        return labels
    counts = np.concatenate([np.diff(sets.offsets) for sets in said])
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return LabelSets(offsets, np.concatenate([sets.labels for sets in said]))[order]


def blank_of(found: Model) -> float:
    """The score of a text without features: the intercept of a linear model of two classes, else 0."""
    return float(found.params["b"][0]) if has(found.space, OneScore) and "b" in found.params else 0.0


def _numbers(examples: Examples, held: Held) -> Evaluation:
    assert examples.numbers is not None
    truth = examples.numbers[held.rows].reshape(len(held.rows), -1)
    return held_out_evaluation(Outcome(truth, held.answers, weights=examples.weights[held.rows]), examples, held, 0)


def kind_of(found: Model) -> Kind:
    """What its class scores are, as `linnaeus.decision` calls it."""
    if has(found.space, SetSpace):
        return "labels"
    return "binary" if has(found.space, OneScore) else "classes"
