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
    assert len(list(FOLDER.glob("*-labels*.lin"))) >= 2


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


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*-labels*.lin")), ids=lambda path: path.stem)
def test_a_label_tree_ranks_as_ever(path: Path) -> None:
    wanted = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    model = Model.load(path, verify=True)
    assert [list(labels) for labels in model.predict(wanted["asked"])] == wanted["answers"]
    for row, ranks in zip(model.rank(wanted["asked"], 3), wanted["ranks"], strict=True):
        assert [label for label, _ in row] == [label for label, _ in ranks]
        assert np.allclose([chance for _, chance in row], [chance for _, chance in ranks], atol=1e-6)
    assert model.updated([("a blue glass", ["blue"])]).many is not None


def test_a_classifier_has_all_of_its_parts() -> None:
    model = Model.load(FOLDER / "format-1-classifier.lin")
    assert model.classify("green apple").label == "fruit"
    assert model.evaluation is not None
