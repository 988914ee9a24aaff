"""The boundaries that are shown: every method on the same clouds, and pairs where one of two fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linnaeus.estimators.matrix import MatrixClassifier
from linnaeus.estimators.named import LeastSquares, LinearSVM, LogisticRegression, Perceptron
from linnaeus.gallery.boundary import Classifies, Scene, Side
from linnaeus.gallery.steps import Steps
from linnaeus.gallery.toys import apart, clouds, crossed, outliers, rings
from linnaeus.learners.bayes import Gaussian, LinearDiscriminant, QuadraticDiscriminant
from linnaeus.learners.ensembles import Forest, GradientBoosting, Tree
from linnaeus.learners.kernel_methods import GaussianProcess, KernelPerceptron, KernelRidge, KernelSVM
from linnaeus.learners.neighbors import Centroid, Neighbors
from linnaeus.similarities import RBF, Polynomial


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
