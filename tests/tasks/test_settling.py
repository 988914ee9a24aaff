"""What is learned from held-out rows is not judged by the same rows."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import Recipe
from linnaeus.recipes.tuning import Tuning

RNG = np.random.default_rng(0)
WORDS = [f"w{i}" for i in range(30)]
TEXTS = [" ".join(RNG.choice(WORDS, 6)) + f" n{i}" for i in range(300)]


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_of_labels_at_random_are_no_better_than_chance(seed: int) -> None:
    labels = np.random.default_rng(seed).choice(["a", "b", "c"], len(TEXTS)).tolist()
    found = Recipe(tuning=Tuning()).changed({"calibration": "isotonic"}).fit(list(zip(TEXTS, labels, strict=True)))
    assert found.evaluation.value("log_loss") > np.log(3)
