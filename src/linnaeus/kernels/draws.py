"""Random numbers from counters: a function of the counter alone, the same on every machine and in every order."""

from __future__ import annotations

from typing import Any

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: the step from one counter to the next."""


def scramble(z: Any) -> Any:
    """The finalizer of SplitMix64 (Steele, Lea and Flood 2014), for one uint64 or an array of them.

    >>> hex(scramble(GOLDEN))
    '0xe220a8397b1dcdaf'
    """
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
