"""What metrics need to know of each row: a few numbers, for any number of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.errors import DataError
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Arrays, Doubles, LabelSets, Longs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.evaluation.outcome import Task

KEEP = 1 << 23
"""The most scores (rows times classes) that are kept for average precision: 64 MB. Above that, it is left out."""


BINS = 15
"""Bins of the calibration error, of equal width; bin i holds i/15 < confidence <= (i+1)/15."""


class Spots(NamedTuple):
    """Which rows have which label: `rows[starts[i]:starts[i+1]]` have `labels[i]`."""

    rows: NDArray[np.intp]
    starts: NDArray[np.intp]
    labels: NDArray[np.intp]


@dataclass(frozen=True)
class Facts:
    """What is kept of n rows: about 80 bytes each (160 of ranked labels), and scores up to a limit.

    `truth` and `predicted` are label sets, of one label or none for single labels; the label k, after the last class,
    stands for all labels that the model does not know. `values` has one number (or t numbers) for each row by name: its
    log loss, whether the true class is among the three best ... `ranked` are the scores (n, k) for average
    precision, up to a limit. A sentence can have a label several times: then `right` are those that are correct.

    >>> import numpy as np
    >>> from linnaeus.evaluation import Outcome
    >>> from linnaeus.evaluation import observe
    >>> outcome = Outcome(truth=np.array([0, 1, 1]), predicted=np.array([0, 1, 0]), classes=("no", "yes"))
    >>> observe(outcome).weights.tolist()
    [1.0, 1.0, 1.0]
    """

    task: Task
    classes: tuple[str, ...]
    weights: Doubles
    truth: LabelSets
    predicted: LabelSets
    values: Arrays = field(default_factory=dict)
    ranked: Doubles | None = None
    right: LabelSets | None = None

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def k(self) -> int:
        """The number of classes that the model knows."""
        return len(self.classes)

    def take(self, rows: Array | slice) -> Facts:
        """The facts of these rows, in this order."""
        parts = {name: getattr(self, name) for name in ("weights", "truth", "predicted", "ranked", "right")}
        taken = {name: part[rows] for name, part in parts.items() if part is not None}
        return replace(self, **taken, values={name: column[rows] for name, column in self.values.items()})

    def among(self, classes: tuple[str, ...]) -> Facts:
        """The same facts with the labels numbered among these classes, which include its own."""
        if classes == self.classes:
            return self
        places = np.array([*map(classes.index, self.classes), len(classes)], np.int32)
        truth, predicted, right = (
            LabelSets(sets.offsets, places[sets.labels]) for sets in (self.truth, self.predicted, self.hits)
        )
        return replace(self, classes=classes, truth=truth, predicted=predicted, right=right)

    @cached_property
    def known(self) -> frozenset[str]:
        """What metrics may need: names of values, "ranked", and "abstained" if some row has no prediction."""
        found = set(self.values)
        if self.ranked is not None:
            found.add("ranked")
        if self.abstained:
            found.add("abstained")
        return frozenset(found)

    @cached_property
    def abstained(self) -> int:
        """Rows (of sentences: tokens) without a prediction, because the model abstained."""
        if "answered_tokens" in self.values:
            return int((self.values["tokens"] - self.values["answered_tokens"]).sum())
        if self.task in ("candidates", "many") and "answered" in self.values:
            return int((self.values["answered"] == 0).sum())
        return len(self) - len(self.predicted.labels) if self.task == "single" else 0

    @cached_property
    def unknown(self) -> int:
        """Rows with a true label that the model does not know."""
        if "unknown_labels" in self.values:
            return int(np.count_nonzero(self.values["unknown_labels"]))
        return len(distinct(owners(self.truth)[self.truth.labels == self.k])[0])

    @cached_property
    def hits(self) -> LabelSets:
        """The true labels that were predicted."""
        if self.right is not None:
            return self.right
        keys, wanted = (owners(sets) * (self.k + 1) + sets.labels for sets in (self.truth, self.predicted))
        at = np.searchsorted(wanted, keys)
        found = np.zeros(len(keys), bool)
        inside = at < len(wanted)
        found[inside] = wanted[at[inside]] == keys[inside]
        counts = np.bincount(owners(self.truth)[found], minlength=len(self))
        return LabelSets(offsets_of(counts), self.truth.labels[found])

    @cached_property
    def spots(self) -> tuple[Spots, Spots, Spots]:
        """Rows by label: of the truth, of the prediction, and of true labels that were predicted."""
        return _spots(self.truth), _spots(self.predicted), _spots(self.hits)

    @cached_property
    def gaps(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Doubles]:
        """Rows by confidence bin, where each bin begins, and correctness minus confidence of each row."""
        confidence = self.values["confidence"]
        bins = np.clip(np.ceil(confidence * BINS) - 1, 0, BINS - 1).astype(np.uint8)
        order = np.argsort(bins, kind="stable")
        return order, runs(bins[order]), (self.values["top_right"] - confidence)[order]


def offsets_of(counts: Array | Sequence[int]) -> Longs:
    """Where each row begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def owners(sets: LabelSets) -> Longs:
    """The row of each label."""
    return np.repeat(np.arange(len(sets)), np.diff(sets.offsets))


def _spots(sets: LabelSets) -> Spots:
    order = np.argsort(sets.labels, kind="stable")
    ordered = sets.labels[order]
    starts = runs(ordered)
    labels = ordered[starts]
    return Spots(owners(sets)[order], starts, labels.astype(np.intp))


def runs(ordered: Array) -> NDArray[np.intp]:
    """Where each run of equal values begins; `np.unique` would import masked arrays, which takes longer.

    >>> runs(np.array([3, 3, 5, 7, 7])).tolist()
    [0, 2, 3]
    """
    return np.flatnonzero(np.concatenate([np.ones(min(1, len(ordered)), bool), ordered[1:] != ordered[:-1]]))


def distinct(values: Array) -> tuple[Array, NDArray[np.intp]]:
    """The different values, sorted, and which of them each value is.

    >>> [part.tolist() for part in distinct(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = runs(ordered)
    at = np.empty(len(values), np.intp)
    at[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(values)))
    return ordered[starts], at


def only(sets: LabelSets) -> Longs:
    """The one label of each row, -1 where there is none."""
    found = np.full(len(sets), -1, np.int64)
    found[owners(sets)] = sets.labels
    return found


def singles(labels: Array) -> LabelSets:
    """One label for each row, none where it is -1."""
    there = labels >= 0
    return LabelSets(offsets_of(there), labels[there].astype(np.int32))


def join(parts: Sequence[Facts]) -> Facts:
    """The facts of all rows, in order. What one part lacks, the result lacks."""
    if len(parts) == 1:
        return parts[0]
    parts = aligned(parts)
    first = parts[0]
    if any(part.task != first.task or part.classes != first.classes for part in parts):
        raise DataError("The parts of an evaluation differ in task or classes; give all of them the same.")
    shared = [name for name in first.values if all(name in part.values for part in parts)]
    ranked = [part.ranked for part in parts if part.ranked is not None]
    few = len(ranked) == len(parts) and sum(block.size for block in ranked) <= KEEP
    return Facts(
        first.task,
        first.classes,
        np.concatenate([part.weights for part in parts]),
        _chain([part.truth for part in parts]),
        _chain([part.predicted for part in parts]),
        {name: np.concatenate([part.values[name] for part in parts]) for name in shared},
        np.concatenate(ranked) if few else None,
        None if first.right is None else _chain([part.hits for part in parts]),
    )


def aligned(parts: Sequence[Facts]) -> list[Facts]:
    """The same, with labels numbered alike: parts of sentences know only the labels that occur in them."""
    if any(part.right is None for part in parts):
        return list(parts)
    classes = tuple(sorted({name for part in parts for name in part.classes}))
    return [part.among(classes) for part in parts]


def _chain(parts: Sequence[LabelSets]) -> LabelSets:
    counts = np.concatenate([np.diff(part.offsets) for part in parts])
    return LabelSets(offsets_of(counts), np.concatenate([part.labels for part in parts]))
