"""The answers of a model of many labels: the best labels of each text with their chances; judged, and explained."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.data.arrow import as_numpy, from_numpy, is_list
from linnaeus.decision.abstention import Confidence, Margin, Risk, as_abstention, sure
from linnaeus.errors import DataError, UsageError
from linnaeus.features.base import as_stream
from linnaeus.frozen import dataclass
from linnaeus.learners.label_tree.fitted import FittedLabels
from linnaeus.tasks.classify.answers import kept_column
from linnaeus.tasks.classify.prediction import Prediction
from linnaeus.tasks.many.stopping import Answers, answers_at, least_chance, right_answers
from linnaeus.types import Array, Bools, Doubles, Floats, Ints, Label, LabelSets, Source, Truth, offsets_of

if TYPE_CHECKING:
    from linnaeus.data import Batch
    from linnaeus.evaluation import Facts
    from linnaeus.model.model import Model
    from linnaeus.tasks.base import Abstain, Wish


@dataclass(frozen=True, eq=False)
class Best:
    """The best labels of n texts, best first (n, depth), -1 where there are no more; their scores and chances."""

    labels: Ints
    scores: Floats
    chances: Doubles


def best(model: Model, source: Source, depth: int = 0) -> Best:
    """The best labels of each text: at least `depth` of them."""
    body: FittedLabels = model.body
    body.ready()
    depth = min(max(depth, body.depth), body.k)
    parts = [body.best(model.features.extract(batch), depth) for batch in as_stream(source).batches()]
    if not parts:
        parts = [(np.empty((0, depth), np.int32), np.empty((0, depth), np.float32))]
    labels, scores = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return Best(labels, scores, body.chances(scores))


def decide(model: Model, found: Best, abstain: Abstain = None) -> Truth:
    """The label of each text, -1 where the model abstains; or the labels of a set that are probable enough."""
    if model.form == "single" and isinstance(rule := as_abstention(abstain), Risk):
        told = stopped(model, found, rule)
        return np.where(told.level == 0, told.at, -1)
    if model.form == "single":
        first = found.labels[:, 0]
        return np.where(answered(model, found, abstain), first, -1)
    if abstain is not None:
        raise UsageError("Abstaining needs one label for each text; these are sets of labels.")
    some = (found.chances >= model.body.threshold) & (found.labels >= 0)
    order = np.argsort(np.where(some, found.labels, np.iinfo(np.int32).max), axis=1, kind="stable")
    ordered, there = np.take_along_axis(found.labels, order, 1), np.take_along_axis(some, order, 1)
    return LabelSets(offsets_of(some.sum(axis=1)), ordered[there])


def answered(model: Model, found: Best, abstain: Abstain) -> Bools:
    """Which texts have an answer."""
    del model
    there: Bools = found.labels[:, 0] >= 0
    rule = as_abstention(abstain)
    if rule is None:
        return there
    if not isinstance(rule, Confidence | Margin):
        raise UsageError(
            "A model of many labels abstains by its probabilities, confidence=0.8 or margin=0.2, or by risk=0.05, "
            "which with a taxonomy answers with a node above the label."
        )
    P = found.chances if found.chances.shape[1] > 1 else np.hstack([found.chances, 1 - found.chances])
    return there & sure(rule, np.zeros(len(P), np.int64), P)


def spoken(model: Model, decided: Truth) -> Array:
    """The names of labels, or tuples of them; None where the model abstains."""
    names = model.body.names
    if isinstance(decided, LabelSets):
        flat = names.listed(decided.labels)
        rows = np.empty(len(decided), object)
        rows[:] = [tuple(flat[a:b]) for a, b in zip(decided.offsets[:-1], decided.offsets[1:], strict=True)]
        return rows
    said = names.listed(decided[decided >= 0])
    if (decided < 0).any():
        given = iter(said)
        return np.array([next(given) if label >= 0 else None for label in decided.tolist()], object)
    return np.array(said) if said else np.array([], object)


def predicted(model: Model, found: Best, abstain: Abstain) -> Array:
    """What is said about each text: a label, a node of the taxonomy, a tuple of labels, or None."""
    if isinstance(rule := as_abstention(abstain), Risk):
        return np.array(_places(model.body, stopped(model, found, rule)), object)
    return spoken(model, decide(model, found, abstain))


def ranked(model: Model, found: Best, count: int) -> list[list[tuple[Label, float]]]:
    """The best labels of each text with their chances, best first."""
    names = model.body.names
    rows = zip(found.labels[:, :count], found.chances[:, :count].tolist(), strict=True)
    return [
        [(names[label], chance) for label, chance in zip(labels.tolist(), chances, strict=True) if label >= 0]
        for labels, chances in rows
    ]


def columns(model: Model, batch: Batch, wish: Wish) -> pa.RecordBatch:
    """The kept columns, `label` and `probability`, or `labels` and `probabilities`, and `top` where wished."""
    found, names = best(model, batch, wish.top), model.body.names
    told = {name: kept_column(batch, name) for name in wish.keep}
    if isinstance(rule := as_abstention(wish.abstain), Risk):
        told |= _stopped(model, found, rule)
        return pa.RecordBatch.from_pydict(told | ({"top": _top(model, found, wish.top)} if wish.top else {}))
    decided = decide(model, found, wish.abstain)
    if isinstance(decided, LabelSets):
        offsets = from_numpy(decided.offsets.astype(np.int32))
        told["labels"] = pa.ListArray.from_arrays(offsets, names.column(decided.labels))
        told["probabilities"] = pa.ListArray.from_arrays(offsets, from_numpy(_chances(found, decided)))
    else:
        given = decided >= 0
        told["label"] = names.column(decided, given)
        told["probability"] = from_numpy(found.chances[:, 0], given)
    if wish.top:
        told["top"] = _top(model, found, wish.top)
    return pa.RecordBatch.from_pydict(told)


def stopped(model: Model, found: Best, rule: Risk) -> Answers:
    """The answers of which at most a share is wrong: labels, or nodes of the taxonomy above them."""
    if model.form != "single":
        raise UsageError("Abstaining needs one label for each text; these are sets of labels.")
    return answers_at(model.body, (found.labels, found.chances), least_chance(model.body, rule.at_most))


def _stopped(model: Model, found: Best, rule: Risk) -> dict[str, pa.Array]:
    """The answer of each text, its chance, and how many levels above the labels it is."""
    told, body = stopped(model, found, rule), model.body
    given = told.level >= 0
    columns = {"label": pa.array(_places(body, told), pa.string()), "probability": from_numpy(told.chance, given)}
    return {**columns, "levels_above": from_numpy(told.level, given)} if body.nodes else columns


def _places(body: FittedLabels, told: Answers) -> list[str | None]:
    """The names of labels and nodes; None where there is no answer."""
    pairs = zip(told.level.tolist(), told.at.tolist(), strict=True)
    return [None if level < 0 else body.nodes[at] if level else str(body.names[at]) for level, at in pairs]


def _chances(found: Best, decided: LabelSets) -> Doubles:
    """The chances of the labels of sets, in their order."""
    owner = np.repeat(np.arange(len(decided)), np.diff(decided.offsets))
    at = (found.labels[owner] == decided.labels[:, None]).argmax(axis=1)
    return found.chances[owner, at]


def _top(model: Model, found: Best, count: int) -> pa.Array:
    labels, chances = found.labels[:, :count], found.chances[:, :count]
    there = labels >= 0
    offsets = from_numpy(offsets_of(there.sum(axis=1)).astype(np.int32))
    parts = [model.body.names.column(labels[there]), from_numpy(chances[there])]
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(parts, ["label", "probability"]))


def observe(model: Model, batch: Batch, abstain: Abstain = None) -> Facts:
    """What evaluation needs to know of the best labels of labeled texts."""
    from linnaeus.data.roles import label_hint
    from linnaeus.evaluation import observe_ranked

    if batch.labels is None:
        raise DataError(f"There are no labels to compare with; {label_hint(list(batch.columns))}")
    if is_list(batch.labels.type) != (model.form != "single"):
        there = "sets of labels" if is_list(batch.labels.type) else "one label each"
        raise DataError(f"The rows have {there}, unlike those that the model was trained on.")
    found, body = best(model, batch), model.body
    weights = None if batch.weights is None else as_numpy(batch.weights)
    truth = truth_of(model, batch.labels)
    facts = observe_ranked(found.labels, truth, body.counts, int(model.facts["rows"]), weights)
    if abstain is None:
        return facts
    return replace(facts, values=facts.values | _judged(model, found, truth, abstain))


def _judged(model: Model, found: Best, truth: LabelSets, abstain: Abstain) -> dict[str, Array]:
    """Which texts have an answer where the model may abstain, and which of these are right."""
    if isinstance(rule := as_abstention(abstain), Risk):
        told = stopped(model, found, rule)
        return {
            "answered": (told.level >= 0).astype(np.uint8),
            "right_answers": right_answers(model.body, told, truth.labels.astype(np.int64)).astype(np.uint8),
        }
    decided = decide(model, found, abstain)
    there = np.asarray(decided) >= 0
    return {"answered": there.astype(np.uint8), "right_answers": (there & (decided == truth.labels)).astype(np.uint8)}


def truth_of(model: Model, labels: pa.Array) -> LabelSets:
    """The true labels of each text as numbers, -1 for those that the model does not know."""
    names = model.body.names
    if not is_list(labels.type):
        found = names.find(labels.to_pylist())
        return LabelSets(np.arange(len(found) + 1, dtype=np.int64), found)
    rows = labels.to_pylist()
    flat = names.find([label for row in rows for label in row])
    return LabelSets(offsets_of([len(row) for row in rows]), flat)


def predictions(model: Model, texts: list[str], top: int = 1) -> list[Prediction]:
    """The answers to texts, as records."""
    found = best(model, texts, top)
    decided = decide(model, found)
    said = spoken(model, decided).tolist()
    told = []
    for label, ranking, chances in zip(said, ranked(model, found, top), found.chances[:, 0].tolist(), strict=True):
        told.append(Prediction(label, None if isinstance(label, tuple) else chances, tuple(ranking)))
    return told
