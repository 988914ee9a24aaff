"""The kernel perceptron: the coefficient of a training row counts the mistakes made on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.kernel_methods.expansion import Expansion, counted, gram, signs
from linnaeus.optimizers.shuffle import shuffled
from linnaeus.protocols import LearnsRows
from linnaeus.similarities import similarity
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Lesson


@dataclass(frozen=True, kw_only=True)
class KernelPerceptron:
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

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets")
    provides: ClassVar[tuple[type, ...]] = (LearnsRows,)
    strength: ClassVar[None] = None

    kernel: Any = "rbf"
    epochs: int = 50

    def __post_init__(self) -> None:
        _check(self)

    def learn(self, lesson: Lesson) -> Expansion:
        """Train until an epoch has no mistakes, or for `epochs` epochs."""
        found, X = _walk(self, lesson)
        return Expansion.of(self.kernel, X, found.duals, np.zeros(lesson.k))


@dataclass(frozen=True, kw_only=True)
class AveragedKernelPerceptron:
    """Averaged kernel perceptron: the coefficients are averaged over all steps, which generalizes better.

    Freund and Schapire, "Large margin classification using the perceptron algorithm", 1999.

    >>> AveragedKernelPerceptron(kernel="linear").epochs
    10
    """

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets")
    provides: ClassVar[tuple[type, ...]] = (LearnsRows,)
    strength: ClassVar[None] = None

    kernel: Any = "rbf"
    epochs: int = 10

    def __post_init__(self) -> None:
        _check(self)

    def learn(self, lesson: Lesson) -> Expansion:
        """Train as the perceptron does, and average the coefficients."""
        found, X = _walk(self, lesson)
        return Expansion.of(self.kernel, X, found.duals - found.late / max(1, found.step), np.zeros(lesson.k))


def _check(piece: Any) -> None:
    object.__setattr__(piece, "kernel", similarity(piece.kernel))
    name = f"{type(piece).__name__}(epochs=...)"
    expect(name, piece.epochs, int)
    if piece.epochs < 1:
        raise UsageError(f"{name} is at least 1, not {piece.epochs}.")


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


def _walk(piece: Any, lesson: Lesson) -> tuple[_Walk, Any]:
    lesson = counted(lesson)
    walk = _Walk(gram(piece.kernel, lesson.X), lesson.weights, lesson.k)
    visit = _label_visit(walk, lesson) if isinstance(lesson.y, LabelSets) else _class_visit(walk, lesson)
    for epoch in range(piece.epochs):
        mistakes = 0
        for row in shuffled(len(walk.K), lesson.seed, epoch).tolist():
            mistakes += visit(row)
            walk.step += 1
        if not mistakes:
            break
    return walk, lesson.X


def _class_visit(walk: _Walk, lesson: Lesson) -> Any:
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


def _label_visit(walk: _Walk, lesson: Lesson) -> Any:
    truth = signs(lesson.y, lesson.k)

    def visit(row: int) -> int:
        wrong = np.flatnonzero(truth[row] * walk.scores[:, row] <= 0)
        for column in wrong.tolist():
            walk.move(row, column, truth[row, column])
        return len(wrong)

    return visit
