"""Twins of dependency.cpp: best dependency trees, and the chances of arcs, of projective trees and of all trees.

A sentence of n tokens has scores S (n, n+1): S[m, h] is that of the arc from head h to token m. Head 0 is the root and
head j+1 is token j; S[m, m+1] is ignored. Every tree has exactly one token whose head is the root. -inf forbids an arc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.kernels.reference.rows import misfit, refuse

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Ints, Longs

MAX_TOKENS = 1 << 20
"""The most tokens of one sentence."""


def dependency_best_projective(scores: Doubles, offsets: Longs, against: Ints, heads: Ints, _threads: int) -> None:
    """The heads (m,) of the best projective trees; those with fewer heads `against` (or none) win ties."""
    _fill_best(best_projective, (scores, offsets), against, heads)


def dependency_best_spanning(scores: Doubles, offsets: Longs, against: Ints, heads: Ints, _threads: int) -> None:
    """The same for trees whose arcs may cross."""
    _fill_best(best_spanning, (scores, offsets), against, heads)


def dependency_soft_projective(
    scores: Doubles, offsets: Longs, chances: Doubles, values: Doubles, _threads: int
) -> None:
    """The chance of each arc (a,), and log sum e^score over all projective trees of each sentence (n,)."""
    _fill_soft(soft_projective, (scores, offsets), chances, values)


def dependency_soft_spanning(scores: Doubles, offsets: Longs, chances: Doubles, values: Doubles, _threads: int) -> None:
    """The same for trees whose arcs may cross."""
    _fill_soft(soft_spanning, (scores, offsets), chances, values)


def _fill_best(
    best: Callable[[Doubles, Ints | None], Ints], given: tuple[Doubles, Longs], against: Ints, heads: Ints
) -> None:
    arcs, m = _check(*given), int(given[1][-1])
    refuse(len(heads) != m or len(against) not in (0, m), "dependency: there is one head for each token")
    for _, tokens, S in _sentences(given, arcs):
        heads[tokens] = best(S, against[tokens] if len(against) else None)


def _fill_soft(
    soft: Callable[[Doubles], tuple[float, Doubles]], given: tuple[Doubles, Longs], chances: Doubles, values: Doubles
) -> None:
    arcs = _check(*given)
    fits = len(chances) == len(given[0]) and len(values) == len(arcs) - 1
    refuse(not fits, "dependency: the results do not fit the scores")
    values[:] = 0.0
    for i, _, S in _sentences(given, arcs):
        values[i], P = soft(S)
        chances[arcs[i] : arcs[i + 1]] = P.ravel()


def _check(scores: Doubles, offsets: Longs) -> Longs:
    """Where the scores of each sentence begin, and all end."""
    refuse(not len(offsets) or offsets[0] != 0, "dependency: the offsets do not begin at 0")
    sizes = np.diff(offsets)
    long = misfit(offsets, int(offsets[-1])) or bool((sizes > MAX_TOKENS).any())
    refuse(long, "dependency: the offsets fall, or a sentence is too long")
    arcs: Longs = np.concatenate([[0], np.cumsum(sizes * (sizes + 1))]).astype(np.int64)
    refuse(arcs[-1] != len(scores), "dependency: a sentence of n tokens has n (n + 1) scores")
    return arcs


def _sentences(given: tuple[Doubles, Longs], arcs: Longs) -> Iterator[tuple[int, slice, Doubles]]:
    """Number, tokens and scores (n, n+1) of each sentence that has tokens."""
    scores, offsets = given
    for i, n in enumerate(np.diff(offsets).tolist()):
        if n:
            S = scores[arcs[i] : arcs[i + 1]].reshape(n, n + 1)
            yield i, slice(int(offsets[i]), int(offsets[i + 1])), S


class _Spans:
    """What Eisner's algorithm knows about spans of tokens i..j, in squares with one entry for each span.

    `right[i, j]` is the half tree of i with its descendants up to j, `left[i, j]` that of j with its descendants down
    to i, and `arcs[h, m]` all that lies between h and m, with the arc from h to m.
    """

    def __init__(self, n: int) -> None:
        self.right, self.left, self.arcs = np.zeros((3, n, n))

    def between(self, i: int, j: int) -> tuple[Doubles, Doubles]:
        """The two parts of all that lies between i and j, for each cut."""
        return self.right[i, i:j], self.left[i + 1 : j + 1, j]

    def to_right(self, i: int, j: int) -> tuple[Doubles, Doubles]:
        """The two parts of right[i, j]: the arc to the last dependent of i, and its half tree."""
        return self.arcs[i, i + 1 : j + 1], self.right[i + 1 : j + 1, j]

    def to_left(self, i: int, j: int) -> tuple[Doubles, Doubles]:
        """The two parts of left[i, j]."""
        return self.left[i, i:j], self.arcs[j, i:j]


def best_projective(S: Doubles, against: Ints | None = None) -> Ints:
    """Eisner's algorithm (1996, 2000): heads (n,) of the best tree without crossing arcs.

    In an exact tie a tree with fewer arcs of `against` wins; then the first token below the root, then the first cut of
    each span.

    >>> S = np.zeros((2, 3))
    >>> best_projective(S).tolist(), best_projective(S, np.array([0, 1])).tolist()
    ([0, 1], [2, 0])
    """
    n = len(S)
    scores, truths, cuts = _Spans(n), _Spans(n), _Spans(n)
    true = np.zeros(S.shape)
    if against is not None:
        true[np.arange(n), against] = 1.0
    for i, j in _widening(n):
        cut = _first_best(scores.between(i, j), truths.between(i, j))
        cuts.arcs[i, j] = cuts.arcs[j, i] = i + cut
        for square, of in ((scores, S), (truths, true)):
            inside = sum(part[cut] for part in square.between(i, j))
            square.arcs[i, j], square.arcs[j, i] = inside + of[j, i + 1], inside + of[i, j + 1]
        cut = _first_best(scores.to_right(i, j), truths.to_right(i, j))
        cuts.right[i, j] = i + 1 + cut
        for square in (scores, truths):
            square.right[i, j] = sum(part[cut] for part in square.to_right(i, j))
        cut = _first_best(scores.to_left(i, j), truths.to_left(i, j))
        cuts.left[i, j] = i + cut
        for square in (scores, truths):
            square.left[i, j] = sum(part[cut] for part in square.to_left(i, j))
    tops = [square.left[0] + square.right[:, -1] + of[:, 0] for square, of in ((scores, S), (truths, true))]
    return _heads(cuts, _first_best((tops[0], np.zeros(n)), (tops[1], np.zeros(n))))


def _widening(n: int) -> list[tuple[int, int]]:
    """First and last token of all spans, short ones first."""
    return [(i, i + width) for width in range(1, n) for i in range(n - width)]


def _first_best(scores: tuple[Doubles, Doubles], truths: tuple[Doubles, Doubles]) -> int:
    """The place of the largest sum; among equals of the fewest truths; then the first."""
    sums, counts = scores[0] + scores[1], truths[0] + truths[1]
    equal = np.flatnonzero(sums == sums.max())
    return int(equal[counts[equal].argmin()])


def _heads(cuts: _Spans, top: int) -> Ints:
    """The heads of the tree below `top`, read from the cuts."""
    n = len(cuts.left)
    heads, open_halves = np.zeros(n, np.int32), [(top, 0), (top, n - 1)]
    while open_halves:
        head, end = open_halves.pop()
        if head == end:
            continue
        m = int(cuts.right[head, end] if head < end else cuts.left[end, head])
        heads[m] = head + 1
        low, high = sorted((head, m))
        middle = int(cuts.arcs[low, high])
        open_halves += [(m, end), (low, middle), (high, middle + 1)]
    return heads


class _Weight(NamedTuple):
    """An arc weight as Chu, Liu and Edmonds add and compare it; the larger tuple is better."""

    root: float  # minus the number of root arcs
    forbidden: float  # minus the number of forbidden arcs
    score: float  # of the other arcs
    truth: float  # minus the number of arcs of the true tree

    def less(self, other: _Weight) -> _Weight:
        """The difference of two weights."""
        return _Weight(*(a - b for a, b in zip(self, other, strict=True)))


class _Node:
    """A token, or a cycle contracted to one: for each head the best arc into it, and the one that was chosen."""

    def __init__(self, arcs: list[tuple[_Weight, int]]) -> None:
        self.arcs = arcs  # for each head the weight, and the token that the arc enters
        self.parent: _Node | None = None
        self.head = self.token = 0
        self.weight: _Weight

    def choose(self, owner: list[_Node]) -> None:
        """Takes the best arc from outside, from the lowest head among equals."""
        outside = [0, *(j + 1 for j, node in enumerate(owner) if node is not self)]
        self.head = max(outside, key=lambda h: self.arcs[h][0])
        self.weight, self.token = self.arcs[self.head]


def best_spanning(S: Doubles, against: Ints | None = None) -> Ints:
    """The algorithm of Chu and Liu (1965) and Edmonds (1967), with one root: heads (n,) of the best tree.

    A path grows from each token in turn by the best arc into its end. Where it meets itself, the cycle becomes one
    node: an arc into it counts what it adds to the arc of the cycle that it replaces. Fewer root arcs are better than
    any score, so the best tree has one. In an exact tie a tree with fewer arcs of `against` wins; then the lowest head
    of a node, and in a cycle the arc into its first node.

    >>> S = np.array([[0.0, 0.0, 5.0, 0.0], [1.0, 5.0, 0.0, 0.0], [1.0, 0.0, 3.0, 0.0]])
    >>> best_spanning(S).tolist()
    [2, 0, 2]
    """
    n = len(S)
    nodes = [_Node([(_weight(S, against, m, h), m) for h in range(n + 1)]) for m in range(n)]
    owner, done, tokens = list(nodes), set[_Node](), list(nodes)
    for start in range(n):
        path: list[_Node] = []
        node = owner[start]
        while node not in done:
            path.append(node)
            node.choose(owner)
            if node.head == 0:
                break
            node = owner[node.head - 1]
            if node in path:
                cycle = path[path.index(node) :]
                del path[-len(cycle) :]
                node = _contract(cycle)
                nodes.append(node)
                owner = [node if one in cycle else one for one in owner]
        done.update(path)
    return _expand(nodes, tokens)


def _weight(S: Doubles, against: Ints | None, m: int, h: int) -> _Weight:
    never = bool(S[m, h] == -np.inf)
    true = against is not None and bool(against[m] == h)
    return _Weight(-(h == 0), -never, 0.0 if never else float(S[m, h]), -true)


def _contract(cycle: list[_Node]) -> _Node:
    entries = [[(weight.less(node.weight), token) for weight, token in node.arcs] for node in cycle]
    together = _Node([max(arcs, key=lambda arc: arc[0]) for arcs in zip(*entries, strict=True)])
    for node in cycle:
        node.parent = together
    return together


def _expand(nodes: list[_Node], tokens: list[_Node]) -> Ints:
    """The heads: an arc into a cycle replaces the one inside that enters the same token, from the outside in."""
    heads, replaced = np.zeros(len(tokens), np.int32), set[_Node]()
    for node in reversed(nodes):
        if node in replaced:
            continue
        heads[node.token] = node.head
        inner = tokens[node.token]
        while inner is not node:
            replaced.add(inner)
            assert inner.parent is not None
            inner = inner.parent
    return heads


def soft_projective(S: Doubles) -> tuple[float, Doubles]:
    """Log sum e^score over all projective trees and the chance of each arc (n, n+1): inside sums, then outside.

    Without a tree that is -inf, and all chances are 0.

    >>> value, P = soft_projective(np.zeros((3, 4)))
    >>> round(np.exp(value)), P[:, 0].round(2).tolist()
    (7, [0.43, 0.14, 0.43])
    """
    n, inside = len(S), _Spans(len(S))
    between = np.zeros((n, n))
    for i, j in _widening(n):
        between[i, j] = between[j, i] = _log_sum(inside.between(i, j))
        inside.arcs[i, j], inside.arcs[j, i] = between[i, j] + S[j, i + 1], between[i, j] + S[i, j + 1]
        inside.right[i, j] = _log_sum(inside.to_right(i, j))
        inside.left[i, j] = _log_sum(inside.to_left(i, j))
    tops = inside.left[0] + inside.right[:, -1] + S[:, 0]
    value, P = float(np.logaddexp.reduce(tops)), np.zeros(S.shape)
    if value == -np.inf:
        return value, P
    P[:, 0] = np.exp(tops - value)
    chances = _Spans(n)
    chances.left[0], chances.right[:, -1] = P[:, 0], P[:, 0]
    for i, j in reversed(_widening(n)):
        _split(chances.right[i, j], inside.right[i, j], inside.to_right(i, j), chances.to_right(i, j))
        _split(chances.left[i, j], inside.left[i, j], inside.to_left(i, j), chances.to_left(i, j))
        P[j, i + 1], P[i, j + 1] = chances.arcs[i, j], chances.arcs[j, i]
        _split(P[j, i + 1] + P[i, j + 1], between[i, j], inside.between(i, j), chances.between(i, j))
    return value, P


def _log_sum(parts: tuple[Doubles, Doubles]) -> float:
    return float(np.logaddexp.reduce(parts[0] + parts[1]))


def _split(chance: float, whole: float, parts: tuple[Doubles, Doubles], to: tuple[Doubles, Doubles]) -> None:
    """Gives the chance of a span to the two parts of each of its cuts."""
    if chance > 0:
        shares = chance * np.exp(parts[0] + parts[1] - whole)
        for part in to:
            part += shares


def soft_spanning(S: Doubles) -> tuple[float, Doubles]:
    """Log sum e^score over all trees and the chance of each arc (n, n+1): the matrix-tree theorem with one root.

    With weights w = e^score the sum is a determinant (Koo, Globerson, Carreras and Collins 2007), found by elimination
    without subtraction (Grassmann, Taksar and Heyman 1985), in logarithms. The tokens leave one by one. Where m leaves,
    each path h -> m -> j becomes an arc, w(h, j) += w(h, m) w(m, j) / D with D = sum_h w(h, m) over the tokens that are
    left; the root is not in D, which is what makes it one root. The sum is the product of all D and of what the root
    then gives to the last token. The chances of arcs follow on the way back.

    >>> value, P = soft_spanning(np.zeros((3, 4)))
    >>> round(np.exp(value)), P[0].round(2).tolist()
    (9, [0.33, 0.0, 0.33, 0.33])
    """
    w, left, value, steps = S.astype(np.float64), list(range(len(S))), 0.0, []
    np.fill_diagonal(w[:, 1:], -np.inf)
    while len(left) > 1:
        D = np.logaddexp.reduce(w[left, 1:], axis=1)
        if not (-np.inf < D).any():
            return -np.inf, np.zeros(S.shape)
        place = int(np.flatnonzero(-np.inf < D)[-1])  # a token that can only have the root stays
        m = left.pop(place)
        shares = w[m] - D[place]
        steps.append((m, shares, w))
        w = np.logaddexp(w, w[:, m + 1, None] + shares)
        np.fill_diagonal(w[:, 1:], -np.inf)
        w[m], w[:, m + 1] = -np.inf, -np.inf
        value += D[place]
    value = float(value + w[left[0], 0])
    return value, np.zeros(S.shape) if value == -np.inf else _chances(steps, left[0], w)


def _chances(steps: list[tuple[int, Doubles, Doubles]], top: int, after: Doubles) -> Doubles:
    """Chances of arcs: of one token below the root, then of more and more; an arc was one before, or led through m."""
    P = np.zeros(after.shape)
    P[top, 0] = 1.0
    for m, shares, w in reversed(steps):
        with np.errstate(invalid="ignore"):
            through = np.where(P > 0, P * np.exp(w[:, m + 1, None] + shares - after), 0.0)
            P = np.where(P > 0, P * np.exp(w - after), 0.0)
        heads = np.concatenate([[0.0], np.exp(shares[1:])])
        P[:, m + 1] = through.sum(axis=1)
        P[m] = np.maximum(through.sum(axis=0) + heads * (1.0 - through.sum()), 0.0)
        after = w
    return P
