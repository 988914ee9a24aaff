"""More than two classes: learned together, one against the rest, one against one, and where the last two disagree."""

from __future__ import annotations

import numpy as np

from linnaeus.estimators.linear import LinearClassifier
from linnaeus.estimators.named import LogisticRegression
from linnaeus.gallery.drawing import CELLS, answers, lattice, level_lines, picture, plane, shaded
from linnaeus.gallery.toys import three
from linnaeus.regularizers import L2
from linnaeus.render.picture import Lines, Panel, Regions
from linnaeus.types import Doubles, Longs

NONE, SEVERAL = -1, -2
"""Cells that no class claims, and cells that several do."""


def apart(output: str) -> LinearClassifier:
    """A linear classifier of the three clouds made of binary ones."""
    toy = three()
    face = LinearClassifier(loss="logistic", regularizer=L2(0.1), output=output)
    return face.fit(toy.X, toy.y)


@picture()
def k_way() -> list[Panel]:
    """Three classes at once.

    Softmax regression gives each class a score and predicts the largest: the plane is divided into one region for each
    class, with straight borders that meet in a point. Where colors are pale the model is unsure.
    """
    toy = three()
    model = LogisticRegression(strength=0.1).fit(toy.X, toy.y)
    return [plane(toy, [shaded(model, lattice(toy.limits)[1])], "")]


def claims() -> Longs:
    """What the three classifiers of one-vs-rest say of each cell: the class that alone says yes, NONE or SEVERAL."""
    _, grid = lattice(three().limits)
    yes = apart("onevsrest").decision_function(grid) > 0
    found = np.where(yes.sum(axis=1) == 1, yes.argmax(axis=1), np.where(yes.any(axis=1), SEVERAL, NONE))
    return np.asarray(found, np.int64).reshape(CELLS, CELLS)


@picture()
def one_vs_rest() -> list[Panel]:
    """One-vs-rest.

    Three classifiers, each of one class against the rest: in the gray cells their answers contradict each other,
    because none of them or two of them say yes. Taking the largest of the three scores settles every cell.
    """
    toy, model = three(), apart("onevsrest")
    at, grid = lattice(toy.limits)
    unclear = Regions(claims().tolist(), names={NONE: "no class says yes", SEVERAL: "two classes say yes"})
    borders = _borders(at, model.decision_function(grid), "one class against the rest")
    return [
        plane(toy, [unclear, borders], "three yes-or-no answers"),
        plane(toy, [answers(model, grid)], "the largest score"),
    ]


def duels() -> Doubles:
    """Scores (cells, 3) of the pairs 1-2, 1-3 and 2-3 in each cell: positive for the first of the pair."""
    model = apart("onevsone")
    _, grid = lattice(three().limits)
    return grid @ np.asarray(model.coef_, np.float64).T + np.asarray(model.intercept_, np.float64)


def votes(D: Doubles) -> Longs:
    """Votes (n, 3) of the three pairs."""
    a, b, c = (D > 0).astype(np.int64).T
    return np.column_stack([a + b, 1 - a + c, 2 - b - c])


@picture()
def one_vs_one() -> list[Panel]:
    """One-vs-one.

    Three classifiers, each of two classes, vote: the class with two votes wins. In the small gray triangle every class
    has one vote; there the sums of the scores decide.
    """
    toy = three()
    at, grid = lattice(toy.limits)
    D = duels()
    won = votes(D)
    drawn = np.where(won.max(axis=1) == 2, won.argmax(axis=1), SEVERAL).reshape(CELLS, CELLS)
    unclear = Regions(drawn.tolist(), names={SEVERAL: "one vote each: a draw"})
    return [
        plane(toy, [unclear, _borders(at, D, "one class against one")], "votes of three pairs"),
        plane(toy, [answers(apart("onevsone"), grid)], "draws settled by sums of scores"),
    ]


def _borders(at: Doubles, S: Doubles, label: str) -> Lines:
    return Lines([path for s in S.T for path in level_lines(at, s)], 0, label, 1.2)
