"""What is learned from held-out rows is not judged by the same rows."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import Recipe, read
from linnaeus.recipes.tuning import Tuning

RNG = np.random.default_rng(0)
WORDS = [f"w{i}" for i in range(30)]
TEXTS = [" ".join(RNG.choice(WORDS, 6)) + f" n{i}" for i in range(300)]


@pytest.mark.parametrize("calibration", ["isotonic", "sigmoid", "temperature"])
def test_labels_at_random_are_not_predicted(calibration: str) -> None:
    rows = list(zip(TEXTS, RNG.choice(["a", "b", "c"], len(TEXTS)).tolist(), strict=True))
    found = Recipe(tuning=Tuning()).changed({"calibration": calibration}).fit(rows)
    assert found.evaluation.value("accuracy") < 0.42
    assert found.evaluation.value("log_loss") > 1.05


def test_thresholds_of_label_sets_are_not_judged_by_their_own_rows() -> None:
    labels = [[name for name in "abcdefgh" if RNG.random() < 0.05] or ["a"] for _ in TEXTS]
    data = read({"text": TEXTS, "labels": labels})
    plain, tuned = (
        Recipe(tuning=Tuning()).changed({"thresholds": thresholds}).fit(data).evaluation.value("macro_f1")
        for thresholds in ("half", "f1")
    )
    assert tuned < plain + 0.15
