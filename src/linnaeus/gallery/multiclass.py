"""More than two classes: learned together, one against the rest, one against one, and where the last two disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.estimators.linear import LinearClassifier
from linnaeus.estimators.named import LogisticRegression
from linnaeus.gallery.boundaries import CELLS, answers, lattice
from linnaeus.gallery.toys import three
from linnaeus.regularizers import L2
from linnaeus.render.picture import Lines, Panel, Picture, Points, Regions, contour

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles

NONE, SEVERAL = -1, -2
"""Cells that no class claims, and cells that several do."""


def apart(output: str) -> LinearClassifier:
    """A linear classifier of the three clouds made of binary ones."""
    toy = three()
    face = LinearClassifier(loss="logistic", regularizer=L2(0.1), output=output)
    return face.fit(toy.X, toy.y)


def k_way() -> Picture:
    """Softmax regression, and its probabilities."""
    toy = three()
    model = LogisticRegression(strength=0.1).fit(toy.X, toy.y)
    _, grid = lattice(toy.limits)
    said = (
        "Softmax regression gives each class a score and predicts the largest: the plane is divided into one region "
        "for each class, with straight borders that meet in a point. Where colors are pale the model is unsure."
    )
    return Picture("Three classes at once", said, [_panel([answers(model, grid)], "")])


def claims() -> NDArray[np.int64]:
    """What the three classifiers of one-vs-rest say of each cell: the class that alone says yes, NONE or SEVERAL."""
    _, grid = lattice(three().limits)
    yes = apart("onevsrest").decision_function(grid) > 0
    found = np.where(yes.sum(axis=1) == 1, yes.argmax(axis=1), np.where(yes.any(axis=1), SEVERAL, NONE))
    return np.asarray(found, np.int64).reshape(CELLS, CELLS)


def one_vs_rest() -> Picture:
    """What each classifier claims, and the largest score."""
    at, grid = lattice(three().limits)
    model = apart("onevsrest")
    S = model.decision_function(grid)
    unclear = {NONE: "no class says yes", SEVERAL: "two classes say yes"}
    first = [Regions(claims().tolist(), names=unclear), *_borders(at, S, "one class against the rest")]
    second: list[Any] = [Regions(np.asarray(model.predict(grid)).reshape(CELLS, CELLS).tolist())]
    said = (
        "Three classifiers, each of one class against the rest: in the gray cells their answers contradict each "
        "other, because none of them or two of them say yes. Taking the largest of the three scores settles every "
        "cell."
    )
    panels = [_panel(first, "three yes-or-no answers"), _panel(second, "the largest score")]
    return Picture("One-vs-rest", said, panels)


def duels() -> Doubles:
    """Scores (cells, 3) of the pairs 1-2, 1-3 and 2-3 in each cell: positive for the first of the pair."""
    model = apart("onevsone")
    _, grid = lattice(three().limits)
    scores: Doubles = grid @ np.asarray(model.coef_, np.float64).T + np.asarray(model.intercept_, np.float64)
    return scores


def votes(D: Doubles) -> NDArray[np.int64]:
    """Votes (n, 3) of the three pairs."""
    a, b, c = (D > 0).astype(np.int64).T
    return np.column_stack([a + b, 1 - a + c, 2 - b - c])


def one_vs_one() -> Picture:
    """The votes of three pairs, and how a draw is settled."""
    at, grid = lattice(three().limits)
    D = duels()
    won = votes(D)
    drawn = np.where(won.max(axis=1) == 2, won.argmax(axis=1), SEVERAL).reshape(CELLS, CELLS)
    model = apart("onevsone")
    first = [
        Regions(drawn.tolist(), names={SEVERAL: "one vote each: a draw"}),
        *_borders(at, D, "one class against one"),
    ]
    second: list[Any] = [Regions(np.asarray(model.predict(grid)).reshape(CELLS, CELLS).tolist())]
    said = (
        "Three classifiers, each of two classes, vote: the class with two votes wins. In the small gray triangle "
        "every class has one vote; there the sums of the scores decide."
    )
    panels = [_panel(first, "votes of three pairs"), _panel(second, "draws settled by sums of scores")]
    return Picture("One-vs-one", said, panels)


def _borders(at: Doubles, S: Doubles, label: str) -> list[Lines]:
    paths = [contour(at.tolist(), at.tolist(), s.reshape(CELLS, CELLS).tolist()) for s in S.T]
    return [Lines([path for one in paths for path in one], 0, label, 1.2)]


def _panel(layers: list[Any], title: str) -> Panel:
    toy = three()
    points = [Points([tuple(row) for row in toy.X[toy.y == c].tolist()], c, f"class {c + 1}") for c in range(3)]
    return Panel([*layers, *points], title, toy.limits, toy.limits, "first feature", "second feature")
