"""Small sentences with tags, for the tests of taggers."""

from __future__ import annotations

import numpy as np

from linnaeus.data.sentences import Sentences

WORDS = {"D": ["the", "a", "every"], "N": ["dog", "cat", "fish", "run"], "V": ["barks", "fish", "run", "sees"]}
NAMES = ["Anna", "Bern", "Rome", "Otto"]


def tagged(count=40, seed=0):
    """Sentences of the form D N V D N ..., in which some words have two tags."""
    rng = np.random.default_rng(seed)
    kinds = [list("DNVDN"[: rng.integers(1, 6)]) for _ in range(count)]
    return Sentences.from_lists([[str(rng.choice(WORDS[kind])) for kind in kinds_] for kinds_ in kinds], kinds)


def entities(count=40, seed=0):
    """Sentences with names of one or two words, tagged in BIO."""
    rng = np.random.default_rng(seed)
    tokens, tags = [], []
    for _ in range(count):
        name = [str(word) for word in rng.choice(NAMES, rng.integers(1, 3))]
        place = [str(rng.choice(NAMES))]
        tokens.append([*name, "sees", "the", "dog", "in", *place])
        tags.append(["B-PER", *["I-PER"] * (len(name) - 1), "O", "O", "O", "O", "B-LOC"])
    return Sentences.from_lists(tokens, tags)
