"""Taggers in files: the same answers again, and hostile files refused in a sentence."""

from __future__ import annotations

import numpy as np
import pytest
from tests.pipeline.tagging.sentences import entities, tagged

from linnaeus.errors import ModelFileError
from linnaeus.learners.chain.learner import Chain, Greedy
from linnaeus.model.tagger import TagModel
from linnaeus.model.tagger_file import state_of, tagger_of
from linnaeus.recipes.tag_recipe import TagRecipe
from linnaeus.types import State


@pytest.mark.parametrize(
    ("recipe", "data"),
    [
        (TagRecipe(dictionary=2), tagged()),
        (TagRecipe(learner=Chain(order=2), encoding="bioes"), entities()),
        (TagRecipe(learner=Greedy()), tagged()),
    ],
)
def test_a_file_holds_all_of_it(tmp_path, recipe, data):
    model = recipe.fit(data)
    model.save(tmp_path / "tagger.lin")
    again = TagModel.load(tmp_path / "tagger.lin")
    assert again.recipe == recipe
    assert again.facts == model.facts
    assert again.tag(data) == model.tag(data)
    assert again.marginals(data).tobytes() == model.marginals(data).tobytes()
    again.save(tmp_path / "again.lin")
    assert (tmp_path / "again.lin").read_bytes() == (tmp_path / "tagger.lin").read_bytes()


def changed(state, manifest=None, tensors=None):
    return State({**state.manifest, **(manifest or {})}, {**state.tensors, **(tensors or {})})


def test_files_that_do_not_fit_together_are_refused():
    state = state_of(TagRecipe(dictionary=2).fit(tagged()))
    W, shared = state.tensors["params.W"], state.tensors["params.shared"]
    bad = [
        changed(state, {"kind": "classifier"}),
        changed(state, {"recipe": {"encoding": "no"}}),
        changed(state, {"recipe": 3}),
        changed(state, {"search": "psychic"}),
        changed(state, {"features": {"kind": "templates"}}),
        changed(state, tensors={"params.W": W[:-1]}),
        changed(state, tensors={"params.W": W[:, :-1]}),
        changed(state, tensors={"params.W": W.astype(np.float64)}),
        changed(state, tensors={"params.W": np.full_like(W, np.nan)}),
        changed(state, tensors={"params.shared": shared[:-1]}),
        changed(state, tensors={"params.shared": np.zeros((50, len(shared[0])), np.float32)}),
        changed(state, tensors={"tags.offsets": state.tensors["tags.offsets"][:-1]}),
        changed(state, tensors={"word_tags": state.tensors["word_tags"] + 100}),
        changed(state, tensors={"word_tags": state.tensors["word_tags"][:-1]}),
        State(state.manifest, {name: array for name, array in state.tensors.items() if name != "params.W"}),
    ]
    for wrong in bad:
        with pytest.raises(ModelFileError):
            tagger_of(wrong)
