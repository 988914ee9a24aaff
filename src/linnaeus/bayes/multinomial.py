"""Multinomial naive Bayes: a text is drawn word by word from the words of its class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays.sigmoid import sigmoid
from linnaeus.bayes.counts import Counts, count
from linnaeus.errors import DataError, UsageError, damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Lesson


@dataclass(frozen=True, kw_only=True)
class Multinomial:
    """Words drawn one by one from those of the class: scores log p(y) + sum_j x_j log p(j | y).

        p(j | y) = (count of j in the rows of y + a) / (count of all features there + a d)

    with add-`smoothing` a (Laplace: 1; Lidstone: less). `priors` gives p(y) in the order of the classes; without, they
    are the shares of the classes. Of label sets, each label is told from the rows without it, by itself.

    McCallum and Nigam, "A comparison of event models for naive Bayes text classification", 1998.

    >>> from linnaeus import Recipe
    >>> from linnaeus.features import Words
    >>> recipe = Recipe(features=Words(), learner=Multinomial())
    >>> recipe.fit([("good film", "pos"), ("bad film", "neg")]).predict(["a good one"]).tolist()
    ['pos']
    """

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets")

    smoothing: float = 1.0
    priors: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        expect("smoothing", self.smoothing, float)
        if not 0 < self.smoothing < np.inf:
            raise UsageError(f"smoothing is a number above zero, not {self.smoothing!r}.")
        check_priors(self.priors)

    @property
    def strength(self) -> float:
        """What held-out rows may choose: the smoothing."""
        return self.smoothing

    def with_strength(self, strength: float) -> Multinomial:
        """The same with another smoothing."""
        return replace(self, smoothing=strength)

    def learn(self, lesson: Lesson) -> FittedMultinomial:
        """Count."""
        found = count(lesson)
        if lesson.X.shape[1] and found.inside.min() < 0:
            raise DataError("Naive Bayes counts features, but some values are below zero; take counts or tf-idf.")
        return FittedMultinomial(found, self.smoothing, self.priors)


@dataclass(frozen=True, eq=False)
class FittedMultinomial:
    """Counts, and how they are smoothed."""

    counts: Counts
    smoothing: float = 1.0
    priors: tuple[float, ...] | None = None

    def linear(self) -> tuple[Doubles, Doubles]:
        """W = log p(j | y) and b = log p(y); of label sets, each minus that of the rows without the label."""
        W, b = self._logs(self.counts.inside), log_priors(self.counts, self.priors)
        return (W, b) if self.counts.all is None else (W - self._logs(self.counts.outside), b)

    def scores(self, X: Rows) -> Doubles:
        """Logarithms of joint probabilities (n, k); of label sets, log-odds."""
        W, b = self.linear()
        return X.dot(W) + b

    def chances(self, S: Doubles) -> Doubles:
        """Probabilities (n, k) of these scores."""
        return posterior(S, sets=self.counts.all is not None)

    def _logs(self, counts: Doubles) -> Doubles:
        smooth = counts + self.smoothing
        logs: Doubles = np.log(smooth) - np.log(smooth.sum(axis=0))
        return logs

    def state(self) -> State:
        """Counts and settings."""
        inside = self.counts.state()
        priors = None if self.priors is None else list(self.priors)
        told = {"kind": "multinomial", "smoothing": self.smoothing, "priors": priors}
        return State({**told, **inside.manifest}, inside.tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedMultinomial:
        """The model again."""
        priors, smoothing = state.manifest["priors"], float(state.manifest["smoothing"])
        if not 0 < smoothing < np.inf:
            raise damaged("its smoothing is not a number above zero")
        return cls(Counts.from_state(state), smoothing, None if priors is None else tuple(map(float, priors)))


def posterior(S: Doubles, *, sets: bool) -> Doubles:
    """Probabilities from logarithms of joint ones (n, k); of label sets from log-odds, each by itself.

    >>> posterior(np.log([[0.3, 0.1]]), sets=False).round(2).tolist()
    [[0.75, 0.25]]
    """
    if sets:
        return sigmoid(S)
    P = np.exp(S - S.max(axis=1, keepdims=True))
    found: Doubles = P / P.sum(axis=1, keepdims=True)
    return found


def check_priors(priors: tuple[float, ...] | None) -> None:
    """Refuse what are no probabilities."""
    if priors is None:
        return
    if any(not 0 < p < 1 for p in priors) or abs(sum(priors) - 1) > 1e-6:
        raise UsageError("priors are probabilities above zero, one for each class, that add up to 1.")


def log_priors(counts: Counts, priors: tuple[float, ...] | None) -> Doubles:
    """Log p(y) (k,); of label sets the log-odds of each. A class without rows is as likely as half a row."""
    if priors is not None:
        if len(priors) != len(counts.sizes) or counts.all is not None:
            raise UsageError(f"There are {len(priors)} priors for {len(counts.sizes)} classes; give one for each.")
        return np.log(priors)
    sizes, others = np.maximum(counts.sizes, 0.5), np.maximum(counts.others, 0.5)
    found: Doubles = np.log(sizes) - np.log(others if counts.all is not None else counts.sizes.sum())
    return found
