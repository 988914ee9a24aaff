"""Sequence tagging: a tag for each token, scored as a linear chain, as in structured SVMs and CRFs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.outputs.costs import CostTable, WithCosts, paid
from linnaeus.protocols import GroupedSpace, SharedScores
from linnaeus.types import Answer, Doubles, Ints, Longs, Margins, Tags

_NONE = np.zeros(0, np.int32)


@dataclass(frozen=True)
class Sequence(WithCosts):
    """Sequence tagging as a linear chain: emission and transition scores of k tags in one array S (m + 1 + k, k).

    The first m rows are the emission scores of all tokens, one sequence after the other. Then follow a row for the
    first tag of a sequence, and k rows of transitions, from the tag of the row to the tag of the column. The score of a
    tagging z of a sequence is

        s(z) = start[z_1] + sum_t emission[t, z_t] + sum_{t>1} transition[z_{t-1}, z_t]

    `best` is found by Viterbi's algorithm, `soft` and the marginals by the forward-backward algorithm; both take m k^2
    steps. The cost is the Hamming cost, or a matrix of costs l(tag, true tag), summed over the tokens. The parts of the
    last 1 + k rows count starts and transitions of all sequences together.

    Viterbi 1967; Lafferty, McCallum and Pereira 2001 (conditional random fields); Taskar, Guestrin and Koller 2003
    and Tsochantaridis et al. 2004 (margins).

    >>> from linnaeus.types import Tags
    >>> y = Tags(np.array([0, 2]), np.array([0, 1], np.int32))
    >>> S = np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> Sequence().best(S, y).value.tolist(), Sequence().decode(S, y.offsets).tolist()
    ([3.5], [0, 1])
    """

    costs: CostTable | None = None
    provides: ClassVar[tuple[type, ...]] = (GroupedSpace, SharedScores)

    def width(self, k: int) -> int:
        """One score for each tag."""
        return k

    def shared(self, k: int) -> int:
        """The number of score rows shared by all sequences: the first tag, and the transitions."""
        return 1 + k

    def gold(self, S: Doubles, y: Tags) -> Answer:
        """The score of the true tags."""
        return _along(S, y, y.tags)

    def best(self, S: Doubles, y: Tags) -> Answer:
        """The tagging with the largest score; in a tie a wrong tagging wins over the true one."""
        return _along(S, y, _best(S, y.offsets, y.tags))

    def soft(self, S: Doubles, y: Tags) -> Answer:
        """Log sum e^s over all taggings, and the marginals of tags and of pairs of tags."""
        E, shared = _cut(S)
        parts, values = np.zeros_like(E), np.zeros(len(y))
        sums = np.zeros_like(shared)
        truth = y.offsets, np.zeros(0) if y.weights is None else y.weights
        kernels.chain_soft(E, shared, truth, (parts, sums, values), kernels.thread_count())
        return Answer(values, np.concatenate([parts, sums]))

    def cost(self, S: Doubles, y: Tags) -> Answer:
        """The cost of each wrong tag."""
        k = S.shape[1]
        parts = np.zeros_like(S)
        parts[: len(y.tags)] = paid(self.costs, k).T[y.tags]
        return Answer(np.zeros(len(y)), parts)

    def margins(self, S: Doubles, y: Tags) -> Margins:
        """Not defined for sequences."""
        raise UsageError("Sequences need a loss of whole taggings; use log, hinge, perceptron or softmargin.")

    residuals = margins

    def decode(self, S: Doubles, offsets: Longs | None = None) -> Ints:
        """The tag of each token (m,) in the best tagging of its sequence."""
        bounds = np.array([0, len(S) - self.shared(S.shape[1])]) if offsets is None else offsets
        return _best(S, bounds, _NONE)


def _cut(S: Doubles) -> tuple[Doubles, Doubles]:
    """Emissions, and start with transitions."""
    S = np.ascontiguousarray(S, np.float64)
    m = len(S) - 1 - S.shape[1]
    return S[:m], S[m:]


def _best(S: Doubles, offsets: Longs, against: Ints) -> Ints:
    E, shared = _cut(S)
    tags = np.zeros(len(E), np.int32)
    kernels.chain_best(E, shared, offsets, against, tags, kernels.thread_count())
    return tags


def _along(S: Doubles, y: Tags, z: Ints) -> Answer:
    """The score and the parts of one tagging of each sequence."""
    m, parts = len(z), np.zeros_like(S)
    sizes = np.diff(y.offsets)
    weights = np.repeat(np.ones(len(y)) if y.weights is None else y.weights, sizes)
    links = m + np.concatenate([np.zeros(min(m, 1), np.int64), 1 + z[:-1]])  # score rows of the transition to a token
    links[y.offsets[:-1][sizes > 0]] = m
    parts[np.arange(m), z] = weights
    np.add.at(parts, (links, z), weights)
    number = np.repeat(np.arange(len(y)), sizes)
    values: Doubles = np.bincount(number, weights * (S[np.arange(m), z] + S[links, z]), len(y)).astype(np.float64)
    return Answer(values, parts)
