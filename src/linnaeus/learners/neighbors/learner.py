"""k nearest neighbors: the nearest training rows vote on the class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linnaeus.errors import DataError, UsageError, did_you_mean, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.neighbors import METRICS, PROJECTIONS, SEARCHES, VOTES
from linnaeus.learners.neighbors.model import FittedNeighbors, projected
from linnaeus.learners.neighbors.pieces import meant
from linnaeus.learners.neighbors.truth import Known
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.types import Lesson


@dataclass(frozen=True, kw_only=True)
class Neighbors:
    """k nearest neighbors: the `k` nearest training rows vote, and the scores are the shares of the votes.

        S_y(x) = sum of v(x, x_i) over the neighbors i with y_i = y, over the sum of all v(x, x_i)

    `metric` is "cosine", "euclidean" or "inner"; `votes` is "plain" (equal weights), "distance" (1 / distance) or a
    `Kernel`. `search` selects the search method. `projection`, such as `Components`, learns a projection, and neighbors
    are searched in the projected space. For label sets, the score of a label is its share minus 1/2, so that labels of
    the majority have positive scores; for numbers the prediction is the weighted mean. Ties between rows go to the
    lowest row number, ties between classes to the lowest class. A row of zeros has cosine 0 to all rows, so its
    neighbors are the first rows. If there are fewer than k rows, all of them vote. Cross-validation tunes k
    (`strength`).

    Cover and Hart, "Nearest neighbor pattern classification", 1967: as the number of rows grows, the error rate of 1-NN
    is at most twice that of the best possible classifier. It can learn classes that are not linearly separable:

    >>> from linnaeus import MatrixClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> MatrixClassifier(learner=Neighbors(k=1, metric="euclidean")).fit(X, y).predict(X).tolist()
    ['no', 'yes', 'yes', 'no']
    """

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets", "numbers")

    k: int = 5
    metric: str = "cosine"
    votes: Any = "plain"
    search: Any = "exact"
    projection: Any = None

    def __post_init__(self) -> None:
        expect("k", self.k, int)
        if self.k < 1:
            raise UsageError(f"k must be a whole number of at least 1, not {self.k}.")
        refuse_metric(self.metric)
        object.__setattr__(self, "votes", meant("votes", self.votes, VOTES, "weigh"))
        object.__setattr__(self, "search", meant("search", self.search, SEARCHES, "index"))
        if self.projection is not None:
            object.__setattr__(self, "projection", meant("projection", self.projection, PROJECTIONS, "learn"))
        for piece in (self.votes, self.projection):
            reason = None if piece is None else piece.refuse(self.metric)
            if reason is not None:
                raise UsageError(reason)

    @property
    def strength(self) -> float:
        """The hyper-parameter that cross-validation tunes: the number of neighbors."""
        return float(self.k)

    def with_strength(self, strength: float) -> Neighbors:
        """A copy with another number of neighbors."""
        return replace(self, k=max(1, round(strength)))

    def learn(self, lesson: Lesson) -> FittedNeighbors:
        """Store the rows and build the search index."""
        lesson = _counting(lesson)
        y = lesson.y
        if not isinstance(y, LabelSets):
            y = y.astype(np.float64 if y.dtype.kind == "f" else np.int32)
        weights = None if (lesson.weights == 1.0).all() else lesson.weights
        W = None if self.projection is None else self.projection.learn(lesson)
        index = self.search.index(projected(lesson.X, W), self.metric, lesson.seed)
        return FittedNeighbors(index, Known(y, lesson.k, weights), self, W)


def refuse_metric(metric: str) -> None:
    """Refuse an unknown metric."""
    if metric not in METRICS:
        raise UsageError(f"There is no metric {metric!r}; {did_you_mean(metric, METRICS)}")


def _counting(lesson: Lesson) -> Lesson:
    """The lesson without rows of weight zero, which have no vote."""
    counting = lesson.weights > 0
    if not counting.any():
        raise DataError("All rows have weight zero; give at least one row a weight above zero.")
    return lesson if counting.all() else lesson.take(np.flatnonzero(counting))
