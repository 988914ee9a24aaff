"""Taggers stop when sentences that are set aside are no longer tagged better."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tasks.parse.treebank import treebank

from linnaeus import Recipe
from linnaeus.errors import DataError, UsageError
from linnaeus.learners.chain import BatchChain, Chain, Greedy
from linnaeus.learners.dependencies import Dependencies
from linnaeus.learners.dependencies.learner import best_epochs
from linnaeus.losses import LOSSES
from linnaeus.recipes.cookbook import recipe
from linnaeus.tasks.examples import Examples
from linnaeus.tasks.parse.learning import ParseLesson

rng = np.random.default_rng(0)
SENTENCES = [
    [(str(word), "even" if word % 2 == 0 else "odd") for word in rng.integers(0, 9, rng.integers(2, 6)).tolist()]
    for _ in range(60)
]
RANDOM = [[(str(word), str(rng.integers(0, 3))) for word in rng.integers(0, 500, 6).tolist()] for _ in range(60)]


class OwnLog:
    """A loss of a user: the log loss."""

    def value_and_grad(self, space, S, y):
        return LOSSES["log"]().value_and_grad(space, S, y)


@pytest.mark.parametrize(
    "learner", [Chain(epochs=50), Chain(loss=OwnLog(), epochs=50), Greedy(epochs=50), BatchChain(epochs=50)], ids=repr
)
def test_it_stops_and_keeps_the_best(learner, tmp_path):
    told = []
    recipe = Recipe(task="tag", learner=learner).changed({"held_out": 0.2, "patience": 2, "tuning": None})
    model = recipe.fit(SENTENCES, progress=told.append)
    epochs = [phase for phase in told if "epoch" in phase.note]
    assert 1 <= len(epochs) < 50, "noise or not, 48 sentences do not get better for 50 epochs"
    assert model.predict([["2", "3"]]) == [["even", "odd"]]


def test_what_is_kept_is_not_the_last():
    plain = Chain(epochs=30, rate=1.0)
    stopped = Recipe(task="tag", learner=plain).changed({"held_out": 0.3, "patience": 30, "tuning": None}).fit(RANDOM)
    whole = Recipe(task="tag", learner=plain).changed({"tuning": None}).fit(RANDOM)
    assert np.abs(stopped.body.W).sum() < np.abs(whole.body.W).sum()


def test_a_stopped_training_resumes_to_the_same_bits(tmp_path):
    recipe = Recipe(task="tag", learner=Chain(epochs=20)).changed({"held_out": 0.2, "patience": 3, "tuning": None})
    whole, path = recipe.fit(RANDOM), tmp_path / "part"

    def interrupt(phase):
        if "epoch 3" in phase.note:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recipe.fit(RANDOM, progress=interrupt, checkpoint=path)
    again = recipe.fit(RANDOM, checkpoint=path)
    assert again.body.W.tobytes() == whole.body.W.tobytes()


def test_rankers_stop_too():
    rows = [
        {"text": name, "candidates": [f"{name} {kind}" for kind in ("town", "city")], "answer": int(rng.integers(0, 2))}
        for name in (f"w{i}" for i in range(60))
    ]
    plain = Recipe(task="rank").changed({"optimizer": "adagrad", "epochs": 60, "tol": None, "tuning": None})
    told = []
    model = plain.changed({"held_out": 0.3, "patience": 2}).fit(rows, progress=told.append)
    assert model.facts["epochs"] < 60
    assert plain.fit(rows).facts["epochs"] == 60


def test_parsers_choose_their_epochs():
    data = treebank(60)
    bank = ParseLesson(recipe("parse-fast"), Examples(data, None, None, np.ones(0))).bank
    chosen = best_epochs(Dependencies(held_out=0.2, patience=2, epochs=30), bank, seed=0)
    assert 1 <= chosen < 30
    small = recipe("parse-fast").changed({"held_out": 0.2, "patience": 2, "features.bits": 14, "tuning": None})
    assert small.fit(data).evaluate(treebank(20, seed=1), rounds=0).value("uas") > 0.9


def test_wrong_settings_are_said():
    with pytest.raises(UsageError, match="held_out is the share of examples"):
        Chain(held_out=1.5)
    with pytest.raises(UsageError, match="patience is a whole number from 1"):
        BatchChain(patience=0)
    with pytest.raises(DataError, match="leaves nothing on one side"):
        Recipe(task="tag", learner=Chain(held_out=0.1)).changed({"tuning": None}).fit(SENTENCES[:3])
