"""A fitted nearest-neighbors model: the search index, the labels of its rows, and the voting rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays import Dense
from linnaeus.arrays.finite import finite_scores
from linnaeus.arrays.kept import pack_rows, unpack_rows
from linnaeus.errors import UsageError, damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.neighbors import PROJECTIONS, SEARCHES, VOTES
from linnaeus.learners.neighbors.pieces import of_told, told
from linnaeus.learners.neighbors.truth import Known, known_of
from linnaeus.types import LabelSets, State

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.learners.neighbors.learner import Neighbors
    from linnaeus.types import Doubles, Floats, Ints


@dataclass(frozen=True, eq=False)
class FittedNeighbors:
    """A fitted nearest-neighbors model: the training rows in a search index, their labels, and the settings.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("knn").fit(texts, labels)
    >>> isinstance(model.model_.body, FittedNeighbors), model.predict(["good"]).tolist()
    (True, ['pos'])
    """

    index: Any
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
        expect("count", count, int)
        if count < 1:
            raise UsageError(f"count must be a whole number of at least 1, not {count}.")
        found: tuple[Ints, Doubles] = self.index.near(projected(X, self.projection), min(count, self.keeps_rows))
        return found

    def scores(self, X: CSR | Dense) -> Doubles:
        """Shares of the votes (n, k); for label sets minus 1/2; for numbers their means."""
        rows, scores = self.near(X)
        shares = self.known.share(rows, self.how.votes.weigh(scores, self.how.metric))
        return shares - 0.5 if isinstance(self.known.y, LabelSets) else shares

    def chances(self, S: Doubles) -> Doubles:
        """Class probabilities (n, k): the shares of the votes."""
        return S + 0.5 if isinstance(self.known.y, LabelSets) else S

    def linear(self) -> None:
        """None: the model has no linear weights."""
        return

    def state(self) -> State:
        """Rows, labels, index and settings."""
        kept = pack_rows("rows", self.index.rows)
        manifest = kept.manifest | {
            "kind": "neighbors",
            "k": self.how.k,
            "metric": self.how.metric,
            "votes": told(self.how.votes, VOTES),
            "search": told(self.how.search, SEARCHES),
            "projection": told(self.how.projection, PROJECTIONS),
            "classes": self.known.k,
        }
        inside = {f"index.{name}": array for name, array in self.index.state().items()}
        inside |= {} if self.projection is None else {"projection": self.projection}
        return State(manifest, {**kept.tensors, **self.known.tensors(), **inside})

    @classmethod
    def from_state(cls, state: State) -> FittedNeighbors:
        """Restore the model from its stored state; indexes outside the arrays are refused."""
        from linnaeus.learners.neighbors.learner import Neighbors

        manifest = state.manifest
        rows = unpack_rows("rows", state)
        if not len(rows):
            raise damaged("its training rows are missing")
        known = known_of(state.tensors, len(rows), int(manifest["classes"]))
        votes, search = of_told(manifest["votes"], VOTES), of_told(manifest["search"], SEARCHES)
        if votes is None or search is None or not isinstance(manifest["k"], int) or manifest["k"] < 1:
            raise damaged("the settings of its search or its votes are missing")
        projection, W = of_told(manifest["projection"], PROJECTIONS), state.tensors.get("projection")
        _check_projection(W, rows.shape[1], wanted=projection is not None)
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
