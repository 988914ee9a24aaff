"""Recipes for ranking candidates; each is described in docs/ranking.md."""

from __future__ import annotations

from linnaeus.features import Chars, Exact, TfIdf, Words
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
    Proposed,
)
from linnaeus.learners.label_tree import LabelTree
from linnaeus.learners.linear.learner import Linear
from linnaeus.recipes.recipe import Recipe, Stage
from linnaeus.recipes.tuning import Tuning
from linnaeus.regularizers import L2
from linnaeus.tasks.rank.task import Rank

AROUND = ("left", "right")
"""Columns with the context of a mention."""
TITLES = LabelTree(strength=0.5, led=5, least=0.02, prior=2.0, beam=30, trees=3)
"""Which titles a mention may mean: rather one too many than the right one missing."""


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
    measures = (
        Numbers(("in_links", "out_links")),
        Match(),
        Known(by="doc"),
        Context(AROUND),
        Context(AROUND, by="doc"),
        Company("doc"),
        Nothing(),
    )
    pairs = Joined((Measured(measures), Described(_words(1000)), Crossed(*_sides(), AROUND, 3.0)))
    learner = Linear(regularizer=L2(0.3), epochs=100, tol=1e-2)
    return Recipe(task="rank", features=pairs, learner=learner, tuning=Tuning(folds=1, by="doc"))


def tree_linking() -> Recipe:
    """Entity linking without lists of candidates: a label tree over all titles proposes 16 for each mention."""
    names = Chars(2, 4, values=TfIdf("log"), length="l2") | Words(values=TfIdf("log"), length="l2")
    tree = Recipe(task="many", features=names, learner=TITLES)
    measures = (
        Proposed(),
        Match(),
        Known(by="doc"),
        Context(AROUND),
        Context(AROUND, by="doc"),
        Company("doc"),
    )
    pairs = Joined((Measured(measures), Described(_words(1000)), Crossed(*_sides(), AROUND, 3.0)))
    learner = Linear(regularizer=L2(0.3), epochs=100, tol=1e-2)
    before = (Stage("titles", tree, by="doc"),)
    return Recipe(
        task=Rank(proposed=16), features=pairs, learner=learner, tuning=Tuning(folds=1, by="doc"), before=before
    )


def _sides() -> tuple[Words, Words]:
    """Words of contexts and of titles, of which pairs are made."""
    return _words(5000), _words(300)


def _words(most: int) -> Words:
    return Words(terms=Exact(min_df=2, max_terms=most), values="binary", length="l2")


MAKERS = {"plain": plain, "plain-mlp": plain_mlp, "reading": reading, "linking": linking, "tree-linking": tree_linking}
"""What makes each recipe for rankers in `cookbook`."""
