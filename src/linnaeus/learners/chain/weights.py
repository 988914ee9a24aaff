"""The result of a tag learner: float32 weights of features and transitions, and how they find tags."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.arrays.stored_rows import pack_rows, unpack_rows
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.base import FittedModel
from linnaeus.learners.chain.transitions import Transitions, refuse_large
from linnaeus.protocols import FittedTagger
from linnaeus.types import Effect, Floats, Longs, State

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.features.tokens import FittedTemplates

KIND = "chain"
SPARSE = 0.25
"""The share of weights that are not zero up to which a file has them as sparse rows."""
MOST_WEIGHTS = 1 << 32
"""Weights that sparse rows of a file may be laid out to."""


@dataclass(frozen=True, eq=False)
class ChainWeights(FittedModel):
    """W (d, k) scores the features of a token; `shared` and `search` are those of its transitions."""

    provides: ClassVar[tuple[type, ...]] = (FittedTagger,)

    W: Floats
    shared: Floats
    search: str = "whole"

    def state(self) -> State:
        """Manifest and tensors; weights that are mostly zero, as those of a perceptron, as sparse rows."""
        manifest = {"kind": KIND, "search": self.search}
        if np.count_nonzero(self.W) > SPARSE * self.W.size:
            return State(manifest, {"W": self.W, "shared": self.shared})
        rows = pack_rows("W", Dense(self.W).to_csr())
        return State(manifest | rows.manifest, {**rows.tensors, "shared": self.shared})

    @classmethod
    def from_state(cls, state: State) -> ChainWeights:
        """The weights again; those that a kernel could not take are refused."""
        links = Transitions.from_state(state)
        table = state.tensors["W"] if "W" in state.tensors else unpack_rows("W", state).to_csr()
        values = table.data if isinstance(table, CSR) else table
        if values.dtype != np.float32 or len(table.shape) != 2:
            raise damaged("its weights are not tables of float32")
        refuse_large(values)
        return cls(_dense(table, links.k) if isinstance(table, CSR) else table, links.shared, links.search)

    def fits(self, width: int, k: int) -> bool:
        """Whether these are the weights of so many features and tags."""
        return k > 0 and self.W.shape == (width, k) and self.shared.shape in ((1 + k, k), (1 + k + k * k, k))

    @property
    def k(self) -> int:
        """The number of tags."""
        return int(self.W.shape[1])

    @property
    def transitions(self) -> Transitions:
        """How tags follow each other."""
        return Transitions(self.shared, self.search)

    def emissions(self, features: FittedTemplates, sentences: Sentences) -> Floats:
        """The scores (m, k) of each tag at each token."""
        return features.scores(sentences, self.W)

    def effects(self, features: FittedTemplates, sentences: Sentences, token: int) -> list[Effect]:
        """The weights of the features of a token."""
        return [
            Effect(token, name, column, self.W[column].astype(np.float64))
            for column, name in features.named(sentences, token)
        ]

    def widened(self, at: Longs, k: int) -> ChainWeights:
        """The same weights among k tags, of which those known so far are the ones `at`; the others have zeros."""
        W, first, links = np.zeros((len(self.W), k), np.float32), np.zeros(k, np.float32), np.zeros((k, k), np.float32)
        W[:, at], first[at], links[np.ix_(at, at)] = self.W, self.shared[0], self.shared[1 : 1 + self.k]
        rows = [first[None], links]
        if self.transitions.second:
            pairs = np.zeros((k, k, k), np.float32)
            pairs[np.ix_(at, at, at)] = self.shared[1 + self.k :].reshape(self.k, self.k, self.k)
            rows.append(pairs.reshape(k * k, k))
        return replace(self, W=W, shared=np.concatenate(rows))


def _dense(rows: CSR, k: int) -> Floats:
    """The table of weights of k tags that a file has as sparse rows."""
    if rows.width != k:
        raise damaged("its weights do not fit its transitions")
    if len(rows) * k > MOST_WEIGHTS:
        raise damaged(f"it has more than {MOST_WEIGHTS} weights")
    W = np.zeros((len(rows), k), np.float32)
    W[np.repeat(np.arange(len(W)), np.diff(rows.indptr)), rows.indices] = rows.data
    return W
