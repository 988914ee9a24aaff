"""Rankers on real sets: better than what is known to be simple."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.data.group_reading import read_groups
from linnaeus.recipes.cookbook import recipe


def read(real_data, name, part):
    path = real_data / name / f"{part}.parquet"
    if not path.exists():
        pytest.skip(f"no {name} here")
    return read_groups(path)


@pytest.mark.slow
def test_questions_about_stories(real_data):
    reading = recipe("reading").changed({"tuning": None, "regularizer.strength": 10.0})
    model = reading.fit(read(real_data, "mctest_mc500", "train"))
    assert model.evaluate(read(real_data, "mctest_mc500", "test")).value() >= 0.62


@pytest.mark.slow
def test_entities_beat_the_most_popular_candidate(real_data):
    model = recipe("linking").changed({"learner.epochs": 30}).fit(read(real_data, "aida_conll", "train"))
    asked = read(real_data, "aida_conll", "test")
    assert model.evaluate(asked).value() >= np.mean(asked.answers() == 0) + 0.05
