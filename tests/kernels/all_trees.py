"""All dependency trees of short sentences: heads are 0 for the root, j + 1 for token j."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np


def is_tree(heads):
    """One token is below the root, and every token comes to it."""
    for m in range(len(heads)):
        for _ in heads:
            m = heads[m] - 1 if m >= 0 else m
        if m >= 0:
            return False
    return list(heads).count(0) == 1


def is_projective(heads):
    """No arcs cross; the root stands behind the last token."""
    arcs = [sorted((h - 1, m)) if h else [m, len(heads)] for m, h in enumerate(heads)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


@cache
def trees(kind, n):
    """All projective trees, or all spanning trees, of n tokens."""
    every = [z for z in product(range(n + 1), repeat=n) if is_tree(z)]
    return [z for z in every if is_projective(z)] if kind == "projective" else every


def score(S, heads):
    """The sum of the arcs; S (n, n+1)."""
    return float(np.sum([S[m, h] for m, h in enumerate(heads)]))
