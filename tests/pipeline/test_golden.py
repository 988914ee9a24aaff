"""Classifiers that earlier versions wrote answer as they did then: golden files of each format, in tests/golden."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from linnaeus import Classifier
from linnaeus.recipes.cookbook import Recipe

FOLDER = Path(__file__).parents[1] / "golden"
FILES = sorted([*FOLDER.glob("*-classifier.lin"), *FOLDER.glob("*-compact.lin")])


def test_there_are_some() -> None:
    assert len(FILES) >= 2


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_classifier_answers_as_ever(path: Path) -> None:
    wanted = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    model = Classifier.load(path, verify=True)
    assert model.predict(wanted["texts"]).tolist() == wanted["labels"]
    assert np.allclose(model.scores(wanted["texts"]), wanted["scores"], atol=1e-6)
    assert np.allclose(model.probabilities(wanted["texts"]), wanted["probabilities"], atol=1e-6)
    assert model.classify("green apple").label == "fruit"
    assert isinstance(model.recipe, Recipe)
    assert model.evaluation is not None
    assert ("compact" in model.facts) == ("compact" in path.stem)
