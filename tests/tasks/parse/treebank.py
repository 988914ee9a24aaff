"""A small treebank of made-up sentences."""

from __future__ import annotations

import numpy as np

from linnaeus.data.sentences import Sentences

NOUNS, VERBS, ADJECTIVES = ("dog", "cat", "bird", "child"), ("sees", "hears", "likes"), ("old", "small", "loud")


def sentence(rng: np.random.Generator) -> list[tuple[str, str, int, str]]:
    """Token, tag, head and relation: the old dog sees a bird today."""
    rows: list[list[object]] = []
    ends = []
    for relation in ("nsubj", "obj"):
        first = len(rows)
        words = [(rng.choice(["the", "a"]), "DET", "det")]
        words += [(rng.choice(ADJECTIVES), "ADJ", "amod")] * int(rng.integers(0, 2))
        noun = first + len(words) + 1
        rows += [[word, tag, noun, name] for word, tag, name in words]
        rows.append([rng.choice(NOUNS), "NOUN", 0, relation])
        ends.append(noun - 1)
        if relation == "nsubj":
            rows.append([rng.choice(VERBS), "VERB", 0, "root"])
    verb = ends[0] + 2
    for end in ends:
        rows[end][2] = verb
    if rng.integers(0, 2):
        rows.append(["today", "ADV", verb, "advmod"])
    return [(str(a), str(b), int(c), str(d)) for a, b, c, d in rows]


def treebank(count: int, seed: int = 0) -> Sentences:
    """So many sentences with tags, heads and relations."""
    rng = np.random.default_rng(seed)
    rows = [sentence(rng) for _ in range(count)]
    tokens, tags, heads, relations = ([[str(row[i]) for row in one] for one in rows] for i in range(4))
    return Sentences.from_lists(tokens, columns={"upos": tags, "heads": heads, "relations": relations})
