"""Small data that several rooms are tested on."""

from __future__ import annotations

import numpy as np


def fruit_and_metal() -> list[tuple[str, str]]:
    """Fifty texts of two classes, which single words tell apart."""
    rng = np.random.default_rng(0)
    words = {"fruit": ("apple", "pear", "plum"), "metal": ("iron", "zinc", "lead")}
    return [
        (" ".join([*rng.choice(words[name], 2), *rng.choice(["a", "the"], 2)]), name)
        for _ in range(25)
        for name in words
    ]
