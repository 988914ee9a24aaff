"""Answers to a batch as Arrow columns: what `linnaeus predict` writes, and what streams take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.errors import DataError, UsageError, did_you_mean
from linnaeus.frozen import dataclass
from linnaeus.tasks.arrow import numbers, picked
from linnaeus.tasks.classify.prediction import best
from linnaeus.tasks.classify.single import curve_of
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.data import Batch
    from linnaeus.model.model import Classifier
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


def answers(model: Classifier, batch: Batch, wish: Wish) -> pa.RecordBatch:
    """The kept columns, `label`, `probability`, and what else is wished."""
    if model.classes is None and (wish.top or wish.abstain is not None):
        raise UsageError("Ranking classes and abstaining need classes; this model predicts numbers.")
    columns = {name: _kept(batch, name) for name in wish.keep}
    if wish.plain and (curve := curve_of(model)) is not None:
        return pa.RecordBatch.from_pydict(columns | _best(model, batch, curve))
    S, known = model.scores(batch), model.known(batch)
    columns |= _numbers(model, S) if model.classes is None else _labels(model, S, wish, known)
    if wish.scope:
        columns["out_of_scope"] = numbers(model.unlikeness(S, known))
    return pa.RecordBatch.from_pydict(columns)


def _kept(batch: Batch, name: str) -> pa.Array:
    if name == "text" and batch.text is not None:
        return batch.text
    if name not in batch.columns:
        raise DataError(f"There is no column {name!r} to keep; {did_you_mean(name, ['text', *batch.columns])}")
    return batch.columns[name]


def _numbers(model: Classifier, S: Doubles) -> dict[str, pa.Array]:
    found = model.spoken(S)
    if found.ndim == 1:
        return {"label": numbers(found)}
    return {f"label_{i + 1}": numbers(found[:, i]) for i in range(found.shape[1])}


def _best(model: Classifier, batch: Batch, curve: tuple[float, float]) -> dict[str, pa.Array]:
    """The best class of each text and its probability: the scores of the others are never kept."""
    assert model.classes is not None
    best, chance = model.quick.choices(batch.text, curve)
    return {"label": picked([str(name) for name in model.classes.tolist()], best), "probability": numbers(chance)}


def _labels(model: Classifier, S: Doubles, wish: Wish, known: Any) -> dict[str, pa.Array]:
    assert model.classes is not None
    assert model.decision is not None
    names = [str(name) for name in model.classes.tolist()]
    P, found = model.decision.probabilities(S), model.decide(S, wish.abstain, known)
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
