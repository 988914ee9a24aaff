"""Twins of `bag.cpp`: steps of embedding bags in batches, and the order in which they read their examples."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from linnaeus.kernels.online import LOSSES, SPACES
from linnaeus.kernels.reference.online import Example, at_margin, joint_loss, product_loss
from linnaeus.kernels.reference.rows import check_offsets, misfit, outside, refuse, row_of
from linnaeus.types import offsets_of

if TYPE_CHECKING:
    from linnaeus.types import Array, Doubles, Floats, Ints, Longs, Sparse

    Tables: TypeAlias = tuple[Floats, Floats, Floats, Doubles]
    Rows: TypeAlias = tuple[Longs, Longs, Ints, Floats]
    Truth: TypeAlias = tuple[Longs, Ints, Doubles]
    Lists: TypeAlias = tuple[Longs, Ints, Floats, Doubles]
    Clock: TypeAlias = tuple[Ints, Doubles]
    Asked: TypeAlias = tuple[int, int, Doubles]
    Settings: TypeAlias = tuple[int, int, int, float, float]

PARTS = 8
LANES = 16


class Looked(NamedTuple):
    """Of one example: its vector and the columns it comes from, loss, mistake, gradients by score and by vector."""

    h: Doubles
    sources: Ints
    loss: float
    mistake: bool
    at: Ints
    d: Doubles
    g: Doubles


Judge: TypeAlias = Callable[[int, "Doubles"], tuple[float, bool, "Ints", "Doubles"]]
"""For an example and its scores: loss, mistake, the scores that have a gradient, and the gradient."""


class _Steps:
    """The tables of a call, and its two halves of a batch."""

    def __init__(self, tables: Tables, rows: Rows, clock: Clock, settings: Settings) -> None:
        self.E, self.O, self.b, self.scale = tables
        self.rows, (self.order, self.rates) = rows, clock
        self.batch, self.numbers, self.frozen, self.smoothing, self.decay = settings
        _check_tables(tables, settings)
        refuse(outside(self.order, len(rows[0]) - 1), "bag_steps: the order names an example that does not exist")
        _check_rows(rows, np.unique(self.order), len(self.E))
        wanted = -(-len(self.order) // self.batch)
        refuse(len(self.rates) != wanted, "bag_steps: there is one rate for each batch")

    def values(self, i: int) -> tuple[Ints, Floats]:
        """Columns and values of an example."""
        return row_of((self.rows[0], *self.rows[2:]), i)

    def run(self, pool: str, judge: Judge) -> tuple[float, int]:
        """All batches."""
        total, wrong = 0.0, 0
        for number, rate in enumerate(self.rates.tolist()):
            part = self.order[number * self.batch : (number + 1) * self.batch].tolist()
            seen = [self.look(pool, i, judge) for i in part]
            kept = np.exp(-rate * self.decay)
            self.scale *= kept
            self.O[:, : self.numbers] *= np.float32(kept)
            for i, found in zip(part, seen, strict=True):
                self.move_rows(pool, i, found, rate / float(self.scale[0]))
                self.move_output(found, rate)
                total, wrong = total + found.loss, wrong + found.mistake
        return total, wrong

    def look(self, pool: str, i: int, judge: Judge) -> Looked:
        """The vector, the loss and the gradients of an example."""
        columns, values = self.values(i)
        E = self.E[columns, : self.numbers].astype(np.float64)
        h, sources = np.zeros(self.numbers), np.full(self.numbers, -1, np.int32)
        if pool == "sum":
            h = values.astype(np.float64) @ E
        elif len(columns):
            h, sources = E.max(axis=0), columns[E.argmax(axis=0)]
        h[self.frozen :] *= float(self.scale[0])
        O = self.O[:, : self.numbers].astype(np.float64)  # noqa: E741
        loss, mistake, at, d = judge(i, O @ h + self.b[: len(O)])
        g = d @ O[at]
        g[: self.frozen] = 0.0
        return Looked(h, sources, loss, mistake, at, d, g)

    def move_rows(self, pool: str, i: int, found: Looked, rate: float) -> None:
        """The rows of the features of an example."""
        inner = max(self.numbers - self.frozen, 1)
        if pool == "sum":
            square = float(found.g @ found.g) / inner
            for column, x in zip(*self.values(i), strict=True) if square > 0 else ():
                self.E[column, -1] += x * x * square
                pace = rate * x / np.sqrt(self.smoothing + self.E[column, -1])
                self.E[column, : self.numbers] -= (pace * found.g).astype(np.float32)
            return
        for place in range(self.frozen, self.numbers):
            column, g = found.sources[place], found.g[place]
            if column >= 0:
                self.E[column, -1] += g * g / inner
                self.E[column, place] -= rate * g / np.sqrt(self.smoothing + self.E[column, -1])

    def move_output(self, found: Looked, rate: float) -> None:
        """The rows of the scores that have a gradient, and their biases."""
        w, length = len(self.O), float(found.h @ found.h) / self.numbers
        for k, d in zip(found.at.tolist(), found.d.tolist(), strict=True):
            if d:
                self.O[k, -1] += d * d * length
                self.O[k, : self.numbers] -= rate * d / np.sqrt(self.smoothing + self.O[k, -1]) * found.h
                self.b[w + k] += d * d
                self.b[k] -= rate * d / np.sqrt(self.smoothing + self.b[w + k])


def _check_tables(tables: Tables, settings: Settings) -> None:
    E, O, b, scale = tables  # noqa: E741
    batch, numbers, frozen, smoothing, decay = settings
    size = E.shape[1]
    refuse(size % LANES or not size or O.shape[1] != size, "bag_steps: rows are whole lines of 16 numbers, of one size")
    refuse(not len(O) or len(b) != 2 * len(O) or len(scale) != 1, "bag_steps: the bias does not fit the output rows")
    refuse(numbers >= size or frozen > numbers or batch < 1, "bag_steps: the vectors do not fit the rows")
    fine = smoothing > 0 and decay >= 0 and scale[0] > 0
    refuse(not fine, "bag_steps: smoothing and scale are above zero")


def _check_rows(rows: Rows, order: Ints, m: int) -> None:
    offsets, ends, columns, values = rows
    refuse(len(ends) != PARTS * (len(offsets) - 1), "bag_steps: there is one end for each part of a row")
    for i in order.tolist():
        stops = ends[i * PARTS : (i + 1) * PARTS]
        bounds = np.concatenate([offsets[i : i + 1], stops])
        refuse(misfit(bounds, min(len(columns), len(values))), "bag_steps: the offsets do not fit the values")
        found = columns[bounds[0] : bounds[-1]]
        wrong = outside(found, m) or (found % PARTS != np.repeat(np.arange(PARTS), np.diff(bounds))).any()
        refuse(wrong, "bag_steps: a column is in another part, or not in the table")
        refuse(bounds[-1] != offsets[i + 1], "bag_steps: the parts of a row do not end where it does")


def _check_lists(lists: tuple[Array, Array, Array], steps: _Steps, size: int) -> None:
    """Offsets and labels of the examples, and what they count."""
    offsets, labels, weights = lists
    n, w = len(steps.rows[0]) - 1, len(steps.O)
    refuse(len(offsets) != n + 1 or len(weights) not in (0, n), "bag_steps: the truth has another length")
    for i in np.unique(steps.order).tolist():
        refuse(misfit(offsets[i : i + 2], size), "bag_steps: the offsets do not fit the labels")
        refuse(outside(labels[offsets[i] : offsets[i + 1]], w), "bag_steps: a label is not a class")


def _steps(
    pool: str,
    tables: Tables,
    data: tuple[Rows, Truth],
    clock: Clock,
    plan: tuple[Asked, Settings],
    _threads: int = 1,
) -> tuple[float, int]:
    """Steps with all scores of each example."""
    (rows, truth), (asked, settings) = data, plan
    steps, (offsets, labels, weights), (space, loss, stakes) = _Steps(tables, rows, clock, settings), truth, asked
    _check_lists(truth, steps, len(labels))
    _check_asked(asked, np.diff(offsets)[steps.order], len(tables[1]))
    joint = space == SPACES["joint"]
    whole = joint and loss not in (LOSSES["squared"], LOSSES["absolute"])
    given = stakes if whole == joint else np.zeros(0)

    def judge(i: int, S: Doubles) -> tuple[float, bool, Ints, Doubles]:
        own = labels[offsets[i] : offsets[i + 1]]
        example = Example(S, own, float(weights[i]) if len(weights) else 1.0, 0.0)
        said = joint_loss(loss, given, example) if whole else product_loss(loss, given, joint, example)
        return said.loss, said.mistake, np.arange(len(S), dtype=np.int32), said.gradient

    return steps.run(pool, judge)


def _check_asked(asked: Asked, counts: Longs, w: int) -> None:
    """A loss that there is, and as many labels as it needs."""
    space, loss, stakes = asked
    known = 0 <= space < len(SPACES) and 0 <= loss < len(LOSSES)
    refuse(not known, "bag_steps: there is no such space or loss")
    refuse(len(stakes) not in (0, 2 if w == 1 else w * w), "bag_steps: the stakes have another size")
    joint = space == SPACES["joint"]
    refuse(joint and w < 2, "bag_steps: a joint space has two classes or more")
    one = joint or (len(stakes) > 0 and w > 1)
    refuse(one and (counts != 1).any(), "bag_steps: every example needs exactly one label")
    refuse(len(stakes) and w == 1 and (counts > 1).any(), "bag_steps: one class has one label at most")


def _listed_steps(
    pool: str,
    tables: Tables,
    data: tuple[Rows, Lists],
    clock: Clock,
    plan: tuple[int, Settings],
    _threads: int = 1,
) -> tuple[float, int]:
    """Steps with some scores of each example, each of which has a sign."""
    (rows, (offsets, at, signs, weights)), (asked, settings) = data, plan
    steps = _Steps(tables, rows, clock, settings)
    _check_lists((offsets, at, weights), steps, min(len(at), len(signs)))
    refuse(not 0 <= asked < len(LOSSES), "bag_steps: there is no such space or loss")

    def judge(i: int, S: Doubles) -> tuple[float, bool, Ints, Doubles]:
        inside = slice(offsets[i], offsets[i + 1])
        sign = signs[inside].astype(np.float64)
        m = sign * S[at[inside]]
        values, slopes = at_margin(asked, m, np.ones(len(m)))
        weight = float(weights[i]) if len(weights) else 1.0
        return weight * float(values.sum()), bool((~(m > 0)).any()), at[inside], weight * sign * slopes

    return steps.run(pool, judge)


bag_sum_steps = partial(_steps, "sum")
bag_max_steps = partial(_steps, "max")
bag_sum_listed_steps = partial(_listed_steps, "sum")
bag_max_listed_steps = partial(_listed_steps, "max")


def bag_layout(rows: Sparse, places: Ints, factors: Doubles, _threads: int = 1) -> tuple[Longs, Longs, Ints, Floats]:
    """Offsets, ends of parts, columns and values: those of a row ordered by part, column mod 8.

    Feature j becomes column places[j], or nothing where that is -1; value x of row i becomes x factors[i].
    """
    check_offsets(rows, "bag_layout")
    n = max(len(rows[0]) - 1, 0)
    refuse(len(factors) != n, "bag_layout: there is one factor for each row")
    columns, values, ends = [np.zeros(0, np.int32)], [np.zeros(0, np.float32)], []
    for i in range(n):
        features, x = row_of(rows, i)
        refuse(outside(features, len(places)), "bag_layout: a feature has no place")
        to = places[features]
        order = np.argsort(to % PARTS, kind="stable")
        order = order[to[order] >= 0]
        columns.append(to[order])
        values.append((x[order].astype(np.float64) * factors[i]).astype(np.float32))
        ends.append(np.bincount(to[order] % PARTS, minlength=PARTS))
    stops = np.cumsum(np.concatenate([np.zeros(0, np.int64), *ends])).astype(np.int64)
    offsets = offsets_of([len(part) for part in columns[1:]]).astype(np.int64)
    return offsets, stops, np.concatenate(columns), np.concatenate(values)
