"""Answers of classifiers: from scores to classes, label sets or numbers; as arrays, as Arrow columns, and judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.data.arrow import as_numpy, number
from linnaeus.errors import DataError, UsageError, did_you_mean
from linnaeus.frozen import dataclass
from linnaeus.outputs import Real
from linnaeus.tasks.arrow import numbers, picked
from linnaeus.tasks.classify.prediction import best, curve_of
from linnaeus.tasks.examples import labeled_stream
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from linnaeus.data import Batch
    from linnaeus.evaluation import Outcome
    from linnaeus.model.model import Model
    from linnaeus.types import Doubles


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is wanted besides the label: so many classes by rank, when to abstain, columns of the input to keep.

    With `scope` also how unlike the training rows each row is, from 0 to 1.

    >>> Wish(top=3).top
    3
    """

    top: int = 0
    abstain: Any = None
    keep: tuple[str, ...] = ()
    scope: bool = False

    @property
    def plain(self) -> bool:
        """Nothing but the label and its probability."""
        return not self.top and self.abstain is None and not self.scope

    def __post_init__(self) -> None:
        if self.top < 0:
            raise UsageError(f"top is the number of classes to show, at least 0, not {self.top}.")


def known(model: Model, source: Any) -> Callable[[], Doubles | None]:
    """A function that gives the share of each row's words that the features know; None where they know no words.

    Texts are read for it only when it is called: when a scope is asked for.
    """
    from linnaeus.features.known_words import known_share

    return lambda: known_share(model.features, source)


def decide(model: Model, S: Doubles, abstain: Any = None, known: Any = None) -> Any:
    """From class scores to class indices (-1: abstained), label sets, or numbers; `known` is that of the rows.

    Where a coverage is asked for, one class or none for each row becomes a set of classes.
    """
    if isinstance(model.space, Real):
        return S
    decided = model.decided().decide(S, abstain, known)
    return decided.labels if decided.sets is None else decided.sets


def chosen(model: Model, S: Doubles, abstain: Any = None, known: Any = None) -> Any:
    """The predictions to evaluate: as `decide`, but for sets with a coverage the best class, -1 if empty."""
    decided = model.decided().decide(S, abstain, known)
    return decided.sets if decided.labels is None else decided.labels


def spoken(model: Model, found: Any) -> NDArray[Any]:
    """The labels of class indices."""
    if model.classes is None:
        values: NDArray[Any] = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
        return values
    names = model.classes.tolist()
    if isinstance(found, LabelSets):
        rows = [found.labels[a:b] for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
        answer = np.empty(len(rows), object)
        answer[:] = [tuple(names[i] for i in row) for row in rows]
        return answer
    if (found < 0).any():
        return np.array([names[i] if i >= 0 else None for i in found.tolist()], dtype=object)
    labels: NDArray[Any] = model.classes[found]
    return labels


def outcome(model: Model, source: Any, S: Doubles | None = None, abstain: Any = None) -> Outcome:
    """True labels and predictions of labeled rows, for `linnaeus.evaluation`; holds all rows in memory."""
    from linnaeus.data.batch import join
    from linnaeus.data.roles import label_hint
    from linnaeus.evaluation import Outcome
    from linnaeus.tasks.classify.label_checks import refuse_label_kind

    batch = join(list(labeled_stream(source).batches()))
    if batch.labels is None:
        raise DataError(f"There are no labels to compare with; {label_hint(list(batch.columns))}")
    refuse_label_kind(model, batch.labels.type, abstain)
    S = model.task.scores(model, batch) if S is None else S
    weights = None if batch.weights is None else as_numpy(batch.weights)
    if model.classes is None:
        truth = as_numpy(batch.labels).astype(np.float64).reshape(len(batch), -1)
        return Outcome(truth, S, weights=weights)
    names = [str(name) for name in model.classes.tolist()]
    truth = _truth(model, batch.labels, names)
    P, decided = model.decided().probabilities(S), model.decided().decide(S, abstain, known(model, batch))
    found, sets = (decided.sets, None) if decided.labels is None else (decided.labels, decided.sets)
    return Outcome(truth, found, names, P, S, weights, model.recipe.decision.costs, sets)


def _truth(model: Model, labels: Any, names: list[str]) -> Any:
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
    columns = {name: _kept(batch, name) for name in wish.keep}
    if wish.plain and (curve := curve_of(model)) is not None:
        return pa.RecordBatch.from_pydict(columns | _best(model, batch, curve))
    S, words = model.task.scores(model, batch), known(model, batch)
    columns |= _numbers(model, S) if model.classes is None else _labels(model, S, wish, words)
    if wish.scope:
        columns["out_of_scope"] = numbers(model.decided().out_of_scope(S, words))
    return pa.RecordBatch.from_pydict(columns)


def _kept(batch: Batch, name: str) -> pa.Array:
    if name == "text" and batch.text is not None:
        return batch.text
    if name not in batch.columns:
        raise DataError(f"There is no column {name!r} to keep; {did_you_mean(name, ['text', *batch.columns])}")
    return batch.columns[name]


def _numbers(model: Model, S: Doubles) -> dict[str, pa.Array]:
    found = spoken(model, S)
    if found.ndim == 1:
        return {"label": numbers(found)}
    return {f"label_{i + 1}": numbers(found[:, i]) for i in range(found.shape[1])}


def _best(model: Model, batch: Batch, curve: tuple[float, float]) -> dict[str, pa.Array]:
    """The best class of each text and its probability: the scores of the others are never kept."""
    assert model.classes is not None
    best, chance = model.quick.choices(batch.text, curve)
    return {"label": picked([str(name) for name in model.classes.tolist()], best), "probability": numbers(chance)}


def _labels(model: Model, S: Doubles, wish: Wish, known: Any) -> dict[str, pa.Array]:
    assert model.classes is not None
    assert model.decision is not None
    names = [str(name) for name in model.classes.tolist()]
    P, found = model.decision.probabilities(S), decide(model, S, wish.abstain, known)
    if isinstance(found, LabelSets):
        offsets = numbers(found.offsets.astype(np.int32))
        columns = {"labels": pa.ListArray.from_arrays(offsets, picked(names, found.labels))}
        owner = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        columns["probabilities"] = pa.ListArray.from_arrays(offsets, numbers(P[owner, found.labels]))
    else:
        given = found >= 0
        columns = {"label": picked(names, found, given)}
        columns["probability"] = numbers(P[np.arange(len(P)), np.where(given, found, 0)], given)
    if wish.top:
        columns["top"] = _ranked(names, P, wish.top)
    return columns


def _ranked(names: list[str], P: Doubles, count: int) -> pa.Array:
    """The best classes of each row, as a list of (label, probability)."""
    order = best(P, min(count, P.shape[1]))
    offsets = numbers(np.arange(0, order.size + 1, order.shape[1], dtype=np.int32))
    chances = numbers(np.take_along_axis(P, order, axis=1).reshape(-1))
    pairs = pa.StructArray.from_arrays([picked(names, order.reshape(-1)), chances], ["label", "probability"])
    return pa.ListArray.from_arrays(offsets, pairs)
