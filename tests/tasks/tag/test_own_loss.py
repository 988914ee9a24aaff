"""A structured loss of one's own, written over the answers of the output space, trains a tagger."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import Recipe
from linnaeus.arrays import CSR
from linnaeus.errors import UsageError
from linnaeus.learners.chain import Chain, Greedy
from linnaeus.learners.run import Run
from linnaeus.losses import Hinge, Log
from linnaeus.types import GroupedLesson, Tags

SENTENCES = [
    [("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")],
    [("a", "DET"), ("cat", "NOUN"), ("sees", "VERB"), ("the", "DET"), ("dog", "NOUN")],
    [("dogs", "NOUN"), ("bark", "VERB")],
]


class SquaredStructuredHinge:
    def value_and_grad(self, space, S, y):
        cost, gold = space.cost(S, y), space.gold(S, y)
        worst = space.best(S + cost.parts, y)
        slack = worst.value + cost.value - gold.value
        return slack**2, 2 * slack[:, None] * (worst.parts - gold.parts)


class OwnLog:
    def value_and_grad(self, space, S, y):
        soft, gold = space.soft(S, y), space.gold(S, y)
        return soft.value - gold.value, soft.parts - gold.parts


def test_a_tagger_learns_with_it():
    recipe = Recipe(task="tag", learner=Chain(loss=SquaredStructuredHinge(), epochs=10))
    model = recipe.fit(SENTENCES)
    assert model.predict([["the", "cat", "barks"]]) == [["DET", "NOUN", "VERB"]]
    assert model.predict([["the", "cat", "barks"]]) == recipe.fit(SENTENCES).predict([["the", "cat", "barks"]])


def test_the_formula_of_a_named_loss_takes_its_steps():
    rng, k = np.random.default_rng(0), 3
    rows = rng.normal(size=(6, 4))
    X = CSR(np.arange(0, 25, 4), np.tile(np.arange(4, dtype=np.int32), 6), rows.ravel(), 4)
    y = Tags(np.array([0, 6]), rng.integers(0, k, 6).astype(np.int32))
    own, named = (
        Chain(loss=loss, rule="sgd", epochs=4).learn_tags(GroupedLesson(X, y, k)) for loss in (OwnLog(), "log")
    )
    np.testing.assert_allclose(own.W, named.W, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(own.shared, named.shared, rtol=1e-4, atol=1e-6)


def test_epochs_are_told():
    seen = []
    rows = CSR(np.arange(3), np.array([0, 1], np.int32), np.ones(2), 2)
    y = Tags(np.array([0, 1, 2]), np.array([0, 1], np.int32))
    Chain(loss=OwnLog(), epochs=3).learn_tags(GroupedLesson(rows, y, 2, run=Run(seen.append)))
    assert [phase.share for phase in seen] == [1 / 3, 2 / 3, 1.0]
    losses = [float(phase.note.split()[-1]) for phase in seen]
    assert losses[-1] < losses[0]


def test_a_loss_that_the_kernel_knows_is_its_name():
    assert Chain(loss=Log()) == Chain(loss="log")
    assert Chain(loss=Hinge()).loss == "hinge"


@pytest.mark.parametrize("make", [lambda: Chain(loss=OwnLog(), order=2), lambda: Greedy(loss=OwnLog())])
def test_other_chains_refuse_it_in_a_sentence(make):
    with pytest.raises(UsageError, match="order 1"):
        make()


def test_what_is_no_loss_is_refused():
    with pytest.raises(UsageError, match="one of perceptron"):
        Chain(loss=SquaredStructuredHinge)


def test_a_file_holds_no_code(tmp_path):
    model = Recipe(task="tag", learner=Chain(loss=SquaredStructuredHinge(), epochs=2)).fit(SENTENCES)
    with pytest.raises(UsageError, match="A file holds no code"):
        model.save(tmp_path / "m.lin")
