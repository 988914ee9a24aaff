"""What classes and numbers learn from held-out rows: how to decide, and how good the model is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from linnaeus.evaluation import Outcome
from linnaeus.features.known_words import known_share_held_out
from linnaeus.outputs import Binary, MultiLabel, Real
from linnaeus.tasks.classify.answers import chosen
from linnaeus.tasks.judging import held_out_evaluation

if TYPE_CHECKING:
    from linnaeus.evaluation import Evaluation
    from linnaeus.model.model import Model
    from linnaeus.tasks.examples import Examples, Held


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
    outcome = Outcome(
        y, chosen(found, S, known=known), names, decision.probabilities(S), S, weights, found.recipe.decision.costs
    )
    return replace(found, account=held_out_evaluation(outcome, examples, held, found.recipe.seed))


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
