"""The named methods: each is a `LinearClassifier` with fixed pieces and a few parameters. `composed()` returns it."""

from __future__ import annotations

from dataclasses import dataclass

from linnaeus.estimators.linear import ClassifierFace, LinearClassifier
from linnaeus.optimizers import SGD, Average
from linnaeus.optimizers import PassiveAggressive as Aggressive
from linnaeus.regularizers import L2, NoPenalty
from linnaeus.types import Piece


@dataclass(eq=False, repr=False, kw_only=True)
class Method(ClassifierFace):
    """The parameters of all named methods."""

    bias: Piece = "free"
    class_weight: Piece = None
    epochs: int | None = None
    progress: Piece = None


@dataclass(eq=False, repr=False, kw_only=True)
class OnlineMethod(Method):
    """A method that takes one example at a time, in random order."""

    output: Piece = "auto"
    seed: int = 0


@dataclass(eq=False, repr=False, kw_only=True)
class PenalizedMethod(Method):
    """A method that minimizes a sum of losses and strength/2 ||W||^2."""

    strength: float = 1.0
    tol: float | None = 1e-4


@dataclass(eq=False, repr=False, kw_only=True)
class Perceptron(OnlineMethod):
    """After a mistake: w <- w + x for the true class, w <- w - x for the predicted class (Rosenblatt 1958).

    Equals `LinearClassifier(loss="perceptron", regularizer="none", optimizer=SGD(rate=1.0))`; it stops when an
    epoch has no mistakes, or after `epochs` (None: 100). It takes one example at a time, in random order (`seed`).

    >>> Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], ["b", "a"]).predict([[2.0, 0.0]]).tolist()
    ['a']
    """

    def composed(self) -> LinearClassifier:
        """The equivalent `LinearClassifier`."""
        return self.recipe(loss="perceptron", regularizer=NoPenalty(), optimizer=SGD(rate=1.0))


@dataclass(eq=False, repr=False, kw_only=True)
class AveragedPerceptron(OnlineMethod):
    """The mean of the weights after every step of the perceptron (Freund and Schapire 1999; Collins 2002).

    Equals `LinearClassifier(loss="perceptron", regularizer="none", optimizer=Average(SGD(rate=1.0)))`. Averaging makes
    it stable on data that is not separable, and takes no more time than the perceptron.

    >>> AveragedPerceptron().fit([[0.0, 1.0], [1.0, 0.0]], ["b", "a"]).predict([[2.0, 0.0]]).tolist()
    ['a']
    """

    def composed(self) -> LinearClassifier:
        """The equivalent `LinearClassifier`."""
        return self.recipe(loss="perceptron", regularizer=NoPenalty(), optimizer=Average(SGD(rate=1.0)))


@dataclass(eq=False, repr=False, kw_only=True)
class LogisticRegression(PenalizedMethod):
    """Minimizes -sum_i log P(y_i | x_i) + strength/2 ||W||^2 with P = softmax(x W + b); two classes: one sigmoid.

    Equals `LinearClassifier(loss="log", regularizer=L2(strength))`; scikit-learn's `C` is 1 / strength. `costs` need
    decision="expected_cost", which predicts the class with the lowest expected cost.

    >>> model = LogisticRegression(strength=0.1).fit([[0.0], [1.0]], ["a", "b"])
    >>> model.predict_proba([[0.5]]).round(3).tolist()
    [[0.5, 0.5]]
    """

    costs: Piece = None
    decision: str = "score"

    def composed(self) -> LinearClassifier:
        """The equivalent `LinearClassifier`."""
        return self.recipe(loss="log", regularizer=L2(self.strength))


@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVM(PenalizedMethod):
    """Minimizes sum_i max(0, 1 - y_i s_i) + strength/2 ||w||^2 for each class against the rest (Cortes, Vapnik 1995).

    Equals `LinearClassifier(loss="hinge", regularizer=L2(strength), output="onevsrest")`; loss="squared_hinge" squares
    the hinge, as scikit-learn's `LinearSVC` does. scikit-learn's `C` is 1 / strength.

    >>> LinearSVM().fit([[0.0, 1.0], [1.0, 0.0]], ["b", "a"]).predict([[2.0, 0.0]]).tolist()
    ['a']
    """

    loss: Piece = "hinge"
    output: Piece = "onevsrest"
    seed: int = 0

    def composed(self) -> LinearClassifier:
        """The equivalent `LinearClassifier`."""
        return self.recipe(regularizer=L2(self.strength))


@dataclass(eq=False, repr=False, kw_only=True)
class MulticlassSVM(PenalizedMethod):
    """Minimizes sum_i max_y' (l(y', y_i) + s_y' - s_y_i) + strength/2 ||W||^2 (Crammer and Singer 2001).

    Equals `LinearClassifier(loss="hinge", regularizer=L2(strength), costs=costs)`: all classes at once, with any cost
    matrix as the required margin. With two classes it is the binary SVM, with one score.

    >>> MulticlassSVM().fit([[0.0, 1.0], [1.0, 0.0]], ["b", "a"]).predict([[2.0, 0.0]]).tolist()
    ['a']
    """

    costs: Piece = None
    seed: int = 0

    def composed(self) -> LinearClassifier:
        """The equivalent `LinearClassifier`."""
        return self.recipe(loss="hinge", regularizer=L2(self.strength))


@dataclass(eq=False, repr=False, kw_only=True)
class LeastSquares(PenalizedMethod):
    """Regression on targets +1 and -1: w = (X'X + strength/2 I)^-1 X'Y, and the class with the largest score.

    Equals `LinearClassifier(loss="squared", regularizer=L2(strength), output="onevsrest")`; without strength (the
    default) there is no penalty. For numbers, use `LinearRegressor`.

    >>> LeastSquares().fit([[0.0, 1.0], [1.0, 0.0]], ["b", "a"]).predict([[2.0, 0.0]]).tolist()
    ['a']
    """

    strength: float = 0.0
    output: Piece = "onevsrest"

    def composed(self) -> LinearClassifier:
        """The equivalent `LinearClassifier`."""
        penalty = L2(self.strength)
        return self.recipe(loss="squared", regularizer=penalty if penalty.strength else NoPenalty())


@dataclass(eq=False, repr=False, kw_only=True)
class PassiveAggressive(OnlineMethod):
    """No step if the margin is at least 1, else the smallest step that makes it 1 (Crammer et al. 2006).

    The step is tau = min(aggressiveness, loss / |x|^2), PA-I; slack="squared" is PA-II, loss / (|x|^2 + 1 / (2
    aggressiveness)). Equals `LinearClassifier(loss="hinge", regularizer="none",
    optimizer=linnaeus.optimizers.PassiveAggressive(aggressiveness, slack))`. It takes one example at a time, in
    random order (`seed`).

    >>> PassiveAggressive().fit([[0.0, 1.0], [1.0, 0.0]], ["b", "a"]).predict([[2.0, 0.0]]).tolist()
    ['a']
    """

    aggressiveness: float = 1.0
    slack: Piece = "linear"

    def composed(self) -> LinearClassifier:
        """The equivalent `LinearClassifier`."""
        return self.recipe(loss="hinge", regularizer=NoPenalty(), optimizer=Aggressive(self.aggressiveness, self.slack))
