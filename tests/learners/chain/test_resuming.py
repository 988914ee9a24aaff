"""A learner of taggers goes on from a checkpoint, and refuses one that is damaged."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.arrays import Dense
from linnaeus.errors import ModelFileError
from linnaeus.learners.chain import Chain
from linnaeus.learners.run import Run
from linnaeus.store.parts import PartsFile
from linnaeus.types import GroupedLesson, State, Tags

rng = np.random.default_rng(0)
X, TAGS = Dense(rng.normal(size=(40, 6)).astype(np.float32)).to_csr(), rng.integers(0, 3, 40).astype(np.int32)
Y = Tags(np.arange(0, 41, 4), TAGS)
PLAN = Chain(epochs=3, held_out=0.3)


def learned(kept=None):
    return PLAN.learn_tags(GroupedLesson(X, Y, 3, run=Run(kept=kept)))


@pytest.fixture
def place(tmp_path):
    """The checkpoint of a training after its first epoch."""
    place = PartsFile(tmp_path / "a.part", "these").part("tags")
    states = []

    class Kept:
        def get(self):
            return None

        def put(self, state):
            states.append(State(dict(state.manifest), {name: one.copy() for name, one in state.tensors.items()}))

    learned(Kept())
    place.put(states[0])
    return place


def test_it_goes_on_to_the_same_bits(place):
    found, whole = learned(place), learned()
    assert found.W.tobytes() == whole.W.tobytes()
    assert found.shared.tobytes() == whole.shared.tobytes()


@pytest.mark.parametrize(
    ("manifest", "tensors"),
    [
        ({}, {"best_W": np.zeros((2, 3), np.float32)}),
        ({}, {"best_W": np.zeros((6, 3))}),
        ({}, {"best_shared": np.zeros((4, 2), np.float32)}),
        ({}, {"best_shared": None}),
        ({}, {"table": np.zeros((2, 2), np.float32)}),
        ({}, {"clock": None}),
        ({"score": "high"}, {}),
        ({"since": None}, {}),
        ({"epochs": "one"}, {}),
        ({"epochs": -1}, {}),
    ],
)
def test_a_damaged_checkpoint_is_refused(place, manifest, tensors):
    state = place.get()
    assert "best_W" in state.tensors
    changed = {name: one for name, one in {**state.tensors, **tensors}.items() if one is not None}
    place.put(State({**state.manifest, **manifest}, changed))
    with pytest.raises(ModelFileError, match="checkpoint"):
        learned(place)
