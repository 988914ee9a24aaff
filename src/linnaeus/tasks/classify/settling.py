"""What classes and numbers learn from held-out rows: how to decide, and how good the model is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.data.split import folds
from linnaeus.evaluation import Outcome
from linnaeus.features.known_words import known_share_held_out
from linnaeus.outputs import Binary, MultiLabel, Real
from linnaeus.tasks.classify.answers import chosen
from linnaeus.tasks.judging import held_out_evaluation
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.evaluation import Evaluation
    from linnaeus.model.model import Model
    from linnaeus.tasks.examples import Examples, Held
    from linnaeus.types import Doubles, Longs


CROSSED = 1 << 24
"""Scores up to which decisions are learned again without the rows that they are judged by."""
PARTS = 5


def settle(found: Model, examples: Examples, held: Held | None) -> Model:
    """The model with its decision and its evaluation."""
    if isinstance(found.space, Real):
        return found if held is None else replace(found, account=_numbers(examples, held))
    assert found.classes is not None
    if held is None:
        return replace(found, decision=found.recipe.decision.untaught(kind_of(found), len(found.classes)))
    S = found.class_scores(held.answers)
    y, weights = examples.y[held.rows], examples.weights[held.rows]
    names = list(map(str, found.classes.tolist()))
    known = known_share_held_out(found.features, examples.stream)
    known = None if known is None else known[held.rows]
    decision = found.recipe.decision.learn(S, y, weights, known, blank=blank_of(found))
    found = replace(found, decision=decision)
    said, P = chosen(found, S, known=known), decision.probabilities(S)
    many = decision.thresholds is not None or decision.calibrator.curve is None
    if many and len(S) > 1 and S.size <= CROSSED:
        said, P = _crossed(found, (S, y, weights, known), examples, held)
    outcome = Outcome(y, said, names, P, S, weights, found.recipe.decision.costs)
    return replace(found, account=held_out_evaluation(outcome, examples, held, found.recipe.seed))


def _crossed(found: Model, rows: tuple[Any, ...], examples: Examples, held: Held) -> tuple[Any, Doubles]:
    """Predictions and probabilities of held-out rows by decisions that were learned without them.

    Thresholds and a calibration by many numbers fit the rows that they are learned from better than others.
    """
    S, y, weights, known = rows
    keys = None if examples.keys is None else examples.keys[held.rows]
    most = len(S) if keys is None else len(np.unique(keys))
    if most < PARTS:
        return chosen(found, S, known=known), found.decided().probabilities(S)
    parts = folds(len(S), PARTS, seed=found.recipe.seed, groups=keys)
    assert found.classes is not None
    P, said = np.zeros((len(S), len(found.classes))), []
    for part in parts:
        some = None if known is None else known[part.train]
        own = found.recipe.decision.learn(
            S[part.train], y[part.train], weights[part.train], some, blank=blank_of(found)
        )
        asked = replace(found, decision=own)
        P[part.test] = own.probabilities(S[part.test])
        said.append(chosen(asked, S[part.test], known=None if known is None else known[part.test]))
    return _in_order(said, [part.test for part in parts]), P


def _in_order(said: list[Any], rows: list[Longs]) -> Any:
    """The predictions of all parts in the order of the rows: class numbers, or label sets."""
    order = np.argsort(np.concatenate(rows), kind="stable")
    if not isinstance(said[0], LabelSets):
        return np.concatenate(said)[order]
    counts = np.concatenate([np.diff(sets.offsets) for sets in said])
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return LabelSets(offsets, np.concatenate([sets.labels for sets in said]))[order]


def blank_of(found: Model) -> float:
    """The score of a text without features: the intercept of a linear model of two classes, else 0."""
    return float(found.params["b"][0]) if isinstance(found.space, Binary) and "b" in found.params else 0.0


def _numbers(examples: Examples, held: Held) -> Evaluation:
    assert examples.numbers is not None
    truth = examples.numbers[held.rows].reshape(len(held.rows), -1)
    return held_out_evaluation(Outcome(truth, held.answers, weights=examples.weights[held.rows]), examples, held, 0)


def kind_of(found: Model) -> Any:
    """What its class scores are, as `linnaeus.decision` calls it."""
    if isinstance(found.space, MultiLabel):
        return "labels"
    return "binary" if isinstance(found.space, Binary) else "classes"
