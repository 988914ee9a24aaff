"""The kernel perceptron: the coefficient of a training row counts the mistakes made on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linnaeus.errors import expect
from linnaeus.frozen import dataclass
from linnaeus.learners.base import counted
from linnaeus.learners.kernel_methods.expansion import Expansion, KernelLearner, gram, signs
from linnaeus.optimizers.shuffle import shuffled
from linnaeus.types import Doubles, LabelSets, Lesson, Piece


@dataclass(frozen=True, kw_only=True)
class KernelPerceptron(KernelLearner):
    """Kernel perceptron: one example at a time, shuffled in each epoch; a mistake changes the coefficients of its row.

        scores(x) = sum_i a_i k(x_i, x);   on a mistake at row i:  a_i,truth += weight,  a_i,rival -= weight

    A margin of zero is a mistake. Training ends early after an epoch without mistakes: then the model separates the
    rows. With the linear kernel it is the perceptron without a bias. For label sets, each label is a separate binary
    problem.

    Aizerman, Braverman and Rozonoer, "Theoretical foundations of the potential function method", 1964; Freund and
    Schapire, "Large margin classification using the perceptron algorithm", 1999.

    >>> from linnaeus import MatrixClassifier
    >>> from linnaeus.similarities import Polynomial
    >>> xor = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> MatrixClassifier(learner=KernelPerceptron(kernel=Polynomial(2))).fit(*xor).predict(xor[0]).tolist()
    [0, 1, 1, 0]
    """

    kernel: Piece = "rbf"
    epochs: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        expect(f"{type(self).__name__}(epochs=...)", self.epochs, int, 1)

    def learn(self, lesson: Lesson) -> Expansion:
        """Train until an epoch has no mistakes, or for `epochs` epochs."""
        lesson = counted(lesson)
        walk = _Walk(gram(self.kernel, lesson.X), lesson.weights, lesson.k)
        visit = _label_visit(walk, lesson) if isinstance(lesson.y, LabelSets) else _class_visit(walk, lesson)
        for epoch in range(self.epochs):
            mistakes = 0
            for row in shuffled(len(walk.K), lesson.seed, epoch).tolist():
                mistakes += visit(row)
                walk.step += 1
            if not mistakes:
                break
        return Expansion.of(self.kernel, lesson.X, self._duals(walk), np.zeros(lesson.k))

    def _duals(self, walk: _Walk) -> Doubles:
        """The coefficients after the last step."""
        return walk.duals


@dataclass(frozen=True, kw_only=True)
class AveragedKernelPerceptron(KernelPerceptron):
    """Averaged kernel perceptron: the coefficients are averaged over all steps, which generalizes better.

    Freund and Schapire, "Large margin classification using the perceptron algorithm", 1999.

    >>> AveragedKernelPerceptron(kernel="linear").epochs
    10
    """

    epochs: int = 10

    def _duals(self, walk: _Walk) -> Doubles:
        """The mean of the coefficients over all steps."""
        return walk.duals - walk.late / max(1, walk.step)


class _Walk:
    """Coefficients (n, k) and scores (k, n) of all rows during training; `late` has the changes times their step."""

    def __init__(self, K: Doubles, weights: Doubles, k: int) -> None:
        self.K, self.weights, self.step = K, weights, 0
        self.duals, self.late, self.scores = np.zeros((len(K), k)), np.zeros((len(K), k)), np.zeros((k, len(K)))

    def move(self, row: int, column: int, sign: float) -> None:
        """Add the row to a class, or subtract it, and update the scores."""
        amount = sign * self.weights[row]
        self.duals[row, column] += amount
        self.late[row, column] += amount * self.step
        self.scores[column] += amount * self.K[row]


def _class_visit(walk: _Walk, lesson: Lesson) -> Callable[[int], int]:
    y = np.asarray(lesson.y).tolist()

    def visit(row: int) -> int:
        scores = walk.scores[:, row].copy()
        gold = scores[y[row]]
        scores[y[row]] = -np.inf
        rival = int(scores.argmax())
        if gold > scores[rival]:
            return 0
        walk.move(row, y[row], 1.0)
        walk.move(row, rival, -1.0)
        return 1

    return visit


def _label_visit(walk: _Walk, lesson: Lesson) -> Callable[[int], int]:
    truth = signs(lesson.y, lesson.k)

    def visit(row: int) -> int:
        wrong = np.flatnonzero(truth[row] * walk.scores[:, row] <= 0)
        for column in wrong.tolist():
            walk.move(row, column, truth[row, column])
        return len(wrong)

    return visit
