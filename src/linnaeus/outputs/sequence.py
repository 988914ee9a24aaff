"""A tag for each token of a sequence, scored as a linear chain: the space of taggers, structured SVMs and CRFs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.outputs.costs import CostTable, as_costs, paid
from linnaeus.types import Answer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles, Ints, Longs, Margins, Tags


@dataclass(frozen=True)
class Sequence:
    """Scores of k tags at each of m tokens, and of each tag after each other tag, in one array S (m + 1 + k, k).

    The first m rows are the emissions of all sequences, one after the other; then a row for the first tag of a
    sequence, and k rows of transitions, from the tag of the row to the tag of the column. A tagging z of a sequence
    scores

        s(z) = start[z_1] + sum_t emission[t, z_t] + sum_{t>1} transition[z_{t-1}, z_t]

    `best` is found by Viterbi's algorithm, `soft` and the marginals by the forward-backward algorithm; both take
    m k^2 steps for k^m taggings. The cost is Hamming's, or that of a table of costs l(tag, true tag), summed over the
    tokens. The parts of the last 1 + k rows count starts and transitions of all sequences together.

    Viterbi 1967; Lafferty, McCallum and Pereira 2001 (conditional random fields); Taskar, Guestrin and Koller 2003
    and Tsochantaridis et al. 2004 (margins).

    >>> from linnaeus.types import Tags
    >>> y = Tags(np.array([0, 2]), np.array([0, 1], np.int32))
    >>> S = np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> Sequence().best(S, y).value.tolist(), Sequence().decode(S, y.offsets).tolist()
    ([3.5], [0, 1])
    """

    costs: CostTable | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "costs", as_costs(self.costs))

    def width(self, k: int) -> int:
        """One score for each tag."""
        return k

    def shared(self, k: int) -> int:
        """Rows of scores that belong to all sequences: the first tag, and each pair of tags."""
        return 1 + k

    def gold(self, S: Doubles, y: Tags) -> Answer:
        """The score of the true tags."""
        return _along(S, y, _true_path)

    def best(self, S: Doubles, y: Tags) -> Answer:
        """The best tags; true ones that share the best score with others lose."""
        return _along(S, y, _rival_path)

    def soft(self, S: Doubles, y: Tags) -> Answer:
        """Log sum e^s over all taggings, and the marginals of tags and of pairs of tags."""
        E, start, T = _cut(S)
        m, parts, values = len(E), np.zeros_like(S), np.zeros(len(y))
        for i, at, _, weight in _sequences(y):
            values[i], at_tokens, at_start, pairs = _marginals(E[at], start, T)
            parts[at] = weight * at_tokens
            parts[m] += weight * at_start
            parts[m + 1 :] += weight * pairs
            values[i] *= weight
        return Answer(values, parts)

    def cost(self, S: Doubles, y: Tags) -> Answer:
        """What each wrong tag costs."""
        k = S.shape[1]
        parts = np.zeros_like(S)
        parts[: len(y.tags)] = paid(self.costs, k).T[y.tags]
        return Answer(np.zeros(len(y)), parts)

    def margins(self, S: Doubles, y: Tags) -> Margins:
        """Taggings have no margins of their own here."""
        raise _joint()

    def residuals(self, S: Doubles, y: Tags) -> Margins:
        """Taggings have no targets of their own here."""
        raise _joint()

    def decode(self, S: Doubles, offsets: Longs | None = None) -> Ints:
        """The best tag of each token (m,), as the best tagging of each sequence has it."""
        E, start, T = _cut(S)
        bounds = np.array([0, len(E)]) if offsets is None else offsets
        found = np.zeros(len(E), np.int32)
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            found[begin:end] = _best_path(E[begin:end], start, T)
        return found


def _joint() -> Exception:
    from linnaeus.errors import UsageError

    return UsageError(
        "A loss of single margins does not judge whole taggings; take log, hinge, perceptron or softmargin."
    )


def _cut(S: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Emissions, start and transitions."""
    m = len(S) - 1 - S.shape[1]
    return S[:m], S[m], S[m + 1 :]


def _sequences(y: Tags) -> Iterator[tuple[int, slice, Ints, float]]:
    """Number, tokens, tags and weight of each sequence that has tokens."""
    for i, (begin, end) in enumerate(zip(y.offsets[:-1].tolist(), y.offsets[1:].tolist(), strict=True)):
        if end > begin:
            yield i, slice(begin, end), y.tags[begin:end], 1.0 if y.weights is None else float(y.weights[i])


def _along(S: Doubles, y: Tags, choose: Callable[[Doubles, Doubles, Doubles, Ints], NDArray[np.integer]]) -> Answer:
    """The score and the parts of one tagging of each sequence."""
    E, start, T = _cut(S)
    m, parts, values = len(E), np.zeros_like(S), np.zeros(len(y))
    for i, at, tags, weight in _sequences(y):
        z = choose(E[at], start, T, tags)
        values[i] = weight * _score(E[at], start, T, z)
        parts[np.arange(at.start, at.stop), z] = weight
        parts[m, z[0]] += weight
        np.add.at(parts, (m + 1 + z[:-1], z[1:]), weight)
    return Answer(values, parts)


def _true_path(_E: Doubles, _start: Doubles, _T: Doubles, tags: Ints) -> Ints:
    return tags


def _score(E: Doubles, start: Doubles, T: Doubles, z: NDArray[np.integer]) -> float:
    return float(start[z[0]] + E[np.arange(len(z)), z].sum() + T[z[:-1], z[1:]].sum())


def _best_path(E: Doubles, start: Doubles, T: Doubles) -> NDArray[np.intp]:
    """Viterbi's algorithm; the lowest tag among equals, from the end on."""
    n = len(E)
    if not n:
        return np.zeros(0, np.intp)
    back = np.zeros(E.shape, np.intp)
    best = start + E[0]
    for t in range(1, n):
        through = best[:, None] + T
        back[t] = np.argmax(through, axis=0)
        best = through[back[t], np.arange(len(best))] + E[t]
    z = np.zeros(n, np.intp)
    z[-1] = np.argmax(best)
    for t in range(n - 1, 0, -1):
        z[t - 1] = back[t, z[t]]
    return z


def _rival_path(E: Doubles, start: Doubles, T: Doubles, tags: Ints) -> NDArray[np.intp]:
    """The best path, another than the true one where another is as good."""
    z = _best_path(E, start, T)
    if not np.array_equal(z, tags):
        return z
    value = _score(E, start, T, z)
    for t in range(len(tags)):
        other = E.copy()
        other[t, tags[t]] = -np.inf
        rival = _best_path(other, start, T)
        if _score(other, start, T, rival) == value:
            return rival
    return z


def _marginals(E: Doubles, start: Doubles, T: Doubles) -> tuple[float, Doubles, Doubles, Doubles]:
    """Log sum e^s, and the marginals of tags (n, k), of the first tag (k,) and of pairs, summed (k, k)."""
    n = len(E)
    ahead, behind = np.empty_like(E), np.zeros_like(E)
    ahead[0] = start + E[0]
    for t in range(1, n):
        ahead[t] = np.logaddexp.reduce(ahead[t - 1][:, None] + T, axis=0) + E[t]
    for t in range(n - 2, -1, -1):
        behind[t] = np.logaddexp.reduce(T + E[t + 1] + behind[t + 1], axis=1)
    total = np.logaddexp.reduce(ahead[-1])
    tags = np.exp(ahead + behind - total)
    pairs = np.zeros_like(T)
    for t in range(1, n):
        pairs += np.exp(ahead[t - 1][:, None] + T + E[t] + behind[t] - total)
    return float(total), tags, tags[0], pairs
