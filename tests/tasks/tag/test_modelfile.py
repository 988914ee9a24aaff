"""Taggers in files: the same answers again, and hostile files refused in a sentence."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tasks.tag.sentences import entities, tagged

from linnaeus import Model, Recipe, Tag
from linnaeus.errors import ModelFileError
from linnaeus.learners.chain.learner import Chain, Greedy
from linnaeus.model.file import model_of, state_of
from linnaeus.types import State


@pytest.mark.parametrize(
    ("recipe", "data"),
    [
        (Recipe(task=Tag(dictionary=2)), tagged()),
        (Recipe(task=Tag(encoding="bioes"), learner=Chain(order=2)), entities()),
        (Recipe(task="tag", learner=Greedy()), tagged()),
    ],
)
def test_a_file_holds_all_of_it(tmp_path, recipe, data):
    model = recipe.fit(data)
    model.save(tmp_path / "tagger.lin")
    again = Model.load(tmp_path / "tagger.lin")
    assert again.recipe == recipe
    assert again.facts == model.facts
    assert again.predict(data) == model.predict(data)
    assert again.probabilities(data).tobytes() == model.probabilities(data).tobytes()
    again.save(tmp_path / "again.lin")
    assert (tmp_path / "again.lin").read_bytes() == (tmp_path / "tagger.lin").read_bytes()


def changed(state, manifest=None, tensors=None):
    return State({**state.manifest, **(manifest or {})}, {**state.tensors, **(tensors or {})})


def test_files_that_do_not_fit_together_are_refused():
    state = state_of(Recipe(task=Tag(dictionary=2)).fit(tagged()))
    W, shared = state.tensors["body.W"], state.tensors["body.shared"]
    bad = [
        changed(state, {"kind": "classifier"}),
        changed(state, {"task": {"kind": "tag", "encoding": "no"}}),
        changed(state, {"task": {"kind": "tag", "encoding": 3}}),
        changed(state, {"task": {"kind": "classify"}}),
        changed(state, {"task": {"kind": "nothing"}}),
        changed(state, {"recipe": 3}),
        changed(state, {"body": {"kind": "chain", "search": "psychic"}}),
        changed(state, {"features": {"kind": "templates"}}),
        changed(state, tensors={"body.W": W[:-1]}),
        changed(state, tensors={"body.W": W[:, :-1]}),
        changed(state, tensors={"body.W": W.astype(np.float64)}),
        changed(state, tensors={"body.W": np.full_like(W, np.nan)}),
        changed(state, tensors={"body.shared": shared[:-1]}),
        changed(state, tensors={"body.shared": np.zeros((50, len(shared[0])), np.float32)}),
        changed(state, tensors={"classes.offsets": state.tensors["classes.offsets"][:-1]}),
        changed(state, tensors={"word_tags": state.tensors["word_tags"] + 100}),
        changed(state, tensors={"word_tags": state.tensors["word_tags"][:-1]}),
        State(state.manifest, {name: array for name, array in state.tensors.items() if name != "body.W"}),
    ]
    for wrong in bad:
        with pytest.raises(ModelFileError):
            model_of(wrong)
