"""Toy texts: short reviews, and texts drawn word by word whose true probabilities are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles

GOOD = """
The soup was wonderful and the waiter was friendly
A wonderful evening with delicious food and friendly people
Delicious bread and fresh fish, we were happy
Fresh salad, quick service, a lovely place
The dessert was lovely and the coffee excellent
Excellent pasta, and the service was quick
We loved the fresh fish and the quiet garden
A quiet table, friendly waiter, delicious cake
Happy to come back, the food was excellent
Lovely music and a wonderful view of the garden
Great pizza and a great view, not too loud
The cook is great and the prices are fair
Fair prices, fresh food, we loved it
Not expensive and not boring, a great place
"""

BAD = """
The soup was cold and the waiter was rude
A terrible evening with cold food and loud people
Stale bread and old fish, we were angry
Limp salad, slow service, a dirty place
The dessert was stale and the coffee terrible
Terrible pasta, and the service was slow
We hated the old fish and the loud garden
A dirty table, rude waiter, dry cake
Never again, the food was cold and bland
Loud music and a terrible view of the wall
Bland pizza and a boring view, not fresh
The cook is careless and the prices are silly
Silly prices, bland food, we hated it
Too expensive and boring, not a great place
"""


def reviews() -> tuple[list[str], list[str]]:
    """Texts of short reviews, and whether each is "good" or "bad"."""
    good, bad = GOOD.strip().splitlines(), BAD.strip().splitlines()
    return good + bad, ["good"] * len(good) + ["bad"] * len(bad)


class Drawn(NamedTuple):
    """Counts of words (n, d) and classes 0 and 1."""

    X: Doubles
    y: NDArray[np.int64]


def echoes(n: int, seed: int) -> Drawn:
    """Texts in which words come in company: each of six subjects is said with five words that mean the same.

    Naive Bayes takes the five words for five reasons; they are one.
    """
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 2, n)
    chance = np.where(y[:, None] == 1, np.linspace(0.65, 0.35, 6), np.linspace(0.35, 0.65, 6))
    subjects = (draw.random((n, 6)) < chance).astype(np.float64)
    return Drawn(np.repeat(subjects, 5, axis=1), y.astype(np.int64))
