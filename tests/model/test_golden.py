"""Models that earlier versions wrote answer as they did then: golden files of each format, in tests/golden."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from linnaeus import Model, Recipe

FOLDER = Path(__file__).parents[1] / "golden"
MODELS = ("classifier", "compact", "tagger", "ranker", "pipeline")
FILES = sorted(path for name in MODELS for path in FOLDER.glob(f"*-{name}.lin"))


def test_there_are_some() -> None:
    assert len(FILES) >= len(MODELS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_model_answers_as_ever(path: Path) -> None:
    wanted = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    model = Model.load(path, verify=True)
    answers = model.predict(wanted["asked"])
    assert list(answers) == wanted["answers"]
    assert np.allclose(model.scores(wanted["asked"]), wanted["scores"], atol=1e-6)
    assert np.allclose(model.probabilities(wanted["asked"]), wanted["probabilities"], atol=1e-6)
    assert isinstance(model.recipe, Recipe)
    assert ("compact" in model.facts) == ("compact" in path.stem)


def test_a_classifier_has_all_of_its_parts() -> None:
    model = Model.load(FOLDER / "format-1-classifier.lin")
    assert model.classify("green apple").label == "fruit"
    assert model.evaluation is not None
