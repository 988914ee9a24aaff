"""From scores to probabilities, for losses that define them."""

from __future__ import annotations

from linnaeus.protocols import Chances, ChanceSpace, JointSpace, OracleLoss, capability
from linnaeus.types import Doubles


def has_chances(loss: object, space: object) -> bool:
    """Whether there are probabilities for scores of this loss in this space (None: not known yet)."""
    if capability(loss, Chances) is None:
        return False
    return capability(loss, OracleLoss) is not None or capability(space, JointSpace) is None


def chances(loss: object, space: object, S: Doubles) -> Doubles:
    """P (n, k): softmax in joint spaces, chance(s) for labels, normalized over the classes for the others."""
    known, own = capability(loss, Chances), capability(space, ChanceSpace)
    assert known is not None
    assert own is not None
    return own.probabilities(S, known.chance)
