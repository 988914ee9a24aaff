"""What filters fire on: a convolution over pairs of neighboring words, with its gradient written out in NumPy."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.gallery.drawing import picture
from linnaeus.render.picture import Bars, Panel
from linnaeus.types import Bools, Doubles, Longs

THINGS = ("soup", "bread", "fish", "room", "music", "view")
GOOD, BAD = ("good", "fresh", "lovely"), ("bad", "stale", "dull")
WIDTH, FILTERS = 4, 4
"""Numbers of a word vector; filters."""

STEPS, RATE, DECAY, SEED = 500, 2.0, 0.005, 1
SHOWN = 5
"""How many pairs of words have a bar."""


def sentences() -> tuple[list[str], Longs]:
    """Praise and blame, and 1 where it is praise. No word tells: "not" and "really" turn each other around."""
    found = [
        (f"the {thing} was {adverb} {word}", int((word in GOOD) == (adverb == "really")))
        for thing in THINGS
        for adverb in ("not", "really")
        for word in GOOD + BAD
    ]
    return [text for text, _ in found], np.array([praise for _, praise in found], np.int64)


@dataclass(frozen=True, eq=False)
class Windows:
    """The distinct pairs of neighboring words: their words by number (p, 2), and which text has which pair (n, p)."""

    words: tuple[str, ...]
    pairs: Longs
    inside: Bools

    @property
    def names(self) -> list[str]:
        """Each pair as it is written."""
        return [" ".join(self.words[word] for word in pair) for pair in self.pairs]


def windows(texts: list[str]) -> Windows:
    """The pairs of these texts, in alphabetical order."""
    split = [text.split() for text in texts]
    words = tuple(sorted({word for one in split for word in one}))
    pairs = sorted({pair for one in split for pair in pairwise(one)})
    inside = np.array([[pair in set(pairwise(one)) for pair in pairs] for one in split])
    return Windows(words, np.array([[words.index(word) for word in pair] for pair in pairs]), inside)


@dataclass(frozen=True, eq=False)
class Filters:
    """Word vectors E, filters F with biases b, and the weight u of each filter in the score s = H u + c.

    A = max(0, F [E_i, E_j] + b) is how strongly each filter fires on a pair; H is its maximum over the pairs of a text.
    """

    E: Doubles
    F: Doubles
    b: Doubles
    u: Doubles
    c: float

    def fired(self, given: Windows) -> Doubles:
        """A: how strongly each filter fires on each pair (p, m)."""
        return np.maximum(self._joined(given) @ self.F.T + self.b, 0.0)

    def scores(self, given: Windows) -> Doubles:
        """The score of each text: positive for praise."""
        A = self.fired(given)
        return np.where(given.inside[:, :, None], A, 0.0).max(axis=1) @ self.u + self.c

    def stepped(self, given: Windows, y: Longs) -> Filters:
        """The model after one step down the gradient of the mean logistic loss, with weight decay."""
        X, each = self._joined(given), np.arange(len(self.F))
        A = np.maximum(X @ self.F.T + self.b, 0.0)
        best = np.where(given.inside[:, :, None], A, -1.0).argmax(axis=1)  # the pair that each filter takes of a text
        H = A[best, each]
        ds = (1 / (1 + np.exp(-(H @ self.u + self.c))) - y) / len(y)
        dA = np.zeros_like(A)
        np.add.at(dA, (best, each), ds[:, None] * self.u * (H > 0))  # only the maximum learns
        dE = np.zeros_like(self.E)
        np.add.at(dE, given.pairs, (dA @ self.F).reshape(len(A), 2, -1))
        keep = 1 - RATE * DECAY
        return Filters(
            keep * self.E - RATE * dE,
            keep * self.F - RATE * dA.T @ X,
            self.b - RATE * dA.sum(axis=0),
            keep * self.u - RATE * H.T @ ds,
            self.c - RATE * float(ds.sum()),
        )

    def _joined(self, given: Windows) -> Doubles:
        return self.E[given.pairs].reshape(len(given.pairs), -1)


@cache
def trained() -> tuple[Windows, Filters]:
    """The pairs of the sentences, and the model that has learned them."""
    texts, y = sentences()
    given, draw = windows(texts), np.random.default_rng(SEED).normal
    E, F = 0.5 * draw(size=(len(given.words), WIDTH)), 0.5 * draw(size=(FILTERS, 2 * WIDTH))
    model = Filters(E, F, np.zeros(FILTERS), 0.5 * draw(size=FILTERS), 0.0)
    for _ in range(STEPS):
        model = model.stepped(given, y)
    return given, model


@picture()
def fire() -> list[Panel]:
    """What filters fire on.

    A convolution reads each pair of neighboring words with four filters, and keeps the largest value of each filter.
    Trained on sentences such as "the soup was not bad", in which no single word tells praise from blame, each filter
    has learned one kind of pair. The bars are the pairs on which it fires most; above them is the weight of the filter
    in the score, positive for praise.
    """
    given, model = trained()
    A, names, panels = model.fired(given), given.names, []
    reach = 1.1 * float(A.max())
    for number, (values, weight) in enumerate(zip(A.T, model.u.tolist(), strict=True), 1):
        order = np.argsort(-values.round(3), kind="stable")[:SHOWN]
        bars = Bars(values[order].tolist(), [names[i] for i in order], "")
        panels.append(Panel([bars], f"filter {number}, weight {weight:+.1f}", (-0.5 * reach, reach), x="activation"))
    return panels
