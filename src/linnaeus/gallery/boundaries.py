"""Decision boundaries: which models on which data (`SCENES`), and soft margins."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.estimators.matrix import MatrixClassifier
from linnaeus.estimators.named import LeastSquares, LinearSVM, LogisticRegression, Perceptron
from linnaeus.gallery.drawing import answers, boundaries, lattice, picture, plane, shaded
from linnaeus.gallery.toys import apart, clouds, crossed, outliers, overlapping, rings
from linnaeus.learners.bayes import Gaussian, LinearDiscriminant, QuadraticDiscriminant
from linnaeus.learners.ensembles import AdaBoost, Forest, GradientBoosting, Tree
from linnaeus.learners.kernel_methods import GaussianProcess, KernelPerceptron, KernelRidge, KernelSVM
from linnaeus.learners.neighbors import Centroid, Neighbors
from linnaeus.render.picture import Lines, Panel, Picture
from linnaeus.similarities import RBF, Polynomial

if TYPE_CHECKING:
    from linnaeus.gallery.drawing import Classifies
    from linnaeus.gallery.toys import Toy
    from linnaeus.types import Array, Doubles


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
    columns: int = 3


def draw(scene: Scene) -> Picture:
    """Fit each model and draw it."""
    return Picture(scene.title, scene.caption, [panel(side) for side in scene.sides], scene.columns)


def panel(side: Side) -> Panel:
    """The regions that the model answers, its boundary, the points it learned from."""
    toy, model = side.toy(), side.model()
    model.fit(toy.X, toy.y)
    at, grid = lattice(toy.limits)
    lines = boundaries(model.decision_function(grid), at, side.levels) if side.levels else []
    return plane(toy, [shaded(model, grid), *lines], side.title)


class Mapped:
    """A model of features that are made of the rows; `learn` gives the function that makes them."""

    def __init__(self, model: Classifies, learn: Callable[[Doubles], Callable[[Doubles], Doubles]]) -> None:
        self.model, self.learn = model, learn

    def fit(self, X: Doubles, y: Array) -> Mapped:
        """Learn the features, and what they count."""
        self.made = self.learn(X)
        self.model.fit(self.made(X), y)
        return self

    def predict(self, X: Doubles) -> Array:
        """Classes."""
        return self.model.predict(self.made(X))

    def decision_function(self, X: Doubles) -> Doubles:
        """Scores."""
        return self.model.decision_function(self.made(X))


def steps(X: Doubles) -> Callable[[Doubles], Doubles]:
    """Indicators [x_j > c], for cuts c between neighboring values of the training rows."""
    cuts = [(column[1:] + column[:-1]) / 2 for column in np.sort(X, axis=0).T]
    return lambda X: np.hstack([X[:, [j]] > cut for j, cut in enumerate(cuts)]).astype(np.float64)


def stumps(rounds: int) -> Classifies:
    """AdaBoost on such indicators."""
    return Mapped(MatrixClassifier(learner=AdaBoost(rounds=rounds)), steps)


def learned(learner: object) -> Callable[[], Classifies]:
    """A classifier of rows that learns with this."""
    return lambda: MatrixClassifier(learner=learner)


def neighbors(k: int) -> Callable[[], Classifies]:
    """The k nearest rows vote."""
    return learned(Neighbors(k=k, metric="euclidean"))


rbf = learned(KernelSVM(kernel=RBF(gamma=0.5), strength=0.1))


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
        (Side("", learned(Gaussian()), clouds),),
    ),
    "linear-discriminant": Scene(
        "Linear discriminant analysis",
        "Linear discriminant analysis gives both classes one common covariance: its boundary is a line.",
        (Side("", learned(LinearDiscriminant()), clouds),),
    ),
    "quadratic-discriminant": Scene(
        "Quadratic discriminant analysis",
        "Quadratic discriminant analysis gives each class a covariance of its own: its boundary is a conic section.",
        (Side("", learned(QuadraticDiscriminant()), clouds),),
    ),
    "neighbors": Scene(
        "One neighbor against fifteen",
        "One neighbor gets every training point right and makes islands around unusual ones. The votes of fifteen "
        "neighbors give a smoother boundary, and probabilities.",
        (
            Side("1-NN", neighbors(1), clouds, ()),
            Side("15-NN", neighbors(15), clouds, ()),
        ),
    ),
    "rbf-svm": Scene(
        "A line against the RBF kernel",
        "No line separates a ring from what it surrounds; a support vector machine with the RBF kernel does.",
        (
            Side("linear", LinearSVM, rings, ()),
            Side("RBF kernel", rbf, rings),
        ),
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
            Side("1-NN", neighbors(1), crossed, ()),
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
        (Side("", learned(Tree(depth=4)), clouds, ()),),
    ),
    "adaboost": Scene(
        "AdaBoost of stumps",
        "AdaBoost adds up stumps, each a question about one feature: five make a strip, two hundred close it to a box.",
        (
            Side("5 rounds", lambda: stumps(5), rings, ()),
            Side("200 rounds", lambda: stumps(200), rings, ()),
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
        (Side("", learned(Forest(trees=100)), clouds, ()),),
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


@picture()
def slack() -> list[Panel]:
    """Slack of a soft margin.

    No line separates these points, so some must stand on the wrong side of their rim, where the score is 1 or -1. The
    pink line is the way back to the rim, and the slack is its length times the length of the weights. A larger strength
    makes the strip wider and allows more slack.
    """
    toy = overlapping()
    at, grid = lattice(toy.limits)
    panels = []
    for model in map(fitted, STRENGTHS):
        slacks, lines = slack_lines(model)
        rims = boundaries(model.decision_function(grid), at, (-1.0, 0.0, 1.0))
        ways = Lines(lines.tolist(), 4, "slack", 2.6)
        title = f"strength {model.strength:g}: slack {slacks.sum():.1f} in all"
        panels.append(plane(toy, [answers(model, grid), *rims, ways], title))
    return panels
