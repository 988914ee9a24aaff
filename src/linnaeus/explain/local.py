"""Approximate explanations of nonlinear models: how the scores change without each word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from linnaeus.explain.found import Found
from linnaeus.explain.ranked import Ranked
from linnaeus.explain.segments import Span, words
from linnaeus.explain.trial import AT_ONCE, without
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.features.base import Fitted
    from linnaeus.types import Doubles, Longs


@dataclass(frozen=True, eq=False)
class Local(Ranked):
    """A model around one row: for each of its words, the score of the text minus the score without the word.

    Contributions and bias (the remainder) add up to the score. They are valid for this text only: if two words have the
    same effect, both may get a contribution near 0. `score` gives scores (n, w) of rows.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("knn").fit(texts, labels)
    >>> why = model.explain("a good film")
    >>> why.predicted, why.exact
    (('pos',), False)
    """

    exact: ClassVar[bool] = False

    features: Fitted
    score: Callable[[Any], Doubles]
    space: Any
    classes: tuple[str, ...]
    row: Batch
    seen: Found
    V: Doubles
    b: Doubles

    def found(self, row: Batch) -> Found:
        """The words of the row it was made for."""
        assert row is self.row
        return self.seen

    def scores(self, source: Any) -> Doubles:
        """S (n, w), by the model itself."""
        return self.score(source)

    def weights(self, columns: Longs) -> Doubles:
        """The contribution of each of these words (f, w)."""
        return self.V[columns]


def local(row: Batch, features: Fitted, score: Callable[[Any], Doubles], space: Any, classes: tuple[str, ...]) -> Local:
    """The model around a batch of one row.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("knn").fit(texts, labels)
    >>> why = model.explain("a good film")
    >>> why.predicted, why.exact
    (('pos',), False)
    """
    text = "" if row.text is None else row.text[0].as_py()
    groups = _groups(text)
    S = score(row)[0]
    step = max(1, AT_ONCE // max(len(text), 1))
    blocks = [score(_lacking(row, text, list(groups.values())[at : at + step])) for at in range(0, len(groups), step)]
    V = S - np.concatenate(blocks) if blocks else np.zeros((0, len(S)))
    return Local(features, score, space, classes, row, _found(text, groups), V, S - V.sum(axis=0))


def _groups(text: str) -> dict[str, list[Span]]:
    """The distinct words of a text, and where each occurs."""
    groups: dict[str, list[Span]] = {}
    for start, end in words(text):
        groups.setdefault(text[start:end].casefold(), []).append((start, end))
    return groups


def _lacking(row: Batch, text: str, groups: list[list[Span]]) -> Batch:
    """The row once for each group of words, without them."""
    texts = [without(text, spans) for spans in groups]
    return replace(row.take([0] * len(texts)), text=pa.array(texts, pa.large_string()))


def _found(text: str, groups: dict[str, list[Span]]) -> Found:
    places = [(i, start, end, 1.0 / len(spans)) for i, spans in enumerate(groups.values()) for start, end in spans]
    owners, starts, ends, shares = zip(*places, strict=True) if places else ((), (), (), ())
    return Found(
        text,
        np.arange(len(groups)),
        np.ones(len(groups)),
        tuple(groups),
        ((),) * len(groups),
        np.array(owners, np.int64),
        np.array(starts, np.int64),
        np.array(ends, np.int64),
        np.array(shares, np.float64),
    )
