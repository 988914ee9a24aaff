"""Named recipes for ranking candidates."""

from __future__ import annotations

from collections.abc import Callable

from linnaeus.features import Exact, Words
from linnaeus.features.pairs import (
    Company,
    Context,
    Crossed,
    Described,
    Joined,
    Known,
    Match,
    Measured,
    Nothing,
    Numbers,
    Passage,
)
from linnaeus.learners.linear.learner import Linear
from linnaeus.recipes.names import unknown_recipe
from linnaeus.recipes.rank_recipe import RankRecipe
from linnaeus.recipes.tuning import Tuning
from linnaeus.regularizers import L2


def plain() -> RankRecipe:
    """Name matches, and pairs of text words and candidate words; needs only a text and its candidates."""
    return RankRecipe(tuning=Tuning(strengths=(10.0, 1.0, 0.1)))


def reading() -> RankRecipe:
    """Multiple-choice questions about a story (columns `story` and `question`), English."""
    pairs = Measured((Passage(),), question="text")
    return RankRecipe(pairs=pairs, by="story", tuning=Tuning(strengths=(100.0, 30.0, 10.0)))


def linking() -> RankRecipe:
    """Entity linking: a mention with its context (`left`, `right`), its document (`doc`), titles and their links."""
    around = ("left", "right")
    measures = (
        Numbers(("in_links", "out_links")),
        Match(),
        Known(by="doc"),
        Context(around),
        Context(around, by="doc"),
        Company("doc"),
        Nothing(),
    )
    context, title = _words(5, 5000), _words(10, 300)
    pairs = Joined((Measured(measures), Described(_words(5, 1000)), Crossed(context, title, around, 3.0)))
    return RankRecipe(pairs=pairs, by="doc", learner=Linear(regularizer=L2(0.3), epochs=100, tol=1e-2))


def _words(least: int, most: int) -> Words:
    return Words(terms=Exact(min_df=least, max_terms=most), values="binary", length="l2")


RANKERS: dict[str, Callable[[], RankRecipe]] = {"plain": plain, "reading": reading, "linking": linking}
"""Every ranking recipe by name."""


def rank_recipe(name: str) -> RankRecipe:
    """The ranking recipe with this name.

    >>> rank_recipe("reading").by
    'story'
    """
    if name not in RANKERS:
        raise unknown_recipe(name, "candidates")
    return RANKERS[name]()
