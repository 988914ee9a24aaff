"""`Neighbors`: keeps the training rows and predicts from the nearest ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays import Dense
from linnaeus.arrays.numerics import finite_scores
from linnaeus.arrays.stored_rows import pack_rows, unpack_rows
from linnaeus.errors import UsageError, damaged, did_you_mean, expect
from linnaeus.frozen import dataclass
from linnaeus.lazy import Table
from linnaeus.learners.base import FittedModel, RowLearner, counted
from linnaeus.learners.neighbors import METRICS, PROJECTIONS, SEARCHES, VOTES
from linnaeus.learners.neighbors.votes import Known, known_of
from linnaeus.protocols import KeepsRows, ModelChances, meant, to_manifest
from linnaeus.types import Doubles, Floats, Ints, Json, LabelSets, Lesson, Piece, State

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.learners.neighbors.exact import BatchedIndex


def from_manifest(value: Json, table: Table) -> Piece:
    """Restore a piece from what `to_manifest` returned; an unknown kind is refused."""
    if not isinstance(value, dict) or value.get("kind") not in table:
        raise damaged("a part of its search or of its votes is unknown")
    return table[value["kind"]](**{name: item for name, item in value.items() if name != "kind"})


@dataclass(frozen=True, kw_only=True)
class Neighbors(RowLearner):
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
    tuned: ClassVar[str | None] = "k"

    k: int = 5
    metric: str = "cosine"
    votes: Piece = "plain"
    search: Piece = "exact"
    projection: Piece = None

    def __post_init__(self) -> None:
        expect("k", self.k, int, 1)
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
        lesson = counted(lesson)
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


@dataclass(frozen=True, eq=False)
class FittedNeighbors(FittedModel):
    """A fitted nearest-neighbors model: the training rows in a search index, their labels, and the settings.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("knn").fit(texts, labels)
    >>> isinstance(model.model_.body, FittedNeighbors), model.predict(["good"]).tolist()
    (True, ['pos'])
    """

    provides: ClassVar[tuple[type, ...]] = (ModelChances, KeepsRows)

    index: BatchedIndex
    known: Known
    how: Neighbors
    projection: Floats | None = None

    @property
    def keeps_rows(self) -> int:
        """The number of training rows in the model."""
        return len(self.index.rows)

    def near(self, X: CSR | Dense, count: int | None = None) -> tuple[Ints, Doubles]:
        """The nearest training rows to each row of X (n, count), nearest first, and their scores: larger is nearer.

        Scores are cosines, inner products, or negative distances. `count` defaults to k; there are never more columns
        than training rows. Rows are numbered as in training, without the rows of weight zero.
        """
        count = self.how.k if count is None else count
        expect("count", count, int, 1)
        return self.index.near(projected(X, self.projection), min(count, self.keeps_rows))

    def scores(self, X: CSR | Dense) -> Doubles:
        """Shares of the votes (n, k); for label sets minus 1/2; for numbers their means."""
        rows, scores = self.near(X)
        shares = self.known.share(rows, self.how.votes.weigh(scores, self.how.metric))
        return shares - 0.5 if isinstance(self.known.y, LabelSets) else shares

    def chances(self, S: Doubles) -> Doubles:
        """Class probabilities (n, k): the shares of the votes."""
        return S + 0.5 if isinstance(self.known.y, LabelSets) else S

    def state(self) -> State:
        """Rows, labels, index and settings."""
        kept = pack_rows("rows", self.index.rows)
        manifest = kept.manifest | {
            "kind": "neighbors",
            "k": self.how.k,
            "metric": self.how.metric,
            "votes": to_manifest(self.how.votes, VOTES),
            "search": to_manifest(self.how.search, SEARCHES),
            "projection": None if self.how.projection is None else to_manifest(self.how.projection, PROJECTIONS),
            "classes": self.known.k,
        }
        inside = {f"index.{name}": array for name, array in self.index.state().items()}
        inside |= {} if self.projection is None else {"projection": self.projection}
        return State(manifest, {**kept.tensors, **self.known.tensors(), **inside})

    @classmethod
    def from_state(cls, state: State) -> FittedNeighbors:
        """Restore the model from its stored state; indexes outside the arrays are refused."""
        manifest = state.manifest
        rows = unpack_rows("rows", state)
        if not len(rows):
            raise damaged("its training rows are missing")
        known = known_of(state.tensors, len(rows), int(manifest["classes"]))
        votes, search = from_manifest(manifest["votes"], VOTES), from_manifest(manifest["search"], SEARCHES)
        if not isinstance(manifest["k"], int) or manifest["k"] < 1:
            raise damaged("the number of its neighbors is missing")
        projection, W = manifest["projection"], state.tensors.get("projection")
        _check_projection(W, rows.shape[1], wanted=projection is not None)
        if projection is not None:
            projection = from_manifest(projection, PROJECTIONS)
        how = Neighbors(k=manifest["k"], metric=manifest["metric"], votes=votes, search=search, projection=projection)
        inside = {name.removeprefix("index."): a for name, a in state.tensors.items() if name.startswith("index.")}
        return cls(search.restore(inside, rows, how.metric), known, how, W)


def projected(X: CSR | Dense, W: Floats | None) -> CSR | Dense:
    """X W in float32, or X itself if there is no projection."""
    if W is None:
        return X
    with np.errstate(over="ignore", invalid="ignore"):
        return Dense(finite_scores(X.dot(W).astype(np.float32)))


def _check_projection(W: Floats | None, width: int, *, wanted: bool) -> None:
    if (W is not None) != wanted:
        raise damaged("its projection is missing or unexpected")
    if W is not None and (W.ndim != 2 or W.dtype != np.float32 or W.shape[1] != width or not np.isfinite(W).all()):
        raise damaged("its projection does not match its rows")
