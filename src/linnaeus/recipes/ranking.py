"""Recipes for ranking candidates; each is described in docs/ranking.md."""

from __future__ import annotations

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
from linnaeus.recipes.recipe import Recipe
from linnaeus.recipes.tuning import Tuning
from linnaeus.regularizers import L2


def plain() -> Recipe:
    """Name matches, and pairs of text words and candidate words; needs only a text and its candidates."""
    return Recipe(task="rank", tuning=Tuning(strengths=(10.0, 1.0, 0.1)))


def plain_mlp() -> Recipe:
    """The features of `plain` below a multilayer perceptron, which also learns from pairs of features."""
    from linnaeus.learners.networks import RankNetwork

    return Recipe(task="rank", learner=RankNetwork(epochs=20, held_out=0.1), tuning=Tuning(folds=1))


def reading() -> Recipe:
    """Multiple-choice questions about a story (columns `story` and `question`), English."""
    pairs = Measured((Passage(),), question="text")
    return Recipe(task="rank", features=pairs, tuning=Tuning(strengths=(100.0, 30.0, 10.0), by="story"))


def linking() -> Recipe:
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
    learner = Linear(regularizer=L2(0.3), epochs=100, tol=1e-2)
    return Recipe(task="rank", features=pairs, learner=learner, tuning=Tuning(folds=1, by="doc"))


def _words(least: int, most: int) -> Words:
    return Words(terms=Exact(min_df=least, max_terms=most), values="binary", length="l2")


MAKERS = {"plain": plain, "plain-mlp": plain_mlp, "reading": reading, "linking": linking}
"""What makes each recipe for rankers in `cookbook`."""
