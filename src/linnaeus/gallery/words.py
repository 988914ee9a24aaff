"""Word vectors: a map of words, from vectors that a small text gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.word_table import WordTable
from linnaeus.embeddings import PPMI, encoded
from linnaeus.gallery.drawing import picture
from linnaeus.render.picture import Panel, Points

if TYPE_CHECKING:
    from linnaeus.types import Doubles

KINDS = {
    "names": ("ann", "bob", "cid", "dee", "eve", "fred"),
    "foods": ("bread", "soup", "rice", "cake", "fish", "plums"),
    "towns": ("oslo", "rome", "bern", "kyiv", "lima", "cairo"),
    "colors": ("red", "blue", "green", "gray", "pink", "white"),
}
"""Words of one kind stand where others of their kind stand."""

PATTERNS = (
    "{names} eats {foods} today",
    "{names} lives in {towns} now",
    "{names} has a {colors} hat",
    "the {colors} house in {towns} is old",
    "she cooks {foods} with {foods} for {names}",
)
COUNT = 100
"""Sentences."""


def sentences() -> list[str]:
    """Sentences in which words of one kind are exchanged at random."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(COUNT):
        text = str(rng.choice(PATTERNS))
        for kind, words in KINDS.items():
            while f"{{{kind}}}" in text:
                text = text.replace(f"{{{kind}}}", str(rng.choice(words)), 1)
        found.append(text)
    return found


def vectors() -> WordTable:
    """Their vectors: positive pointwise mutual information, reduced to eight directions."""
    with encoded(sentences(), min_count=1) as text:
        return PPMI(width=8, window=3).learn(text)


def places(table: WordTable) -> Doubles:
    """The words of all kinds on the two directions in which they differ most."""
    rows = table.kept([word for words in KINDS.values() for word in words]).vectors.astype(np.float64)
    rows -= rows.mean(axis=0)
    _, _, V = np.linalg.svd(rows, full_matrices=False)
    flat = rows @ V[:2].T
    found: Doubles = flat * np.sign(flat[np.abs(flat).argmax(axis=0), [0, 1]])
    return found


def free(at: Doubles, word: int) -> bool:
    """Whether no word before this one stands so near that both names would lie upon each other."""
    near = np.abs(at[:word] - at[word])
    return not bool(((near[:, 0] < 0.22) & (near[:, 1] < 0.06)).any())


@picture()
def word_map() -> list[Panel]:
    """A map of words.

    Vectors of words, learned from 100 sentences that fill five patterns with words of four kinds, and drawn on the
    two directions in which they differ most. Nobody said which words are names, foods, towns or colors: words that
    occur beside the same words have similar vectors. Names that would cover others are left out.
    """
    at = places(vectors())
    reach = 1.25 * float(np.abs(at).max())
    layers, first = [], 0
    for kind, (name, words) in enumerate(KINDS.items()):
        some = [(float(x), float(y)) for x, y in at[first : first + len(words)]]
        shown = [word if free(at / reach, first + i) else "" for i, word in enumerate(words)]
        layers.append(Points(some, kind, name, shown))
        first += len(words)
    return [
        Panel(layers, "words of four kinds", (-reach, reach), (-reach, reach), "first direction", "second direction")
    ]
