"""What a model has learned: the features with the largest weights for each class, and with the smallest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.types import Doubles, Floats, Longs

if TYPE_CHECKING:
    from linnaeus.explain.models import Linear

BLOCK = 1 << 20
"""Weights that are looked at in one piece: a few megabytes, whatever the number of features."""


@dataclass(frozen=True, slots=True)
class Weight:
    """A feature, its weight, and the weight times a typical value of the feature.

    >>> Weight("good", column=3, weight=1.5, effect=0.6).name
    'good'
    """

    name: str
    column: int
    weight: float
    effect: float


@dataclass(frozen=True, slots=True)
class TopFeatures:
    """The strongest features for a class and against it, the strongest first.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("logistic").fit(texts, labels)
    >>> top = model.model_.top_features(1)[0]
    >>> top.name, top.positive[0].name
    ('neg', 'bad')
    """

    name: str
    positive: tuple[Weight, ...]
    negative: tuple[Weight, ...]


def top_features(
    model: Linear, k: int = 10, classes: Sequence[str] | None = None, typical: Floats | Doubles | None = None
) -> tuple[TopFeatures, ...]:
    """The k strongest features for and against each class (by default all classes).

    Features are compared by effect = weight * typical value. `typical` (d,) is the usual value of a feature when it is
    present, such as the mean over the training rows that have it; 1 by default. Equal effects stand in the
    order of columns; features without effect are left out. The weights are read once, in blocks.

    >>> from linnaeus.explain import Linear
    >>> from linnaeus.features import Words
    >>> from linnaeus.outputs import Binary
    >>> features = Words().fit(["good bad fine"])
    >>> model = Linear(features, np.array([[-1.0], [0.5], [2.0]]), np.zeros(1), Binary(), ("neg", "pos"))
    >>> [weight.name for weight in top_features(model, 1, ["pos"])[0].positive]
    ['good']
    """
    expect("top_features(k=...)", k, int, 1)
    d, chosen = model.features.width, [model.number(name) for name in (classes or model.classes)]
    if typical is not None and typical.shape != (d,):
        raise UsageError(f"typical takes a number for each of {d} features, not {typical.shape}.")
    best = [_Best(k, len(chosen)), _Best(k, len(chosen))]
    step = max(1, BLOCK // max(model.W.shape[1], len(chosen)))
    for start in range(0, d, step):
        rows = slice(start, min(start + step, d))
        effects = model.read(np.asarray(model.W[rows]), chosen)
        if typical is not None:
            effects = effects * typical[rows, None]
        best[0].add(effects, start)
        best[1].add(-effects, start)
    return tuple(
        TopFeatures(
            model.classes[c],
            _listed(model, c, *best[0].kept[i]),
            _listed(model, c, -best[1].kept[i][0], best[1].kept[i][1]),
        )
        for i, c in enumerate(chosen)
    )


class _Best:
    """The k largest positive numbers so far in each of c columns, and their rows; equal ones by row."""

    def __init__(self, k: int, c: int) -> None:
        self.k = k
        self.bars = np.zeros(c)  # what a number must exceed to be among them
        self.kept: list[tuple[Doubles, Longs]] = [(np.zeros(0), np.zeros(0, np.int64))] * c

    def add(self, block: Doubles, start: int) -> None:
        """The next rows (r, c), of which the first has the number `start`."""
        rows, columns = np.nonzero(block > self.bars.astype(block.dtype))
        values = block[rows, columns].astype(np.float64)
        order = np.argsort(columns, kind="stable")
        rows, columns, values = rows[order] + start, columns[order], values[order]
        cuts = np.searchsorted(columns, np.arange(len(self.kept) + 1))
        for column in np.flatnonzero(np.diff(cuts)).tolist():
            there = slice(cuts[column], cuts[column + 1])
            self._merge(column, values[there], rows[there])

    def _merge(self, column: int, values: Doubles, rows: Longs) -> None:
        old, places = self.kept[column]
        values, rows = np.concatenate([old, values]), np.concatenate([places, rows])
        best = np.lexsort((rows, -values))[: self.k]
        self.kept[column] = values[best], rows[best]
        if len(best) == self.k:
            self.bars[column] = values[best[-1]]


def _listed(model: Linear, c: int, effects: Doubles, rows: Longs) -> tuple[Weight, ...]:
    weights, names = model.read(model.weights(rows), [c])[:, 0], model.features.names()
    found = zip(rows.tolist(), weights.tolist(), effects.tolist(), strict=True)
    return tuple(Weight(names[row], row, weight, effect) for row, weight, effect in found)
