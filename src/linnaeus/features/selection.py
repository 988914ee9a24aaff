"""Feature selection: the k best columns by document frequency, chi-squared or mutual information."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.features import SCORES
from linnaeus.features.base import Block, Fitted, Labeled
from linnaeus.features.statistics import Seen, Tally, presence
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.types import Doubles, Floats, Ints


class Score(Labeled, ABC):
    """Base class of scores for feature selection."""

    @abstractmethod
    def score(self, seen: Seen) -> Doubles:
        """A score for each column; larger is better."""


@dataclass(frozen=True)
class DocumentFrequency(Score):
    """Document frequency: the number of training rows with the feature.

    >>> from linnaeus.features import Words
    >>> Selected(Words(), by=DocumentFrequency(), k=1).fit(["good film", "bad film"]).names()
    ['film']
    """

    def score(self, seen: Seen) -> Doubles:
        """Document frequencies."""
        return seen.df.astype(np.float64)


@dataclass(frozen=True)
class Chi2(Score):
    """Chi-squared statistic of a feature and the classes, as in scikit-learn; values must not be negative.

        sum over classes of (observed - expected)^2 / expected,  expected = share of the class * sum of the feature

    For label sets, each label is compared with the rest, and the maximum is used. A feature that never occurs has score
    0.

    >>> from linnaeus import read
    >>> from linnaeus.features import Words
    >>> Selected(Words(), by=Chi2(), k=2).fit(read([("good film", "pos"), ("bad film", "neg")])).names()
    ['bad', 'good']
    """

    needs_labels: ClassVar[bool] = True

    def score(self, seen: Seen) -> Doubles:
        """The statistic of each column."""
        tally = seen.by_label("Selected(by='chi2')", _not_negative)
        return _over_labels(tally, lambda sums, _count, share: _deviation(sums, share * tally.totals))


@dataclass(frozen=True)
class MutualInformation(Score):
    """Mutual information, in nats, between the presence of a feature and the class.

        sum over (present or not, class) of p(e, c) ln(p(e, c) / (p(e) p(c)))

    For label sets, it is computed for each label, and the maximum is used.

    >>> from linnaeus import read
    >>> from linnaeus.features import Words
    >>> Selected(Words(), by=MutualInformation(), k=2).fit(read([("good film", "pos"), ("bad film", "neg")])).names()
    ['bad', 'good']
    """

    needs_labels: ClassVar[bool] = True

    def score(self, seen: Seen) -> Doubles:
        """The information of each column."""
        tally = seen.by_label("Selected(by='mi')", presence)
        return _over_labels(tally, lambda sums, count, _share: _information(tally, sums, count))


@dataclass(frozen=True)
class Selected(Block):
    """Feature selection: the k columns of a block with the best scores, in their order; ties go to the lower column.

    `by` is a name of the table SCORES or an object. Rows of a weighted block keep their normalization from before the
    selection; `Weighted(Selected(...))` normalizes the remaining columns, and a saved model then does not contain the
    dropped terms.

    >>> from linnaeus.features import Affixes
    >>> Selected(Affixes((), (1,)), by="df", k=2).fit(["sees", "was it", "as"]).names()
    ['-s', '-t']
    """

    block: Block
    by: str | Score = "chi2"
    k: int = 10_000

    def __post_init__(self) -> None:
        if not isinstance(self.block, Block):
            raise InputTypeError(f"Selected takes an extractor, not {type(self.block).__name__}.")
        expect("Selected(k=...)", self.k, int, 1)
        resolve_score(self.by)

    def learn(self, stream: Stream) -> Fitted:
        """Fit the block, score its columns, keep the best."""
        features = self.block.learn(stream)
        scores = resolve_score(self.by).score(Seen(features, stream))
        return features.keep(best(scores, self.k))


def resolve_score(by: str | Score) -> Score:
    """The piece that a name stands for; a piece stands for itself."""
    if isinstance(by, Score):
        return by
    if by not in SCORES:
        raise UsageError(f"by={by!r} is not known; choose one of {', '.join(SCORES)}, or give an object.")
    return SCORES[by]()


def best(scores: Doubles, k: int) -> Ints:
    """The columns of the k largest scores, sorted; among equal scores the lower column wins.

    >>> best(np.array([1.0, 3.0, 3.0, 3.0]), 2).tolist()
    [1, 2]
    """
    return np.sort(np.argsort(-scores, kind="stable")[:k]).astype(np.int32)


def _over_labels(tally: Tally, part: Callable[[Doubles, float, float], Doubles]) -> Doubles:
    """The sum of the parts of all classes; for label sets, the largest of a label and its rest.

    A part is a function of the sums of the columns, the number of rows and the share of rows.
    """
    total = np.zeros(tally.width)
    for count, sums in tally.labels():
        share = count / tally.n
        here = part(sums, count, share)
        if tally.many:
            total = np.maximum(total, here + part(tally.totals - sums, tally.n - count, 1 - share))
        else:
            total += here
    return total


def _deviation(observed: Doubles, expected: Doubles) -> Doubles:
    return np.divide((observed - expected) ** 2, expected, out=np.zeros_like(expected), where=expected > 0)


def _information(tally: Tally, joint: Doubles, count: float) -> Doubles:
    """The two cells of one class: with the feature, and without."""
    n = tally.n
    cells = ((joint, tally.totals * count), (count - joint, (n - tally.totals) * count))
    found = np.zeros(tally.width)
    for both, product in cells:
        there = both > 0
        found[there] += both[there] / n * np.log(n * both[there] / product[there])
    return found


def _not_negative(data: Floats) -> Doubles:
    if (data < 0).any():
        raise UsageError("Selected(by='chi2') needs values of at least 0; use by='mi', or select before weighting.")
    return data.astype(np.float64)
