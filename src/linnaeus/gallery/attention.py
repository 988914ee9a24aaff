"""Attention over a sentence: pooling with learned weights of words, with its gradient written out in NumPy."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.gallery.drawing import picture
from linnaeus.gallery.toys import reviews
from linnaeus.render.picture import Bars, Panel
from linnaeus.types import Bools, Doubles, Longs

WIDTH = 8
"""Numbers of a word vector."""

STEPS, RATE, DECAY, SEED = 300, 2.0, 0.001, 0
SHOWN = (1, 2, 15, 27)
"""The reviews that are drawn."""


class Sentences(NamedTuple):
    """Words by number (n, longest), and which places have a word."""

    words: Longs
    there: Bools


@dataclass(frozen=True, eq=False)
class Attention:
    """Word vectors E, the question q that attention asks each word, and the weights u of the score.

    a = softmax(E q) over the words of a text, v = sum of a_t E_t, and the score is v u: positive for "good".
    """

    E: Doubles
    q: Doubles
    u: Doubles

    def weights(self, given: Sentences) -> Doubles:
        """How much of its attention each word gets (n, longest); the sum over a text is 1."""
        Z = np.where(given.there, self.E[given.words] @ self.q, -np.inf)
        a = np.exp(Z - Z.max(axis=1, keepdims=True))
        return a / a.sum(axis=1, keepdims=True)

    def scores(self, given: Sentences) -> Doubles:
        """The score of each text."""
        return np.einsum("nt,ntd->nd", self.weights(given), self.E[given.words]) @ self.u

    def stepped(self, given: Sentences, y: Longs) -> Attention:
        """The model after one step down the gradient of the mean logistic loss, with weight decay."""
        X, a = self.E[given.words], self.weights(given)
        v = np.einsum("nt,ntd->nd", a, X)
        ds = (1 / (1 + np.exp(-(v @ self.u))) - y) / len(y)
        dv = ds[:, None] * self.u
        da = np.einsum("nd,ntd->nt", dv, X)
        dZ = a * (da - (a * da).sum(axis=1, keepdims=True))  # of the softmax
        dX = a[:, :, None] * dv[:, None] + dZ[:, :, None] * self.q  # a word is pooled, and it answers the question
        dE = np.zeros_like(self.E)
        np.add.at(dE, given.words[given.there], dX[given.there])
        keep = 1 - RATE * DECAY
        return Attention(
            keep * self.E - RATE * dE,
            keep * self.q - RATE * np.einsum("nt,ntd->d", dZ, X),
            keep * self.u - RATE * v.T @ ds,
        )


def read() -> tuple[list[list[str]], Sentences, Longs]:
    """The words of the reviews, the same as numbers, and 1 for each good review."""
    texts, labels = reviews()
    tokens = [[word.strip(",").lower() for word in text.split()] for text in texts]
    known = sorted({word for one in tokens for word in one})
    words = np.zeros((len(tokens), max(map(len, tokens))), np.int64)
    for row, one in zip(words, tokens, strict=True):
        row[: len(one)] = [known.index(word) for word in one]
    there = np.arange(words.shape[1]) < np.array([[len(one)] for one in tokens])
    return tokens, Sentences(words, there), np.array([label == "good" for label in labels], np.int64)


@cache
def trained() -> Attention:
    """The model that has learned the reviews."""
    _, given, y = read()
    draw = np.random.default_rng(SEED).normal
    size = int(given.words.max()) + 1
    model = Attention(0.1 * draw(size=(size, WIDTH)), 0.1 * draw(size=WIDTH), 0.1 * draw(size=WIDTH))
    for _ in range(STEPS):
        model = model.stepped(given, y)
    return model


@picture()
def attend() -> list[Panel]:
    """Attention over a sentence.

    Four of 28 short restaurant reviews, from the first word to the last. Attention pooling takes a weighted mean of the
    word vectors, and learns from the labels alone which words get weight: in each review the weights add up to 1, and
    words without an opinion get nearly none.
    """
    tokens, given, _ = read()
    A = trained().weights(given)
    chances = 1 / (1 + np.exp(-trained().scores(given)))
    reach, panels = 1.1 * float(A[list(SHOWN)].max()), []
    for i in SHOWN:
        bars = Bars(A[i, : len(tokens[i])].tolist(), tokens[i])
        title = f"probability of a good review: {chances[i]:.2f}"
        panels.append(Panel([bars], title, (-0.4 * reach, reach), x="weight of the word"))
    return panels
