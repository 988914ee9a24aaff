"""Twins of label_learn.cpp, label_search.cpp and label_order.cpp: learning label trees, searching them, their shape.

What is computed, and why, stands at the top of these files. Sums are taken one number after the other, in float32 where
the kernels do that, so all of them have the bits of the kernels.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from linnaeus.kernels.hashes import K0, MASK
from linnaeus.kernels.reference.digests import xxh64
from linnaeus.kernels.reference.dual import draw
from linnaeus.kernels.reference.rows import Rows, check_offsets, misfit, outside, refuse, row_of, stored
from linnaeus.kernels.reference.team import BETA, FINISHED, HIGH, LOW, TOTAL, State, team_epoch_squared_hinge
from linnaeus.types import AnyFloats, AnyInts, Array, Bools, Doubles, Floats, Ints, Longs, Words64

LARGEST = 2**31 - 1
SHORT = np.finfo(np.float32)

# Learning


Truth: TypeAlias = tuple[Longs, Ints]
"""Where the labels of each row begin (n+1), and their places in the order of the tree."""
Level: TypeAlias = tuple[Longs, Longs]
"""Where the children of each node begin (m+1), and where the labels of each child begin (c+1)."""
By: TypeAlias = tuple[float, float, float, int]
"""Least weight, tolerance, prior and epochs."""

LANES = 16
"""Children that are learned side by side."""
CHILDREN = 1 << 16
"""The most of a node."""


class _Group(NamedTuple):
    """The rows of a node in slots 0, 1, ...; the square of each, what it costs, and the places of its labels.

    The weights of a column are those in its slot times its factor: columns that one row has alone are folded into one.
    """

    rows: Rows
    width: int
    columns: Ints
    slots: Longs
    factors: Floats
    squares: Doubles
    costs: Doubles
    places: list[Ints]


def label_learn_squared_hinge(
    rows: Rows, width: int, costs: Doubles, truth: Truth, level: Level, led: Ints, by: By, _threads: int
) -> tuple[Longs, Ints, Array, Floats, Floats]:
    """The rankers of one level: where the weights of each node begin, their columns, children and values; biases.

    A node learns from the rows that have a label below it, and from those that `led` (n, b) names it for. They are
    positive for the children above their labels.
    """
    _check_level(rows, width, costs, truth, level, led)
    _check_numbers(rows, costs, by)
    starts, bounds = level
    biases = np.full(len(bounds) - 1, -1, np.float32)
    weights = []
    for v, members in enumerate(_members(costs, truth, bounds[starts], led)):
        group = _group(rows, costs, truth, members)
        W = np.zeros((group.width, starts[v + 1] - starts[v]), np.float32)
        for first in range(int(starts[v]), int(starts[v + 1]), LANES):
            last = min(first + LANES, int(starts[v + 1]))
            _learn_team(group, bounds[first : last + 1], first, by, (W[:, first - starts[v] :], biases[first:last]))
        with np.errstate(invalid="ignore"):
            W = W[group.slots] * group.factors[:, np.newaxis]
        if not (np.isfinite(W).all() and np.isfinite(biases).all()):
            raise OverflowError("label_learn: the rows, the costs or the prior are too large")
        j, child = np.nonzero((np.abs(W.astype(np.float64)) >= by[0]) & (W != 0))
        weights.append((group.columns[j], child.astype(np.uint16), W[j, child]))
    columns, lanes, values = (np.concatenate([part[i] for part in weights]) for i in range(3))
    firsts = np.cumsum([0] + [len(part[0]) for part in weights], dtype=np.int64)
    return firsts, columns, lanes, values, biases


def _members(costs: Doubles, truth: Truth, edges: Longs, led: Ints) -> list[list[int]]:
    """The rows of each node, ascending. What costs nothing is not there."""
    offsets, places = truth
    found: list[set[int]] = [set() for _ in edges[1:]]
    for row in np.flatnonzero(costs.astype(np.float32) >= SHORT.tiny).tolist():
        for place in places[offsets[row] : offsets[row + 1]]:
            found[int(np.searchsorted(edges, place, "right")) - 1].add(row)
        for node in led[row][led[row] >= 0]:
            found[node].add(row)
    return [sorted(rows) for rows in found]


def _group(rows: Rows, costs: Doubles, truth: Truth, members: list[int]) -> _Group:
    parts = [row_of(rows, row) for row in members]
    columns, counts = np.unique(np.concatenate([rows[1][:0]] + [part[0] for part in parts]), return_counts=True)
    alone = counts == 1
    slots, factors, width = np.cumsum(~alone) - 1, np.ones(len(columns), np.float32), int((~alone).sum())
    copied, squares = list[tuple[Longs, Floats]](), []
    for names, x in parts:
        at = np.searchsorted(columns, names)
        own, x64 = alone[at], x.astype(np.float64)
        squares.append(np.append(0.0, np.cumsum(x64**2))[-1])
        copied.append((slots[at[~own]], x[~own]))
        if own.any():
            length = np.sqrt(np.cumsum(x64[own] ** 2)[-1])
            copied[-1] = np.append(slots[at[~own]], width), np.append(x[~own], np.float32(length))
            slots[at[own]] = width
            factors[at[own]] = (x64[own] / length).astype(np.float32) if length > 0 else 0
            width += 1
    offsets = np.cumsum([0] + [len(part[0]) for part in copied], dtype=np.int64)
    indices = np.concatenate([np.zeros(0, np.int64)] + [part[0] for part in copied]).astype(np.int32)
    values = np.concatenate([rows[2][:0]] + [part[1] for part in copied])
    places = [truth[1][truth[0][row] : truth[0][row + 1]] for row in members]
    held = (offsets, indices, values)
    return _Group(held, width, columns, slots, factors, np.array(squares), costs[members], places)


def _learn_team(group: _Group, bounds: Longs, first: int, by: By, out: tuple[Floats, Floats]) -> None:
    """The weights and biases of up to 16 children; a child without rows has none, and keeps its bias."""
    _, tolerance, prior, epochs = by
    (W, biases), n, size = out, len(group.places), len(bounds) - 1
    marked = np.zeros((n, LANES), bool)
    for row, places in enumerate(group.places):
        inside = places[(places >= bounds[0]) & (places < bounds[-1])]
        marked[row, np.searchsorted(bounds, inside, "right") - 1] = True
    some = np.asarray(marked.any(axis=0))
    if not some.any():
        return
    alpha, marks = np.zeros((1, n, LANES), np.float32), (marked @ (1 << np.arange(LANES))).astype(np.uint16)
    order, active, facts = np.zeros((1, n), np.int32), np.zeros(1, np.int64), np.zeros((1, 8, LANES))
    seeds = np.array([(first * K0 + 1) & MASK], np.uint64)
    facts[0, BETA], facts[0, FINISHED] = 1.0, ~some
    weights = _means(group, marked, prior)
    _solve(group, (alpha, weights, marks[np.newaxis], order, active, facts, seeds), tolerance, epochs)
    W[:, :size] = weights[0, :, :size]
    biases[some[:size]] = facts[0, TOTAL, :size][some[:size]]


def _means(group: _Group, marked: Bools, prior: float) -> Floats:
    """The direction of the sum of each child's rows times their costs, times `prior` (1, d, 16)."""
    W = np.zeros((group.width, LANES), np.float32)
    if prior == 0 or not len(W):
        return W[np.newaxis]
    with np.errstate(over="ignore", invalid="ignore"):
        for row, lane in np.argwhere(marked):
            columns, x = row_of(group.rows, row)
            np.add.at(W, (columns, lane), np.float32(group.costs[row]) * x)
        squares = np.cumsum(W.astype(np.float64) ** 2, axis=0)[-1]
        factors = np.where(squares > 0, prior / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)
        return (W.astype(np.float64) * factors).astype(np.float32)[np.newaxis]


def _solve(group: _Group, state: State, tolerance: float, epochs: int) -> None:
    """Epochs until no variable is wrong by more than the tolerance; also of the rows that were left out meanwhile."""
    *_, order, active, facts, _ = state
    n = order.shape[1]
    box = group.squares, group.costs, np.ones((1, 2, LANES))
    active[0] = -1
    for _ in range(epochs):
        if active[0] < 0:
            order[0], active[0] = np.arange(n), n
            facts[0, LOW], facts[0, HIGH] = -np.inf, np.inf
        whole = active[0] == n
        with np.errstate(over="ignore", invalid="ignore"):
            team_epoch_squared_hinge(group.rows, box, state, 1)
        low, high = (np.where(np.isfinite(facts[0, fact]), facts[0, fact], 0.0) for fact in (LOW, HIGH))
        if active[0] > 0 and (high - low).max() > tolerance:
            continue
        if whole:
            break
        active[0] = -1


def _check_level(rows: Rows, width: int, costs: Doubles, truth: Truth, level: Level, led: Ints) -> None:
    _, columns, _ = stored(rows, "label_learn")
    (offsets, places), (starts, bounds) = truth, level
    n = max(len(rows[0]) - 1, 0)
    refuse(len(costs) != n, "label_learn: the costs do not fit the rows")
    fits = len(offsets) == n + 1 and _rises(offsets, len(places)) and len(led) == n
    fits = fits and len(starts) > 1 and _rises(starts, len(bounds) - 1) and int(starts[-1]) == len(bounds) - 1
    fits = fits and _rises(bounds, LARGEST) and not outside(places, int(bounds[-1]))
    astray = (led >= len(starts) - 1).any() or (np.diff(starts) > CHILDREN).any()
    refuse(not fits or astray, "label_learn: the arrays do not fit each other")
    refuse(not 0 <= width <= LARGEST or outside(columns, width), "label_learn: a column is outside the rows")


def _rises(offsets: AnyInts, last: int) -> bool:
    return len(offsets) > 0 and bool(offsets[0] == 0) and not misfit(offsets, last)


def _check_numbers(rows: Rows, costs: Doubles, by: By) -> None:
    most, (least, tolerance, prior, _) = float(SHORT.max), by
    row, _, values = stored(rows, "label_learn")
    squares = np.bincount(row, values**2, minlength=1)
    refuse(not (squares <= most).all(), "label_learn: a row is too large, or not finite")
    refuse(not ((costs >= 0) & (costs <= most)).all(), "label_learn: a cost is negative, or not finite")
    fits = least >= 0 and tolerance >= 0 and abs(prior) <= most
    refuse(not fits, "label_learn: least weight, tolerance and prior have to be numbers")


# Searching


Children: TypeAlias = tuple[Longs, Ints, Floats]
"""Where those of each node begin (m+1), where each leads (a node, or ~label), and its bias."""
Columns: TypeAlias = tuple[Longs, Ints, Array]
"""Where those of each node begin (m+1), the columns, and where the values of each begin, within the node."""
Values: TypeAlias = tuple[Longs, Array, Array, Floats]
"""Where those of each node begin (m+1), the child of each, the values, and by what those of a node are multiplied."""
Path: TypeAlias = tuple[np.float32, int]
"""A score, and the node or the label that has it."""

WORST = np.float32(-1e30)


class LabelSearch8:
    """A label tree, in which the best labels of rows are searched; each node is checked when it is first used."""

    LANES: ClassVar[int] = 1 << 8
    """The most children of a node."""

    def __init__(
        self,
        children: Children,
        columns: Columns,
        values: Values,
        digests: Words64,
        facts: tuple[int, int, float],
    ) -> None:
        """`facts` are the number of labels, the width, and the share that a step to a node counts."""
        self._children, self._columns, self._values, self._digests = children, columns, values, digests
        self._labels, self._width = facts[:2]
        (starts, targets, biases), (firsts, names, spots), (begins, lanes, numbers, scales) = children, columns, values
        m = len(scales)
        fits = m > 0 and len(starts) == len(firsts) == len(begins) == m + 1 and len(targets) == len(biases)
        fits = fits and len(names) == len(spots) and len(lanes) == len(numbers) and len(digests) in (0, m)
        refuse(not fits, "LabelSearch: the arrays do not fit each other")
        sized = self._width >= 0 and self._labels > 0 and 0 <= facts[2] <= float(SHORT.max)
        refuse(not sized, "LabelSearch: width, labels or share are no sizes of a tree")
        self._share = np.float32(facts[2])
        self._seen, self._parents = np.zeros(m, bool), np.full(m, -1)
        self._check_node(0)

    def best(self, rows: Rows, labels: Ints, scores: Floats, beam: int, _threads: int) -> None:
        """The best labels of each row and their scores (n, k), best first; -1 and -inf where there are no more."""
        check_offsets(rows, "LabelSearch")
        n = max(len(rows[0]) - 1, 0)
        fits = labels.shape == scores.shape and len(labels) == n and beam >= 1
        refuse(not fits, "LabelSearch: the answers do not fit the rows")
        self._check_rows(rows)
        labels[:], scores[:] = -1, -np.inf
        for row in range(n if labels.shape[1] else 0):
            for at, (score, label) in enumerate(self._search(row_of(rows, row), beam)[: labels.shape[1]]):
                labels[row, at], scores[row, at] = label, score

    def children(self, rows: Rows, node: int) -> Floats:
        """The scores of the children of a node, for a matrix of one row."""
        check_offsets(rows, "LabelSearch")
        fits = len(rows[0]) == 2 and 0 <= node < len(self._seen)
        refuse(not fits, "LabelSearch: there is no such row or node")
        self._check_rows(rows)
        return self._scores(row_of(rows, 0), node)

    def check(self) -> None:
        """Every node: that its arrays lead nowhere else, and that it has one parent."""
        for v in range(len(self._seen)):
            self._check_node(v)
        _require(bool((self._parents[1:] >= 0).all()), "a node has no parent")
        parts = self._children, self._columns, self._values
        _require(all(part[0][-1] == len(part[1]) for part in parts), "its arrays are longer than its nodes")

    def digests(self) -> Words64:
        """The digest of each node's chunk, as the file has it."""
        for v in range(len(self._seen)):
            self._check_node(v)
        return np.array([self._digest(v) for v in range(len(self._seen))], np.uint64)

    def _search(self, row: tuple[Ints, AnyFloats], beam: int) -> list[Path]:
        """All labels that the beam comes to, best first: nodes that are not opened here lead to worse ones."""
        frontier: list[Path] = [(np.float32(0), 0)]
        found: list[Path] = []
        while frontier:
            below: list[Path] = []
            for score, node in frontier:
                inside = slice(*self._children[0][node : node + 2])
                for to, step in zip(self._children[1][inside].tolist(), _steps(self._scores(row, node)), strict=True):
                    if to >= 0:
                        below.append((score + self._share * step, to))
                    else:
                        found.append((score + step, ~to))
            frontier = sorted(below, key=_rank)[:beam]
        return sorted(found, key=_rank)

    def _scores(self, row: tuple[Ints, AnyFloats], v: int) -> Floats:
        self._check_node(v)
        starts, _, biases = self._children
        begins, lanes, numbers, scales = self._values
        names, ends = self._chunk(v)
        sums = np.zeros(starts[v + 1] - starts[v], np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for column, x in zip(*row, strict=True):
                at = int(np.searchsorted(names, column))
                if at < len(names) and names[at] == column:
                    own = slice(begins[v] + ends[at], begins[v] + ends[at + 1])
                    np.add.at(sums, lanes[own], x * numbers[own].astype(np.float32))
            return biases[starts[v] : starts[v + 1]] + scales[v] * sums

    def _chunk(self, v: int) -> tuple[Ints, Longs]:
        """The columns of a node, and where the values of each begin and end within it."""
        (firsts, names, spots), begins = self._columns, self._values[0]
        own = slice(firsts[v], firsts[v + 1])
        return names[own], np.append(spots[own].astype(np.int64), begins[v + 1] - begins[v])

    def _check_rows(self, rows: Rows) -> None:
        row, columns, _ = stored(rows, "LabelSearch")
        refuse(outside(columns, self._width), "LabelSearch: a column is outside the rows")
        falls = ((np.diff(columns) < 0) & (np.diff(row) == 0)).any()
        refuse(falls, "LabelSearch: the columns of a row fall")

    def _check_node(self, v: int) -> None:
        if self._seen[v]:
            return
        (starts, targets, biases), (firsts, columns, _), (begins, lanes, _, scales) = (
            self._children,
            self._columns,
            self._values,
        )
        _require(_leads(starts, v, len(targets)), "the children of a node are outside its arrays")
        _require(_leads(firsts, v, len(columns)), "the columns of a node are outside its arrays")
        _require(_leads(begins, v, len(lanes)), "the values of a node are outside its arrays")
        if len(self._digests):
            _require(self._digest(v) == self._digests[v], "a chunk does not match its digest")
        own = slice(starts[v], starts[v + 1])
        nodes = targets[own][targets[own] >= 0]
        _require(len(targets[own]) <= self.LANES, "a node has too many children")
        _require(bool(np.isfinite(scales[v])), "a scale is not finite")
        ends = ~targets[own][targets[own] < 0]
        astray = outside(nodes, len(scales)) or outside(ends, self._labels)
        back = (np.diff(nodes, prepend=v) <= 0).any()
        _require(not astray and not back, "a child leads outside the tree, or back")
        _require(bool(np.isfinite(biases[own]).all()), "a bias is not finite")
        self._check_chunk(v)
        _require(bool(np.isin(self._parents[nodes], (-1, v)).all()), "a node has two parents")
        self._parents[nodes], self._seen[v] = v, True

    def _check_chunk(self, v: int) -> None:
        starts, (begins, lanes, _, _) = self._children[0], self._values
        (names, ends), size = self._chunk(v), int(begins[v + 1] - begins[v])
        rising = not outside(names, self._width) and bool((np.diff(names) > 0).all())
        _require(rising, "the columns of a node do not rise")
        inside = not len(names) or (ends[0] == 0 and bool((np.diff(ends) >= 0).all()))
        _require(inside, "the values of a column are outside its node")
        _require(len(names) > 0 or size == 0, "a node has values without columns")
        there = not outside(lanes[begins[v] : begins[v + 1]], int(starts[v + 1] - starts[v]))
        _require(there, "a value is of a child that is not there")

    def _digest(self, v: int) -> np.uint64:
        (firsts, names, spots), (begins, lanes, numbers, _) = self._columns, self._values
        columns, values = slice(firsts[v], firsts[v + 1]), slice(begins[v], begins[v + 1])
        parts = [_xxh64(array) for array in (names[columns], spots[columns], lanes[values], numbers[values])]
        return _xxh64(np.array(parts, np.uint64))


class LabelSearch16(LabelSearch8):
    """The same for values of 16 bits."""


class LabelSearchWide8(LabelSearch8):
    """The same for nodes of more than 256 children."""

    LANES = CHILDREN


class LabelSearchWide16(LabelSearchWide8):
    """The same for nodes of more than 256 children, and values of 16 bits."""


def _steps(s: Floats) -> Floats:
    """What children of these scores add: at most 0, and finite whatever the score is."""
    with np.errstate(all="ignore"):
        off = np.float32(1) - s
        steps = np.where(s >= 1, np.float32(0), -(off * off * off))
        return np.where(steps > WORST, steps, WORST)


def _rank(path: Path) -> tuple[float, int]:
    """The better first; of equals the lower number."""
    return -float(path[0]), path[1]


def _require(fits: bool, sentence: str) -> None:
    if not fits:
        raise RuntimeError(f"LabelSearch: {sentence}")


def _leads(offsets: Longs, v: int, size: int) -> bool:
    """Whether the part of node v lies within so many numbers; that of the root begins with the first."""
    return bool(0 <= offsets[v] <= offsets[v + 1] <= size and (v > 0 or offsets[v] == 0))


def _xxh64(array: Array) -> np.uint64:
    return xxh64(np.frombuffer(array.tobytes(), np.uint8)[np.newaxis])[0]


# Ordering


class _Center(NamedTuple):
    """The direction of the sum of some vectors, by column, and what the sum was multiplied by."""

    numbers: dict[int, np.float32]
    factor: np.float32

    def at(self, column: np.int32) -> np.float32:
        return self.numbers.get(int(column), np.float32(0))


STEP, MOST_HALVINGS = 0xBF58476D1CE4E5B9, 30


def label_order(labels: Rows, width: int, by: tuple[int, int, int], _threads: int) -> tuple[Ints, Longs]:
    """The labels in an order in which similar ones are near each other, and where each of 2^halvings groups begins.

    `by`: how often groups are halved, the most rounds for each, and a seed.
    """
    _, columns, values = stored(labels, "label_order")
    (halvings, rounds, seed), k = by, max(len(labels[0]) - 1, 0)
    fits = 0 <= halvings <= MOST_HALVINGS and (1 << halvings) >> 1 <= max(k, 1)
    refuse(not fits, "label_order: there are not so many halves of the labels")
    refuse(not 0 <= width <= LARGEST or outside(columns, width), "label_order: a column is outside the vectors")
    refuse(not np.isfinite(values).all(), "label_order: a vector is not finite")
    order, bounds = np.arange(k, dtype=np.int32), np.array([0, k], np.int64)
    for _ in range(halvings):
        groups = len(bounds) - 1
        for g in range(groups):
            own = slice(bounds[g], bounds[g + 1])
            order[own] = _halved(labels, order[own], ((seed + 1) * K0 + (groups + g) * STEP) & MASK, rounds)
        bounds = np.sort(np.concatenate([bounds, (bounds[:-1] + bounds[1:] + 1) // 2]))
    return order, bounds


def _halved(labels: Rows, group: Ints, seed: int, rounds: int) -> Ints:
    """The group as two halves, each ascending: balanced 2-means, from two vectors that the seed draws."""
    size = len(group)
    if size < 2:
        return group
    seeds, half = np.array([seed], np.uint64), (size + 1) // 2
    one, other = draw(seeds, 0, size), draw(seeds, 0, size - 1)
    other += other >= one
    centers = _center(labels, group[[one]]), _center(labels, group[[other]])
    sides = [-1] * size
    for _ in range(rounds):
        leans = [_lean(labels, label, side, centers) for label, side in zip(group, sides, strict=True)]
        ranked = sorted(zip([-lean for lean in leans], group.tolist(), strict=True))
        parts = [np.sort(np.array([label for _, label in part], np.int32)) for part in (ranked[:half], ranked[half:])]
        if np.array_equal(group, np.concatenate(parts)):
            break
        group = np.concatenate(parts)
        centers = _center(labels, parts[0]), _center(labels, parts[1])
        sides = [0] * half + [1] * (size - half)
    return group


def _center(labels: Rows, group: Ints) -> _Center:
    sums: dict[int, np.float32] = {}
    with np.errstate(over="ignore", invalid="ignore"):
        for label in group:
            for column, x in zip(*row_of(labels, label), strict=True):
                sums[int(column)] = sums.get(int(column), np.float32(0)) + x
        square = 0.0
        for value in sums.values():
            square += float(value) * float(value)
        factor = np.float64(1 / math.sqrt(square) if square > 0 else 0.0).astype(np.float32)
        return _Center({column: value * factor for column, value in sums.items()}, factor)


def _lean(labels: Rows, label: np.int32, side: int, centers: tuple[_Center, _Center]) -> float:
    """How much nearer a label is to the first center than to the second; 0 where sums were too large to tell.

    What it has added itself to the center of its side (-1: to none) does not count: rare words would keep it there.
    """
    near, square = [np.float32(0), np.float32(0)], np.float32(0)
    with np.errstate(over="ignore", invalid="ignore"):
        for column, x in zip(*row_of(labels, label), strict=True):
            square += x * x
            near = [near[i] + x * centers[i].at(column) for i in (0, 1)]
        if side >= 0:
            near[side] -= square * centers[side].factor
        lean = float(near[0] - near[1])
    return 0.0 if math.isnan(lean) else lean
