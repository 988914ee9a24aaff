from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

walks = pytest.importorskip("tools.walk", reason="the tests run outside the source tree")


def test_shares_are_counted_outside_the_folder_and_the_pieces_of_a_task() -> None:
    shared = {"linnaeus.data.read", "linnaeus.training.train", "linnaeus.lazy"}
    own = {"linnaeus.tasks.tag.task", "linnaeus.learners.chain.learner"}
    found = {
        "train a classifier": walks.Walk(shared | {"linnaeus.tasks.classify"}, Counter()),
        "train a tagger": walks.Walk(shared | own, Counter({("a", "b"): 2, ("b", "a"): 1, ("a", "c"): 4})),
    }
    assert walks.rows(found)[1] == {
        "walk": "train a tagger",
        "modules": 5,
        "changes": 7,
        "both ways": 1,
        "shared": "3 of 5, 60.0%",
        "shared outside its folder": "3 of 4, 75.0%",
        "shared outside its pieces": "3 of 3, 100.0%",
    }


@pytest.mark.slow
def test_training_any_task_is_mostly_the_same_walk(tmp_path: Path) -> None:
    walks.write_data(tmp_path)
    classifier = walks.walk("train a classifier", tmp_path)
    assert "linnaeus.training.train" in classifier.modules
    for name in ("train a tagger", "train a ranker"):
        rest = walks.outside(walks.walk(name, tmp_path).modules, walks.OWN[walks.COMPARED[name][1]])
        assert len(rest & classifier.modules) >= 0.8 * len(rest)
