"""Twins of arcs.cpp and arc_learn.cpp: features of the arcs of dependency trees, and their learner.

Sentences are offsets (n+1) and codes (m, a): 64 bits for each token and attribute. Templates are rows (template, side,
offset, attribute), side 0 the head, 1 the dependent, 2 each token between. Arcs lead from a head 0 (the root) to n to a
token 1 to n; those of a sentence have the numbers (m - 1) (n + 1) + h. See arcs.hpp for the columns of features.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, reduce
from itertools import groupby, pairwise, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.kernels.hashes import K0, K1, K2, fold, hash_join
from linnaeus.kernels.reference.dependency import best_projective, best_spanning, soft_projective, soft_spanning
from linnaeus.kernels.reference.rows import misfit, outside, refuse
from linnaeus.types import offsets_of

if TYPE_CHECKING:
    from linnaeus.kernels.reference.online import Outcome, Penalty, Steps
    from linnaeus.types import Array, Doubles, Ints, Longs, Words64

    Coded = tuple[Longs, Words64]
    Truth = tuple[Ints, Doubles]
    State = tuple[Array, Doubles, Doubles]
    Template = tuple[int, list[tuple[int, ...]]]

HEAD, DEPENDENT, BETWEEN = range(3)
BEFORE, ROOT, AFTER = K0, K1, K2
"""Codes of positions without a token."""
RIGHT, FARTHEST, LANES = 8, 7, 8
LEAST_BITS, MOST_BITS = 4, 30
MOST_TOKENS = 1 << 20
FARTHEST_OFFSET = 100
PERCEPTRON, HINGE, LOG, SOFTMARGIN = range(4)
_BEST, _SOFT = (best_projective, best_spanning), (soft_projective, soft_spanning)


def arc_scores(coded: Coded, atoms: Ints, W: Array, _threads: int) -> Doubles:
    """The score of each arc of each sentence: the sum of the weights of its features; 0 from a token to itself."""
    bits = _bits_of(len(W))
    return np.concatenate([np.zeros(0), *(_scores(sentence, W).ravel() for sentence in _sentences(coded, atoms, bits))])


def arc_columns(coded: Coded, atoms: Ints, bits: int, heads: Ints, _threads: int) -> tuple[Longs, Ints]:
    """Offsets and columns of the features of arcs: of those of these heads (m,), or of all where there are none."""
    _refuse(not LEAST_BITS <= bits <= MOST_BITS, "the columns are a power of two from 2^4 to 2^30")
    rows: list[list[int]] = []
    if len(heads):
        _check_heads(coded[0], heads)
    for i, sentence in enumerate(_sentences(coded, atoms, bits)):
        own = heads[coded[0][i] : coded[0][i + 1]].tolist()
        for m in range(1, sentence.n + 1):
            asked = [own[m - 1]] if own else range(sentence.n + 1)
            rows += [[one.column for one in sentence.features(h, m)] for h in asked]
    return offsets_of([len(row) for row in rows]), np.array([c for row in rows for c in row], np.int32)


class Feature(NamedTuple):
    """A feature of an arc: column and template, its distance (or count of the tokens between) or 0, its token or 0."""

    column: int
    template: int
    distance: int
    between: int = 0


@dataclass(frozen=True, eq=False)
class ArcSentence:
    """One sentence: codes (n, a), and templates as lists of (side, offset, attribute)."""

    codes: Words64
    templates: list[Template]
    bits: int

    @property
    def n(self) -> int:
        """Tokens."""
        return len(self.codes)

    def features(self, h: int, m: int) -> list[Feature]:
        """All features of an arc; none from a token to itself."""
        return [] if h == m else [one for kind in self.kinds(h, m) for one in kind]

    def kinds(self, h: int, m: int) -> tuple[list[Feature], ...]:
        """The features of templates of the head, of the dependent, of both, and of tokens between."""
        found: tuple[list[Feature], ...] = [], [], [], []
        for number, atoms in self.templates:
            sides = {side for side, _, _ in atoms}
            kind = 3 if BETWEEN in sides else 2 if len(sides) == 2 else 0 if HEAD in sides else 1
            x = RIGHT if m > h else 0
            if kind != 1:
                x ^= self._part(number, HEAD, h)
            if kind != 0:
                x ^= self._part(number, DEPENDENT, m)
            if kind < 3:
                far = _distance(abs(h - m))
                found[kind].extend([Feature(x, number, 0), Feature(x ^ far, number, far)])
            for p, part, count in self._between(number, h, m) if kind == 3 else ():
                found[kind].extend([Feature(x ^ part, number, 0, p), Feature(x ^ part ^ count, number, count, p)])
        return found

    def _between(self, number: int, h: int, m: int) -> Iterator[tuple[int, int, int]]:
        """Position, part and count of each distinct part between, from the head outwards."""
        step = 1 if m > h else -1
        there = range(h + step, m, step)
        parts = [self._part(number, BETWEEN, p) for p in there]
        for p, part in zip(there, parts, strict=True):
            if parts.index(part) == (p - h) * step - 1:
                yield p, part, min(parts.count(part), FARTHEST)

    def _part(self, number: int, side: int, p: int) -> int:
        """The codes of one side of a template, hashed."""
        atoms = dict(self.templates)[number]
        codes = [self._code(p + at, attribute) for own, at, attribute in atoms if own == side]
        return reduce(hash_join, codes[-1:] if side == BETWEEN else codes, fold(number ^ K0, side ^ K1)) >> (
            64 - self.bits
        )

    def _code(self, p: int, attribute: int) -> int:
        if p <= 0:
            return BEFORE if p else ROOT
        return AFTER if p > self.n else int(self.codes[p - 1, attribute])


def _distance(d: int) -> int:
    return d if d <= 4 else 5 if d <= 7 else 6 if d <= 12 else FARTHEST


def _sum(W: Array, features: list[Feature]) -> float:
    """Pairs of features one after the other."""
    return sum((float(W[a.column]) + float(W[b.column]) for a, b in _pairs(features)), 0.0)


def _pairs(features: list[Feature]) -> list[tuple[Feature, Feature]]:
    return list(zip(features[::2], features[1::2], strict=True))


def _scores(sentence: ArcSentence, W: Array) -> Doubles:
    """The scores (n, n+1) of all arcs, summed in the order of the kernel."""
    n = sentence.n
    S = np.zeros((n, n + 1))
    for m, h in _arcs(n):
        of_head, of_dependent, of_both, between = sentence.kinds(h, m)
        lanes = np.zeros(LANES)
        for i, (a, b) in enumerate(_pairs(of_both)):
            lanes[i % LANES] += float(W[a.column]) + float(W[b.column])
        two = lanes[::2] + lanes[1::2]
        total = (_sum(W, of_head) + _sum(W, of_dependent)) + float((two[0] + two[1]) + (two[2] + two[3]))
        for _, own in groupby(between, key=lambda one: one.template):
            total += _sum(W, list(own))
        S[m - 1, h] = total
    return S


def _arcs(n: int) -> Iterator[tuple[int, int]]:
    """Dependent and head of all arcs."""
    return ((m, h) for m in range(1, n + 1) for h in range(n + 1) if h != m)


def _sentences(coded: Coded, atoms: Ints, bits: int) -> list[ArcSentence]:
    """The sentences with their templates, checked."""
    offsets, codes = coded
    lost = not len(offsets) or offsets[0] != 0 or offsets[-1] != len(codes) or misfit(offsets, len(codes))
    _refuse(lost, "the offsets do not fit the tokens")
    _refuse(np.diff(offsets).max(initial=0) > MOST_TOKENS, "a sentence is too long")
    _refuse(atoms.shape[1] != 4, "atoms are rows of template, side, offset and attribute")
    _refuse(not all(map(_is_known, atoms, repeat(codes.shape[1]))), "an atom is not known")
    templates = as_templates(atoms)
    return [ArcSentence(codes[a:b], templates, bits) for a, b in pairwise(offsets.tolist())]


def as_templates(atoms: Ints) -> list[Template]:
    """Number and atoms of each template."""
    rows = [tuple(row) for row in atoms.tolist()]
    return [(number, [row[1:] for row in own]) for number, own in groupby(rows, key=lambda row: row[0])]


def _is_known(atom: Ints, attributes: int) -> bool:
    number, side, offset, attribute = atom.tolist()
    there = number >= 0 and 0 <= side <= BETWEEN and 0 <= attribute < attributes
    return bool(there and abs(offset) <= (0 if side == BETWEEN else FARTHEST_OFFSET))


def _bits_of(width: int) -> int:
    sound = width.bit_count() == 1 and LEAST_BITS <= width.bit_length() - 1 <= MOST_BITS
    _refuse(not sound, "the columns are a power of two from 2^4 to 2^30")
    return width.bit_length() - 1


def _check_heads(offsets: Longs, heads: Ints) -> None:
    _refuse(len(heads) != offsets[-1], "there is one head for each token")
    sizes = np.diff(offsets)
    own = np.arange(len(heads)) - np.repeat(offsets[:-1], sizes) + 1
    wrong = (heads < 0) | (heads > np.repeat(sizes, sizes)) | (heads == own)
    _refuse(wrong.any(), "a head is not in its sentence, or is its own dependent")


def arc_learn(
    data: tuple[Coded, Ints], truth: Truth, order: Steps, state: State, loss: tuple[int, int], settings: Penalty
) -> Outcome:
    """The sum of losses before each step, and how many heads were wrong; table, clocks and clock are changed."""
    (coded, atoms), (heads, weights), offsets = data, truth, data[0][0]
    learner = _Learner(state, settings)
    sentences = _sentences(coded, atoms, _bits_of(state[0].shape[1]))
    _check_heads(offsets, heads)
    _refuse(len(weights) not in (0, len(sentences)), "there is one weight for each sentence")
    _refuse(loss[0] not in (0, 1) or not 0 <= loss[1] < 4, "there is no such space or loss")
    _refuse(len(order[0]) != len(order[1]), "there is one rate for each step")
    _refuse(outside(order[0], len(sentences)), "the order names a sentence that does not exist")
    total, wrong = 0.0, 0
    for i, rate in zip(order[0].tolist(), order[1].tolist(), strict=True):
        if sentences[i].n:
            weight = float(weights[i]) if len(weights) else 1.0
            found = learner.learn(sentences[i], heads[offsets[i] : offsets[i + 1]], (weight, rate), loss)
            total, wrong = total + found[0], wrong + found[1]
        learner.clock[0] += rate / settings[1]
        learner.clock[1] += 1
    return total, wrong


def arc_settle(state: State, settings: Penalty) -> None:
    """Every weight catches up with the penalty."""
    learner = _Learner(state, settings)
    _refuse(not len(learner.clocks), "a penalty needs clocks")
    learner.catch_up(np.arange(state[0].shape[1]))


class _Learner:
    def __init__(self, state: State, settings: Penalty) -> None:
        self.table, self.clocks, self.clock = state
        self.l2, total, self.eps = settings
        sound = self.l2 >= 0 and total > 0 and self.eps >= 0
        _refuse(not sound, "l2 and eps are at least 0, and the total is positive")
        _bits_of(self.table.shape[1])
        _refuse(len(self.table) != 3 + (self.eps > 0), "the table does not have the layout")
        _refuse(len(self.clock) != 2, "the clock has two numbers")
        clocks = self.table.shape[1] if self.l2 > 0 else 0
        _refuse(len(self.clocks) != clocks, "with a penalty each weight has a clock, otherwise none")

    @cached_property
    def w(self) -> Array:
        found: Array = self.table[0]
        return found

    def pace(self, columns: Array) -> Array:
        """What AdaGrad divides a step by."""
        if not self.eps > 0:
            return np.ones_like(self.w[columns])
        pace: Array = np.sqrt(self.table.dtype.type(self.eps) + self.table[1, columns])
        return pace

    def catch_up(self, columns: Array) -> None:
        kind = self.table.dtype.type
        time = (-self.l2 * (self.clock[0] - self.clocks[columns])).astype(self.table.dtype)
        self.clocks[columns] = self.clock[0]
        after = self.w[columns] * np.exp(time / self.pace(columns))
        self.table[-2, columns] += kind(self.clock[1]) * (after - self.w[columns])
        self.w[columns] = after

    def learn(self, sentence: ArcSentence, y: Ints, counts: tuple[float, float], asked: tuple[int, int]) -> Outcome:
        (weight, rate), (space, loss), kind = counts, asked, self.table.dtype.type
        if self.l2 > 0:
            arcs = _arcs(sentence.n)
            self.catch_up(np.unique([one.column for m, h in arcs for one in sentence.features(h, m)]))
        S, rows = _scores(sentence, self.w), np.arange(sentence.n)
        gold = float(sum(S[rows, y]))
        if loss in (HINGE, SOFTMARGIN):
            S += 1.0
            S[rows, y] -= 1.0
        if loss in (PERCEPTRON, HINGE):
            z = _BEST[space](S, y)
            upper, D, wrong = float(sum(S[rows, z])), np.zeros_like(S), int((z != y).sum())
            D[rows, z] = 1.0
        else:
            upper, D = _SOFT[space](S)
            others = D.copy()
            others[rows, y] = others[rows, rows + 1] = -1.0
            wrong = int((others.max(axis=1) >= D[rows, y]).sum())
        D = D.astype(self.table.dtype)
        D[rows, y] -= kind(1)
        g = self.table[-1]
        for m, h in _arcs(sentence.n):
            for one in sentence.features(h, m) if D[m - 1, h] else ():
                g[one.column] += kind(weight) * D[m - 1, h]
        self._step(np.flatnonzero(g), rate)
        return weight * (upper - gold), wrong

    def _step(self, columns: Array, rate: float) -> None:
        kind, g = self.table.dtype.type, self.table[-1, columns]
        self.table[-1, columns] = 0
        if self.eps > 0:
            self.table[1, columns] += g * g
        by = kind(rate) * g / self.pace(columns)
        self.w[columns] -= by
        self.table[-2, columns] -= kind(self.clock[1]) * by


def _refuse(wrong: object, what: str) -> None:
    refuse(wrong, f"arcs: {what}")
