"""Answers of classifiers: from scores to classes, label sets or numbers; as Arrow columns, judged and explained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from linnaeus.data.arrow import as_numpy, from_numpy, number, picked
from linnaeus.errors import DataError, UsageError, did_you_mean
from linnaeus.protocols import RowWeights, capability
from linnaeus.tasks.classify.prediction import best, curve_of
from linnaeus.types import Array, Doubles, Label, LabelSets, Source, Truth

if TYPE_CHECKING:
    from linnaeus.data import Batch
    from linnaeus.evaluation import Outcome
    from linnaeus.explain import Explanation, Linear, Local, RowSum
    from linnaeus.model.model import Model
    from linnaeus.tasks.base import Abstain, Flips, Wish


Known: TypeAlias = Callable[[], Doubles | None] | Doubles | None


NEIGHBORS = 5
"""Training texts that an explanation shows."""


def known(model: Model, source: Source) -> Callable[[], Doubles | None]:
    """A function that gives the share of each row's words that the features know; None where they know no words.

    Texts are read for it only when it is called: when a scope is asked for.
    """
    from linnaeus.features.known_words import known_share

    return lambda: known_share(model.features, source)


def decide(model: Model, S: Doubles, abstain: Abstain = None, known: Known = None) -> Truth:
    """From class scores to class indices (-1: abstained), label sets, or numbers; `known` is that of the rows.

    Where a coverage is asked for, one class or none for each row becomes a set of classes.
    """
    if model.classes is None:
        return S
    decided = model.decided().decide(S, abstain, known)
    found = decided.labels if decided.sets is None else decided.sets
    assert found is not None
    return found


def chosen(model: Model, S: Doubles, known: Known = None) -> Truth:
    """The predictions to evaluate: as `decide`, but for sets with a coverage the best class, -1 if empty."""
    decided = model.decided().decide(S, None, known)
    found = decided.sets if decided.labels is None else decided.labels
    assert found is not None
    return found


def spoken(model: Model, found: Truth) -> Array:
    """The labels of class indices."""
    names = [] if model.classes is None else model.classes.tolist()
    if isinstance(found, LabelSets):
        rows = [found.labels[a:b] for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
        answer = np.empty(len(rows), object)
        answer[:] = [tuple(names[i] for i in row) for row in rows]
        return answer
    if model.classes is None:
        return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    if (found < 0).any():
        return np.array([names[i] if i >= 0 else None for i in found.tolist()], dtype=object)
    return model.classes[found]


def outcome(model: Model, batch: Batch, abstain: Abstain = None) -> Outcome:
    """True labels and predictions of labeled rows, for `linnaeus.evaluation`."""
    from linnaeus.data.roles import label_hint
    from linnaeus.evaluation import Outcome
    from linnaeus.tasks.classify.label_checks import refuse_label_kind

    if batch.labels is None:
        raise DataError(f"There are no labels to compare with; {label_hint(list(batch.columns))}")
    refuse_label_kind(model, batch.labels.type, abstain)
    S = model.class_scores(model.raw_scores(batch))
    weights = None if batch.weights is None else as_numpy(batch.weights)
    if model.classes is None:
        numbers = as_numpy(batch.labels).astype(np.float64).reshape(len(batch), -1)
        return Outcome(numbers, S, weights=weights)
    names = list(model.names)
    truth = _truth(model, batch.labels, names)
    P, decided = model.decided().probabilities(S), model.decided().decide(S, abstain, known(model, batch))
    found, sets = (decided.sets, None) if decided.labels is None else (decided.labels, decided.sets)
    return Outcome(truth, found, names, P, S, weights, model.recipe.decision.costs, sets)


def _truth(model: Model, labels: pa.Array, names: list[str]) -> Truth:
    """Labels as indices among the classes; each different one is looked up once."""
    from linnaeus.evaluation import lookup, lookup_sets

    said = _spellings(model, names)
    if model.form != "single":
        return lookup_sets(([said(label) for label in row] for row in labels.to_pylist()), names)
    codes, found = number(labels)
    return lookup(map(said, found), names)[codes]


def _spellings(model: Model, names: list[str]) -> Callable[[str], str]:
    """The name of a label: where classes are numbers, files may write them in other ways, such as `+1` or `1.0`."""
    assert model.classes is not None
    if model.classes.dtype.kind not in "iuf":
        return lambda label: label
    known = dict(zip(map(float, model.classes.tolist()), names, strict=True))

    def said(label: str) -> str:
        try:
            return known.get(float(label), label)
        except ValueError:
            return label

    return said


def answers(model: Model, batch: Batch, wish: Wish) -> pa.RecordBatch:
    """The kept columns, `label`, `probability`, and what else is wished."""
    if model.classes is None and (wish.top or wish.abstain is not None):
        raise UsageError("Ranking classes and abstaining need classes; this model predicts numbers.")
    columns = {name: kept_column(batch, name) for name in wish.keep}
    if wish.plain and (curve := curve_of(model)) is not None:
        return pa.RecordBatch.from_pydict(columns | _best(model, batch, curve))
    S, words = model.class_scores(model.raw_scores(batch)), known(model, batch)
    columns |= _numbers(model, S) if model.classes is None else _labels(model, S, wish, words)
    if wish.scope:
        columns["out_of_scope"] = from_numpy(model.decided().out_of_scope(S, words))
    return pa.RecordBatch.from_pydict(columns)


def kept_column(batch: Batch, name: str) -> pa.Array:
    """A column of the input that is to stand beside the answers; "text" is the text."""
    if name == "text" and batch.text is not None:
        return batch.text
    if name not in batch.columns:
        raise DataError(f"There is no column {name!r} to keep; {did_you_mean(name, ['text', *batch.columns])}")
    return batch.columns[name]


def _numbers(model: Model, S: Doubles) -> dict[str, pa.Array]:
    found = spoken(model, S)
    if found.ndim == 1:
        return {"label": from_numpy(found)}
    return {f"label_{i + 1}": from_numpy(found[:, i]) for i in range(found.shape[1])}


def _best(model: Model, batch: Batch, curve: tuple[float, float]) -> dict[str, pa.Array]:
    """The best class of each text and its probability: the scores of the others are never kept."""
    assert model.quick is not None
    best, chance = model.quick.choices(batch.text, curve)
    return {"label": picked(model.names, best), "probability": from_numpy(chance)}


def _labels(model: Model, S: Doubles, wish: Wish, known: Known) -> dict[str, pa.Array]:
    names, P, found = model.names, model.decided().probabilities(S), decide(model, S, wish.abstain, known)
    if isinstance(found, LabelSets):
        offsets = from_numpy(found.offsets.astype(np.int32))
        columns = {"labels": pa.ListArray.from_arrays(offsets, picked(names, found.labels))}
        owner = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        columns["probabilities"] = pa.ListArray.from_arrays(offsets, from_numpy(P[owner, found.labels]))
    else:
        given = found >= 0
        columns = {"label": picked(names, found, given)}
        columns["probability"] = from_numpy(P[np.arange(len(P)), np.where(given, found, 0)], given)
    if wish.top:
        columns["top"] = _ranked(names, P, wish.top)
    return columns


def _ranked(names: Sequence[str], P: Doubles, count: int) -> pa.Array:
    """The best classes of each row, as a list of (label, probability)."""
    order = best(P, min(count, P.shape[1]))
    offsets = from_numpy(np.arange(0, order.size + 1, order.shape[1], dtype=np.int32))
    chances = from_numpy(np.take_along_axis(P, order, axis=1).reshape(-1))
    pairs = pa.StructArray.from_arrays([picked(names, order.reshape(-1)), chances], ["label", "probability"])
    return pa.ListArray.from_arrays(offsets, pairs)


def reasons(model: Model, row: Batch, classes: Sequence[Label], search: Flips) -> Explanation:
    """They are exact if the model is linear in the contents of the text, else approximate, word by word."""
    from linnaeus import explain as room

    how = room.Search() if search == "default" else search
    local = _around(model, row)
    near = None if model.kept is None else lambda row: model.search(row, NEIGHBORS)[0]
    found = room.explain(row, local, tuple(classes), how, near, lambda S, rows: _decoded(model, S, rows))
    if model.decision is None:
        return found
    return found.with_probabilities(
        dict(zip(model.names, model.task.probabilities(model, row)[0].tolist(), strict=True))
    )


def _around(model: Model, row: Batch) -> Linear | Local | RowSum:
    """What is explained: the weights of the model, or those that it has for this row, or its scores without words."""
    from linnaeus import explain as room

    about = model.features, model.raw_scores, model.space, model.names
    own = capability(model.body, RowWeights)
    if model.opaque or (not model.params and (own is None or not own.exact)):
        return room.local(row, *about)
    return model.linear if own is None or model.params else room.row_sum(row, about, own.row_weights)


def _decoded(model: Model, S: Doubles, rows: Batch) -> Array:
    """The answers to raw scores of these rows, as `explain` asks for them."""
    K = model.class_scores(S)
    if model.classes is None:
        return K
    found = chosen(model, K, known=known(model, rows))
    if not isinstance(found, LabelSets):
        return found
    given = np.zeros((len(found), len(model.classes)), bool)
    given[np.repeat(np.arange(len(found)), np.diff(found.offsets)), found.labels] = True
    return given
