"""Decision boundaries: which models on which data (`Scene`), soft margins, and cells of nearest neighbors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from linnaeus.estimators.matrix import MatrixClassifier
from linnaeus.estimators.named import LeastSquares, LinearSVM, LogisticRegression, Perceptron
from linnaeus.gallery import toys
from linnaeus.gallery.drawing import Classifies, answers, boundaries, described, lattice, picture, plane, shaded
from linnaeus.gallery.toys import Toy
from linnaeus.learners.bayes import Gaussian, LinearDiscriminant, QuadraticDiscriminant
from linnaeus.learners.ensembles import AdaBoost, Forest, GradientBoosting, Tree
from linnaeus.learners.kernel_methods import GaussianProcess, KernelPerceptron, KernelRidge, KernelSVM
from linnaeus.learners.neighbors import Centroid, Neighbors
from linnaeus.render.picture import Lines, Panel, Picture
from linnaeus.similarities import RBF, Polynomial
from linnaeus.types import Array, Doubles, Longs


class Side(NamedTuple):
    """One panel: a model to be, and the data it learns."""

    title: str
    model: Callable[[], Classifies]
    toy: Callable[[], Toy]
    levels: tuple[float, ...] = (0.0,)
    """Scores whose lines are drawn; none for models whose scores jump."""


Sides = tuple[Side, ...]


class Scene(NamedTuple):
    """A picture of boundaries; it is drawn when it is called."""

    title: str
    caption: str
    sides: Sides
    columns: int = 3

    def __call__(self) -> Picture:
        """Fit each model and draw it."""
        return Picture(self.title, self.caption, [panel(side) for side in self.sides], self.columns)


def scene(sides: Callable[[], Sides]) -> Scene:
    """Make a scene of a function that gives its sides; its docstring has the title and the caption."""
    given = sides()
    return Scene(*described(sides), given, max(3, len(given)))


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


def votes_of(k: int) -> Callable[[], Classifies]:
    """The k nearest rows vote."""
    return learned(Neighbors(k=k, metric="euclidean"))


rbf = learned(KernelSVM(kernel=RBF(gamma=0.5), strength=0.1))


@scene
def perceptron() -> Sides:
    """Perceptron.

    The perceptron stops at the first line without mistakes, however close to the points it runs.
    """
    return (Side("", lambda: Perceptron(epochs=50), toys.apart),)


@scene
def logistic_regression() -> Sides:
    """Logistic regression.

    Logistic regression draws the line where both classes are equally probable. Away from it the score grows evenly, and
    the probability quickly comes close to 0 or 1.
    """
    return (Side("", LogisticRegression, toys.clouds, (-2.0, 0.0, 2.0)),)


@scene
def linear_svm() -> Sides:
    """Linear support vector machine.

    The support vector machine keeps the widest empty strip between the classes. Only the points on its rims, where the
    score is 1 or -1, determine it.
    """
    return (Side("", lambda: LinearSVM(strength=0.1, tol=1e-06), toys.apart, (-1.0, 0.0, 1.0)),)


@scene
def naive_bayes() -> Sides:
    """Gaussian naive Bayes.

    Gaussian naive Bayes gives each class a width along each axis, but no slant: its boundary bends.
    """
    return (Side("", learned(Gaussian()), toys.clouds),)


@scene
def linear_discriminant() -> Sides:
    """Linear discriminant analysis.

    Linear discriminant analysis gives both classes one common covariance: its boundary is a line.
    """
    return (Side("", learned(LinearDiscriminant()), toys.clouds),)


@scene
def quadratic_discriminant() -> Sides:
    """Quadratic discriminant analysis.

    Quadratic discriminant analysis gives each class a covariance of its own: its boundary is a conic section.
    """
    return (Side("", learned(QuadraticDiscriminant()), toys.clouds),)


@scene
def neighbors() -> Sides:
    """One neighbor against fifteen.

    One neighbor gets every training point right and makes islands around unusual ones. The votes of fifteen neighbors
    give a smoother boundary, and probabilities.
    """
    return (
        Side("1-NN", votes_of(1), toys.clouds, ()),
        Side("15-NN", votes_of(15), toys.clouds, ()),
    )


@scene
def rbf_svm() -> Sides:
    """A line against the RBF kernel.

    No line separates a ring from what it surrounds; a support vector machine with the RBF kernel does.
    """
    return (
        Side("linear", LinearSVM, toys.rings, ()),
        Side("RBF kernel", rbf, toys.rings),
    )


@scene
def centroid() -> Sides:
    """Nearest centroid.

    Only the mean of each class is kept: the boundary is the line half way between the two means.
    """
    return (Side("", learned(Centroid(metric="euclidean")), toys.clouds),)


@scene
def exclusive_or() -> Sides:
    """Exclusive or: what a line cannot do.

    Opposite corners belong together: every line is wrong about a corner at least, while products of the features (a
    polynomial kernel) or the nearest point get all of them right.
    """
    return (
        Side("logistic regression", LogisticRegression, toys.crossed, ()),
        Side("polynomial kernel", learned(KernelPerceptron(kernel=Polynomial(degree=2))), toys.crossed),
        Side("1-NN", votes_of(1), toys.crossed, ()),
    )


@scene
def kernels() -> Sides:
    """Three learners, one kernel.

    With the same RBF kernel the perceptron stops at the first boundary without mistakes, ridge regression fits the
    classes as numbers, and the Gaussian process takes the mean over all boundaries that fit.
    """
    return (
        Side("kernel perceptron", learned(KernelPerceptron(kernel=RBF(gamma=0.5))), toys.rings),
        Side("kernel ridge", learned(KernelRidge(kernel=RBF(gamma=0.5), strength=0.1)), toys.rings),
        Side("Gaussian process", learned(GaussianProcess(kernel=RBF(gamma=0.5))), toys.rings),
    )


@scene
def decision_tree() -> Sides:
    """Decision tree.

    A decision tree asks about one feature at a time: its regions are rectangles.
    """
    return (Side("", learned(Tree(depth=4)), toys.clouds, ()),)


@scene
def adaboost() -> Sides:
    """AdaBoost of stumps.

    AdaBoost adds up stumps, each a question about one feature: five make a strip, two hundred close it to a box.
    """
    return (
        Side("5 rounds", lambda: stumps(5), toys.rings, ()),
        Side("200 rounds", lambda: stumps(200), toys.rings, ()),
    )


@scene
def gradient_boosting() -> Sides:
    """Gradient boosting.

    Gradient boosting adds small trees, each fitted to what is left over: more rounds draw the boundary closer around
    the points, and in the end around single ones.
    """
    return (
        Side("5 rounds", learned(GradientBoosting(rounds=5)), toys.clouds, ()),
        Side("200 rounds", learned(GradientBoosting(rounds=200)), toys.clouds, ()),
    )


@scene
def random_forest() -> Sides:
    """Random forest.

    A random forest takes the mean of a hundred trees, each grown on another sample of the rows: its boundary has many
    small steps, and its probabilities change gradually.
    """
    return (Side("", learned(Forest(trees=100)), toys.clouds, ()),)


@scene
def outliers() -> Sides:
    """Outliers: least squares against logistic regression.

    Least squares also punishes points that are far on the right side, and turns its line toward them, through both
    classes; logistic regression hardly notices them.
    """
    return (
        Side("least squares", LeastSquares, toys.outliers),
        Side("logistic regression", LogisticRegression, toys.outliers),
    )


STRENGTHS = (0.1, 5.0)


def fitted(strength: float) -> LinearSVM:
    """The support vector machine of the two clouds."""
    toy = toys.overlapping()
    return LinearSVM(strength=strength, tol=1e-6).fit(toy.X, toy.y)


def slack_lines(model: LinearSVM) -> tuple[Doubles, Doubles]:
    """Slacks max(0, 1 - y s) of the points that have one (m,), and lines from each to its rim (m, 2, 2)."""
    toy = toys.overlapping()
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
    toy = toys.overlapping()
    at, grid = lattice(toy.limits)
    panels = []
    for model in map(fitted, STRENGTHS):
        slacks, lines = slack_lines(model)
        rims = boundaries(model.decision_function(grid), at, (-1.0, 0.0, 1.0))
        ways = Lines(lines.tolist(), 4, "slack", 2.6)
        title = f"strength {model.strength:g}: slack {slacks.sum():.1f} in all"
        panels.append(plane(toy, [answers(model, grid), *rims, ways], title))
    return panels


REACH = 3.0


def sites() -> tuple[Doubles, Longs]:
    """Points (20, 2) of two classes: a grid whose points were moved."""
    draw = np.random.default_rng(5)
    across, up = np.meshgrid(np.linspace(-2.4, 2.4, 5), np.linspace(-2.25, 2.25, 4))
    X = np.column_stack([across.ravel(), up.ravel()]) + draw.uniform(-0.5, 0.5, size=(20, 2))
    return X, (X[:, 1] > 1.1 * np.sin(1.5 * X[:, 0])).astype(np.int64)


def cell(i: int) -> Doubles:
    """The corners of the cell of point i: the square, cut by the bisector with every other point."""
    X, _ = sites()
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) * REACH
    for j in range(len(X)):
        if j != i:
            # Nearer to i than to j: 2 (x_j - x_i) x <= |x_j|^2 - |x_i|^2.
            corners = _cut(corners, 2 * (X[j] - X[i]), float(X[j] @ X[j] - X[i] @ X[i]))
    return corners


def _cut(corners: Doubles, normal: Doubles, bound: float) -> Doubles:
    """The part of a convex polygon with normal x <= bound (Sutherland and Hodgman 1974)."""
    kept = []
    room = bound - corners @ normal
    for k in range(len(corners)):
        a, b, here, there = corners[k - 1], corners[k], room[k - 1], room[k]
        if (here >= 0) != (there >= 0):
            kept.append(a + here / (here - there) * (b - a))
        if there >= 0:
            kept.append(b)
    return np.array(kept)


def nearest(y: Longs) -> MatrixClassifier:
    """One nearest neighbor."""
    return MatrixClassifier(learner=Neighbors(k=1, metric="euclidean")).fit(sites()[0], y)


@picture()
def voronoi() -> list[Panel]:
    """Voronoi cells.

    Around each training point lies the cell of all places that are nearer to it than to any other point. One nearest
    neighbor answers with the class of the cell, so its boundary is made of borders between cells.
    """
    toy = toys.Toy(*sites(), REACH)
    cells = [cell(i) for i in range(len(toy.X))]
    rims = Lines([[*corners.tolist(), corners[0].tolist()] for corners in cells], 0, "border between cells", 0.8)
    regions = answers(nearest(toy.y), lattice(toy.limits)[1])
    return [plane(toy, [regions, rims], "the cell of each point"), plane(toy, [regions], "1-NN: the class of the cell")]
