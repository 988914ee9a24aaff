"""A story as reading measures look at it: stems, sentences, who "he" and "she" may be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.text.light import light_stem, light_stems

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Longs

_PLAIN = """
    a an the and or of to in on at for with by from as is was were are be been being am it its this that these those he
    she they them his her their him i you we us my your our me do does did have has had will would can could should may
    might s t so if then than there here into out up down about over after before when who what where why how which
    because while just very too also but
"""
STOPS = frozenset(_PLAIN.split()) | frozenset(light_stem(word) for word in _PLAIN.split())
"""Words that say little, and their stems."""

PERSONS = frozenset(light_stem(word) for word in ("he", "she", "him", "her", "his"))
_END = re.compile(r"(?<=[.!?])[\"”')]*\s+|\n+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
SPANS = (1, 2, 3)
"""Sentences in a row that are taken together."""


class Story:
    """The words of a story by number, its sentences as rows of which words they have.

    A sentence with "he" or "she" and no name gets the name that came last: most questions name whom they ask about.
    """

    def __init__(self, text: str) -> None:
        sentences = [light_stems(part) for part in _END.split(text) if part and part.strip()]
        flat = [word for sentence in sentences for word in sentence]
        self.ids = {word: i for i, word in enumerate(dict.fromkeys(flat))}
        self.words = list(self.ids)
        self.flat: Longs = np.array([self.ids[word] for word in flat], np.int64)
        self.counts = np.bincount(self.flat, minlength=len(self.ids)).astype(np.float64)
        self.rarity: Doubles = np.log1p(1.0 / np.maximum(self.counts, 1.0))
        self.pairs = set(pairwise(flat))
        self.triples = set(zip(flat, flat[1:], flat[2:], strict=False))
        single = self._single(_named(sentences, text))
        self.windows = [np.maximum.reduce([single[i : len(single) - k + i + 1] for i in range(k)]) if len(single) >= k
                        else single.max(axis=0, keepdims=True) for k in SPANS]  # fmt: skip

    def _single(self, sentences: list[list[str]]) -> Doubles:
        found = np.zeros((max(len(sentences), 1), len(self.ids)))
        for i, sentence in enumerate(sentences):
            found[i, [self.ids[word] for word in sentence]] = 1.0
        return found

    def known(self, words: Iterable[str]) -> Longs:
        """The numbers of those words that the story has."""
        return np.array([self.ids[word] for word in words if word in self.ids], np.int64)

    def vector(self, words: Iterable[str], weigh: Callable[[str], float]) -> Doubles:
        """A row over the story's words with the weight of each of these."""
        found = np.zeros(len(self.ids))
        for word in words:
            if word in self.ids:
                found[self.ids[word]] = weigh(word)
        return found


def _named(sentences: list[list[str]], text: str) -> list[list[str]]:
    names = Counter(light_stem(name.lower()) for name in _NAME.findall(text))
    last = names.most_common(1)[0][0] if names else None
    found = []
    for sentence in sentences:
        here = [word for word in sentence if word in names]
        last = here[-1] if here else last
        meant = last is not None and not here and any(word in PERSONS for word in sentence)
        found.append([*sentence, last] if meant and last is not None else sentence)
    known = {word for sentence in sentences for word in sentence}
    return [[word for word in sentence if word in known] for sentence in found]
