"""`FittedTagNetwork`: a trained network that tags, as plain arrays; its scores need no PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays.csr import CSR, vstack
from linnaeus.arrays.numerics import single_blas
from linnaeus.errors import LinnaeusError, damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.base import FittedModel
from linnaeus.learners.chain.transitions import Transitions, refuse_large
from linnaeus.learners.networks.fitted import checked_weights
from linnaeus.learners.networks.operations import NUMPY
from linnaeus.learners.networks.tokens import LINKS, TokenLayers, token_batch
from linnaeus.learners.occlusion import without_each
from linnaeus.protocols import FittedTagger, Occluded
from linnaeus.types import Effect, Floats, Json, Longs, State, offsets_of, stretches

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.features.tokens import FittedTemplates

KIND = "tag_network"
TOKENS = 1 << 12
"""Tokens that are scored at a time, unless a sentence has more."""


@dataclass(frozen=True, eq=False)
class FittedTagNetwork(FittedModel):
    """A trained network that tags: its form, its weights in float32, and facts of its training.

    The scores of a sentence have the same bits beside any others.
    """

    provides: ClassVar[tuple[type, ...]] = (FittedTagger, Occluded)

    form: TokenLayers
    weights: Mapping[str, Floats]
    facts: Mapping[str, Json]

    @property
    def transitions(self) -> Transitions:
        """How tags follow each other."""
        return Transitions(self.weights[LINKS])

    def fits(self, width: int, k: int) -> bool:
        """Whether it reads so many features and scores so many tags."""
        return self.form.columns == width and self.form.tags == k

    def emissions(self, features: FittedTemplates, sentences: Sentences) -> Floats:
        """The scores (m, k) of each tag at each token."""
        return self.token_scores(features.rows(sentences), sentences.offsets - sentences.offsets[0])

    def token_scores(self, X: CSR, offsets: Longs) -> Floats:
        """The scores (m, k) of rows of tokens, which make sentences with these offsets."""
        E = np.empty((len(X), self.form.tags), np.float32)
        with single_blas():
            for start, stop in stretches(np.diff(offsets), TOKENS):
                first, end = int(offsets[start]), int(offsets[stop])
                some = token_batch(X, np.arange(first, end), offsets[start : stop + 1] - first, self.form.window)
                E[first:end] = self.form.forward(NUMPY, self.weights, some)[: end - first]
        return E

    def effects(self, features: FittedTemplates, sentences: Sentences, token: int) -> list[Effect]:
        """The scores of a token minus those without each of its features, and without each token near it."""
        offsets, names, d = sentences.offsets - sentences.offsets[0], features.names(), self.form.columns
        row = int(np.searchsorted(offsets, token, side="right")) - 1
        first = max(int(offsets[row]), token - self.form.reach)
        end = min(int(offsets[row + 1]), token + self.form.reach + 1)
        near, at = features.rows(sentences).rows_slice(first, end), token - first
        n, own = end - first, near.indices[near.indptr[at] : near.indptr[at + 1]].tolist()
        others = np.delete(np.arange(n), at)
        # The sentence once as it is, then with one row changed: a feature of the token is gone, or all of another one.
        rows = vstack([near, without_each(near, at), CSR(np.zeros(2, np.int64), near.indices[:0], near.data[:0], d)])
        lines = np.tile(np.arange(n), (1 + len(own) + len(others), 1))
        lines[1 : 1 + len(own), at] = n + np.arange(len(own))
        lines[1 + len(own) + np.arange(len(others)), others] = n + len(own)
        E = self.token_scores(rows.take(lines.ravel()), offsets_of([n] * len(lines)))[at::n].astype(np.float64)
        told = [(token, names[column], column) for column in own]
        told += [(first + there, "the token", d + there) for there in others.tolist()]
        return [Effect(*where, E[0] - without) for where, without in zip(told, E[1:], strict=True)]

    def state(self) -> State:
        """The form, the facts, and the weights by name."""
        manifest = {"kind": KIND, "form": self.form.manifest(), "trained": dict(self.facts)}
        return State(manifest, dict(self.weights))

    @classmethod
    def from_state(cls, state: State) -> FittedTagNetwork:
        """Restore from the stored state; the form, shapes and numbers are checked."""
        try:
            form = TokenLayers(**state.manifest["form"])
            facts = dict(state.manifest["trained"])
        except (LinnaeusError, TypeError, ValueError, KeyError) as error:
            raise damaged(f"the form of its network cannot be read ({error})") from error
        weights = checked_weights(form.shapes(), state)
        refuse_large(weights[LINKS])
        return cls(form, weights, facts)
