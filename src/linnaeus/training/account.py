"""What a training leaves besides weights: how to decide, how good it is on rows it has not seen, what it was fed."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import linnaeus
from linnaeus.data.split import MANY, repeated
from linnaeus.evaluation import Outcome, evaluate, observe
from linnaeus.features.known_words import known_share_held_out
from linnaeus.outputs import Binary, MultiLabel, Real
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.erm import Trace
    from linnaeus.evaluation import Evaluation
    from linnaeus.model.model import Classifier
    from linnaeus.protocols import Stream
    from linnaeus.tasks.examples import Examples
    from linnaeus.training.crossfit import Held
    from linnaeus.types import Json

ROUNDS = 1000
"""Resamples for the intervals of the evaluation."""


def settle(found: Classifier, examples: Examples, held: Held | None, trace: Trace | None, mark: str) -> Classifier:
    """The classifier with its decision, its evaluation and its facts; `mark` is the fingerprint of the examples."""
    facts: dict[str, Json] = {
        "version": linnaeus.__version__,
        "rows": len(examples),
        "fingerprint": mark,
        "ending": "learned" if trace is None else trace.reason,
        "epochs": trace.last.epoch if trace else 0,
        "held_out": 0 if held is None else len(held.rows),
    }
    if examples.keys is not None and (several := int(repeated(examples.keys).sum())):
        facts["repeated"] = several
    if held is not None and held.strength is not None:
        facts["strength"] = held.strength
        facts["tried"] = [[strength, score] for strength, score in held.tried.items()]
    found = replace(found, facts=facts)
    if isinstance(found.space, Real):
        return found if held is None else replace(found, account=_numbers(examples, held))
    assert found.classes is not None
    if held is None:
        return replace(found, decision=found.recipe.decision.untaught(kind_of(found), len(found.classes)))
    S = found.class_scores(held.scores)
    y, weights = examples.y[held.rows], examples.weights[held.rows]
    names = list(map(str, found.classes.tolist()))
    known = known_share_held_out(found.features, examples.stream)
    known = None if known is None else known[held.rows]
    decision = found.recipe.decision.learn(S, y, weights, known, blank=blank_of(found))
    found = replace(found, decision=decision)
    outcome = Outcome(
        y, found.chosen(S, known=known), names, decision.probabilities(S), S, weights, found.recipe.decision.costs
    )
    return replace(found, account=_judged(outcome, examples, held, found.recipe.seed))


def blank_of(found: Classifier) -> float:
    """The score of a text without features: the intercept of a linear model of two classes, else 0."""
    return float(found.params["b"][0]) if isinstance(found.space, Binary) and "b" in found.params else 0.0


def _numbers(examples: Examples, held: Held) -> Evaluation:
    assert examples.numbers is not None
    truth = examples.numbers[held.rows].reshape(len(held.rows), -1)
    return _judged(Outcome(truth, held.scores, weights=examples.weights[held.rows]), examples, held, 0)


def _judged(outcome: Outcome, examples: Examples, held: Held, seed: int) -> Evaluation:
    """The evaluation of the held-out rows; where many rows repeat a text, also that of texts which occur once."""
    facts = observe(outcome)
    found = evaluate(facts, ROUNDS, seed).brief()
    if examples.keys is None:
        return found
    several = repeated(examples.keys)
    once = np.flatnonzero(~several[held.rows])
    if several.mean() <= MANY or not len(once):
        return found
    return replace(found, once=evaluate(facts.take(once), ROUNDS, seed).brief(0))


def fingerprint(examples: Examples) -> str:
    """SHA-256 over texts, labels and weights in their order: whether two models were trained on the same data.

    It does not depend on the blocks in which rows come: all bytes of text are one digest, all lengths are another.
    """
    digest = hashlib.sha256()
    for part in _digests(examples.stream):
        digest.update(part)
    y = examples.y
    for array in (y.offsets, y.labels) if isinstance(y, LabelSets) else (y,):
        digest.update(np.ascontiguousarray(array).tobytes())
    if examples.labels is not None:
        digest.update("\x1f".join(map(str, examples.labels.classes.tolist())).encode("utf-8", "surrogatepass"))
    digest.update(np.ascontiguousarray(examples.weights).tobytes())
    return digest.hexdigest()


def _digests(stream: Stream) -> tuple[bytes, bytes]:
    """The digest of all texts, one after the other, and that of their lengths."""
    from linnaeus.text import as_texts

    whole, lengths = hashlib.sha256(), hashlib.sha256()
    for batch in (stream.watch(None) if hasattr(stream, "watch") else stream).batches():
        if batch.text is not None:
            texts = as_texts(batch.text)
            start, end = int(texts.offsets[0]), int(texts.offsets[-1])
            whole.update(texts.data[start:end].data)
            lengths.update(np.ascontiguousarray(np.diff(texts.offsets)).data)
    return whole.digest(), lengths.digest()


def kind_of(found: Classifier) -> Any:
    """What its class scores are, as `linnaeus.decision` calls it."""
    if isinstance(found.space, MultiLabel):
        return "labels"
    return "binary" if isinstance(found.space, Binary) else "classes"
