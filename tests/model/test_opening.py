"""`load` opens whatever model a file holds."""

import numpy as np
import pytest

import linnaeus
from linnaeus import store
from linnaeus.errors import ModelFileError
from linnaeus.types import State

ROWS = [("good film", "pos"), ("bad film", "neg"), ("good one", "pos"), ("bad one", "neg")]
TAGGED = [[("dogs", "N"), ("bark", "V")], [("cats", "N"), ("sleep", "V")]]
ASKED = [{"text": f"the {word}", "candidates": ["cat", "dog"], "answer": word} for word in ("cat", "dog")] * 4


def test_every_kind_of_model_is_opened(tmp_path):
    stages = (linnaeus.Stage("pos", linnaeus.Recipe(task="tag")),)
    made = [
        linnaeus.Recipe().fit(ROWS),
        linnaeus.Recipe(task="tag").fit(TAGGED),
        linnaeus.Recipe(task="rank").fit(ASKED),
        linnaeus.Recipe(before=stages).fit(ROWS, stages={"pos": TAGGED}),
    ]
    for model in made:
        model.save(tmp_path / "model.lin", force=True)
        again = linnaeus.load(tmp_path / "model.lin")
        assert (again.task, again.recipe) == (model.task, model.recipe)
    face = linnaeus.LogisticRegression().fit(np.eye(4), [0, 1, 0, 1])
    face.save(tmp_path / "face.lin")
    assert linnaeus.load(tmp_path / "face.lin").predict(np.eye(4)).tolist() == [0, 1, 0, 1]


def test_a_file_of_something_else_is_refused(tmp_path):
    store.save(tmp_path / "other.lin", State({"kind": "recipe for soup"}, {"w": np.ones(1, np.float32)}))
    with pytest.raises(ModelFileError, match="'recipe for soup'"):
        linnaeus.load(tmp_path / "other.lin")
