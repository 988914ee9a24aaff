"""Decision boundaries: which models on which data (`SCENES`), soft margins, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from linnaeus.estimators.matrix import MatrixClassifier
from linnaeus.estimators.named import LeastSquares, LinearSVM, LogisticRegression, Perceptron
from linnaeus.gallery.toys import apart, clouds, crossed, outliers, overlapping, rings
from linnaeus.learners.bayes import Gaussian, LinearDiscriminant, QuadraticDiscriminant
from linnaeus.learners.ensembles import AdaBoost, Forest, GradientBoosting, Tree
from linnaeus.learners.kernel_methods import GaussianProcess, KernelPerceptron, KernelRidge, KernelSVM
from linnaeus.learners.neighbors import Centroid, Neighbors
from linnaeus.render.picture import Lines, Panel, Picture, Points, Regions, contour
from linnaeus.similarities import RBF, Polynomial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linnaeus.gallery.toys import Toy
    from linnaeus.types import Doubles

CELLS = 100
"""Cells of the grid in each direction."""


class Classifies(Protocol):
    """What is drawn: any classifier of two classes with the face of scikit-learn."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn."""

    def predict(self, X: Any) -> Any:
        """Classes."""

    def decision_function(self, X: Any) -> Any:
        """Scores, positive for the second class."""


class Side(NamedTuple):
    """One panel: a model to be, and the data it learns."""

    title: str
    model: Callable[[], Classifies]
    toy: Callable[[], Toy]
    levels: tuple[float, ...] = (0.0,)
    """Scores whose lines are drawn; none for models whose scores jump."""


class Scene(NamedTuple):
    """A picture of boundaries to be."""

    title: str
    caption: str
    sides: tuple[Side, ...]


def draw(scene: Scene) -> Picture:
    """Fit each model and draw it."""
    return Picture(scene.title, scene.caption, [panel(side) for side in scene.sides])


def panel(side: Side) -> Panel:
    """The regions that the model answers, its boundary, the points it learned from."""
    toy = side.toy()
    model = side.model()
    model.fit(toy.X, toy.y)
    at, grid = lattice(toy.limits)
    layers: list[Any] = [answers(model, grid)]
    if side.levels:
        layers += boundaries(np.asarray(model.decision_function(grid)).reshape(CELLS, CELLS), at, side.levels)
    layers += [Points([tuple(row) for row in toy.X[toy.y == c].tolist()], c, f"class {c + 1}") for c in (0, 1)]
    return Panel(layers, side.title, toy.limits, toy.limits, "first feature", "second feature")


def answers(model: Classifies, grid: Doubles) -> Regions:
    """The class of each cell, shaded by its probability where the model has probabilities."""
    found = np.asarray(model.predict(grid)).reshape(CELLS, CELLS)
    # scikit-learn's convention: a classifier without probabilities has no such method.
    chances = getattr(model, "predict_proba", None)
    if chances is None:
        return Regions(found.tolist())
    P = np.asarray(chances(grid))
    k = P.shape[1]
    sure = ((P.max(axis=1) - 1 / k) / (1 - 1 / k)).reshape(CELLS, CELLS)
    said = "probability of class 2, from 0 to 1" if k == 2 else f"probability of the class, from 1/{k} to 1"
    return Regions(found.tolist(), said, sure.tolist())


def lattice(limits: tuple[float, float]) -> tuple[Doubles, Doubles]:
    """The middles of the cells along one axis, and of all cells as rows (CELLS^2, 2), the bottom row first."""
    low, high = limits
    at = low + (np.arange(CELLS) + 0.5) / CELLS * (high - low)
    across, up = np.meshgrid(at, at)
    return at, np.c_[across.ravel(), up.ravel()]


def boundaries(scores: Doubles, at: Doubles, levels: Sequence[float]) -> list[Lines]:
    """The lines of these scores: zero thick, others thin, with one line in the legend for both signs."""
    drawn = []
    for level in levels:
        paths = contour(at.tolist(), at.tolist(), (scores - level).tolist())
        label = "" if level < 0 else f"score {level:g}" + f" and {-level:g}" * (-level in levels and level > 0)
        drawn.append(Lines(paths, 0, label, 2.0 if level == 0 else 0.8))
    return drawn


class Steps:
    """AdaBoost on indicators [x_j > c], for cuts c between neighboring values of the training rows."""

    def __init__(self, rounds: int) -> None:
        self.model = MatrixClassifier(learner=AdaBoost(rounds=rounds))
        self.cuts: list[Doubles] = []

    def fit(self, X: Doubles, y: Any) -> Steps:
        """Learn where to cut and how much each cut counts."""
        self.cuts = [(column[1:] + column[:-1]) / 2 for column in np.sort(X, axis=0).T]
        self.model.fit(self._passed(X), y)
        return self

    def predict(self, X: Doubles) -> Any:
        """Classes."""
        return self.model.predict(self._passed(X))

    def decision_function(self, X: Doubles) -> Any:
        """The weighted sum of the stumps."""
        return self.model.decision_function(self._passed(X))

    def _passed(self, X: Doubles) -> Doubles:
        passed = [X[:, [j]] > cuts for j, cuts in enumerate(self.cuts)]
        return np.hstack(passed).astype(np.float64)


def neighbors(k: int) -> Classifies:
    """The k nearest rows vote."""
    return MatrixClassifier(learner=Neighbors(k=k, metric="euclidean"))


def learned(learner: Any) -> Callable[[], Classifies]:
    """A classifier of rows that learns with this."""
    return lambda: MatrixClassifier(learner=learner)


def rbf() -> Classifies:
    """A support vector machine with the RBF kernel."""
    return MatrixClassifier(learner=KernelSVM(kernel=RBF(gamma=0.5), strength=0.1))


SCENES = {
    "perceptron": Scene(
        "Perceptron",
        "The perceptron stops at the first line without mistakes, however close to the points it runs.",
        (Side("", lambda: Perceptron(epochs=50), apart),),
    ),
    "logistic-regression": Scene(
        "Logistic regression",
        "Logistic regression draws the line where both classes are equally probable. Away from it the score grows "
        "evenly, and the probability quickly comes close to 0 or 1.",
        (Side("", LogisticRegression, clouds, (-2.0, 0.0, 2.0)),),
    ),
    "linear-svm": Scene(
        "Linear support vector machine",
        "The support vector machine keeps the widest empty strip between the classes. Only the points on its rims, "
        "where the score is 1 or -1, determine it.",
        (Side("", lambda: LinearSVM(strength=0.1, tol=1e-6), apart, (-1.0, 0.0, 1.0)),),
    ),
    "naive-bayes": Scene(
        "Gaussian naive Bayes",
        "Gaussian naive Bayes gives each class a width along each axis, but no slant: its boundary bends.",
        (Side("", lambda: MatrixClassifier(learner=Gaussian()), clouds),),
    ),
    "linear-discriminant": Scene(
        "Linear discriminant analysis",
        "Linear discriminant analysis gives both classes one common covariance: its boundary is a line.",
        (Side("", lambda: MatrixClassifier(learner=LinearDiscriminant()), clouds),),
    ),
    "quadratic-discriminant": Scene(
        "Quadratic discriminant analysis",
        "Quadratic discriminant analysis gives each class a covariance of its own: its boundary is a conic section.",
        (Side("", lambda: MatrixClassifier(learner=QuadraticDiscriminant()), clouds),),
    ),
    "neighbors": Scene(
        "One neighbor against fifteen",
        "One neighbor gets every training point right and makes islands around unusual ones. The votes of fifteen "
        "neighbors give a smoother boundary, and probabilities.",
        (
            Side("1-NN", lambda: neighbors(1), clouds, ()),
            Side("15-NN", lambda: neighbors(15), clouds, ()),
        ),
    ),
    "rbf-svm": Scene(
        "A line against the RBF kernel",
        "No line separates a ring from what it surrounds; a support vector machine with the RBF kernel does.",
        (Side("linear", LinearSVM, rings, ()), Side("RBF kernel", rbf, rings)),
    ),
    "centroid": Scene(
        "Nearest centroid",
        "Only the mean of each class is kept: the boundary is the line half way between the two means.",
        (Side("", learned(Centroid(metric="euclidean")), clouds),),
    ),
    "exclusive-or": Scene(
        "Exclusive or: what a line cannot do",
        "Opposite corners belong together: every line is wrong about a corner at least, while products of the "
        "features (a polynomial kernel) or the nearest point get all of them right.",
        (
            Side("logistic regression", LogisticRegression, crossed, ()),
            Side("polynomial kernel", learned(KernelPerceptron(kernel=Polynomial(degree=2))), crossed),
            Side("1-NN", lambda: neighbors(1), crossed, ()),
        ),
    ),
    "kernels": Scene(
        "Three learners, one kernel",
        "With the same RBF kernel the perceptron stops at the first boundary without mistakes, ridge regression fits "
        "the classes as numbers, and the Gaussian process takes the mean over all boundaries that fit.",
        (
            Side("kernel perceptron", learned(KernelPerceptron(kernel=RBF(gamma=0.5))), rings),
            Side("kernel ridge", learned(KernelRidge(kernel=RBF(gamma=0.5), strength=0.1)), rings),
            Side("Gaussian process", learned(GaussianProcess(kernel=RBF(gamma=0.5))), rings),
        ),
    ),
    "decision-tree": Scene(
        "Decision tree",
        "A decision tree asks about one feature at a time: its regions are rectangles.",
        (Side("", lambda: MatrixClassifier(learner=Tree(depth=4)), clouds, ()),),
    ),
    "adaboost": Scene(
        "AdaBoost of stumps",
        "AdaBoost adds up stumps, each a question about one feature: five make a strip, two hundred close it to a box.",
        (
            Side("5 rounds", lambda: Steps(rounds=5), rings, ()),
            Side("200 rounds", lambda: Steps(rounds=200), rings, ()),
        ),
    ),
    "gradient-boosting": Scene(
        "Gradient boosting",
        "Gradient boosting adds small trees, each fitted to what is left over: more rounds draw the boundary closer "
        "around the points, and in the end around single ones.",
        (
            Side("5 rounds", learned(GradientBoosting(rounds=5)), clouds, ()),
            Side("200 rounds", learned(GradientBoosting(rounds=200)), clouds, ()),
        ),
    ),
    "random-forest": Scene(
        "Random forest",
        "A random forest takes the mean of a hundred trees, each grown on another sample of the rows: its boundary "
        "has many small steps, and its probabilities change gradually.",
        (Side("", lambda: MatrixClassifier(learner=Forest(trees=100)), clouds, ()),),
    ),
    "outliers": Scene(
        "Outliers: least squares against logistic regression",
        "Least squares also punishes points that are far on the right side, and turns its line toward them, through "
        "both classes; logistic regression hardly notices them.",
        (
            Side("least squares", LeastSquares, outliers),
            Side("logistic regression", LogisticRegression, outliers),
        ),
    ),
}
"""Every picture of boundaries by name."""


STRENGTHS = (0.1, 5.0)


def fitted(strength: float) -> LinearSVM:
    """The support vector machine of the two clouds."""
    toy = overlapping()
    return LinearSVM(strength=strength, tol=1e-6).fit(toy.X, toy.y)


def slack_lines(model: LinearSVM) -> tuple[Doubles, Doubles]:
    """Slacks max(0, 1 - y s) of the points that have one (m,), and lines from each to its rim (m, 2, 2)."""
    toy = overlapping()
    sign = 2.0 * toy.y - 1
    slacks = np.maximum(0.0, 1 - sign * model.decision_function(toy.X))
    late = slacks > 1e-3
    w = np.asarray(model.coef_, np.float64).ravel()
    ends = toy.X[late] + (sign * slacks)[late, None] * w / (w @ w)
    return slacks[late], np.stack([toy.X[late], ends], axis=1)


def slack() -> Picture:
    """A narrow strip with little slack, a wide one with more."""
    toy = overlapping()
    at, grid = lattice(toy.limits)
    panels = []
    for strength in STRENGTHS:
        model = fitted(strength)
        slacks, lines = slack_lines(model)
        layers: list[Any] = [Regions(np.asarray(model.predict(grid)).reshape(CELLS, CELLS).tolist())]
        layers += boundaries(model.decision_function(grid).reshape(CELLS, CELLS), at, (-1.0, 0.0, 1.0))
        layers.append(Lines([[tuple(end) for end in line] for line in lines.tolist()], 4, "slack", 2.6))
        layers += [Points([tuple(x) for x in toy.X[toy.y == c].tolist()], c, f"class {c + 1}") for c in (0, 1)]
        title = f"strength {strength:g}: slack {slacks.sum():.1f} in all"
        panels.append(Panel(layers, title, toy.limits, toy.limits, "first feature", "second feature"))
    said = (
        "No line separates these points, so some must stand on the wrong side of their rim, where the score is 1 or "
        "-1. The pink line is the way back to the rim, and the slack is its length times the length of the weights. A "
        "larger strength makes the strip wider and allows more slack."
    )
    return Picture("Slack of a soft margin", said, panels)
