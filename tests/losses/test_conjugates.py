"""Conjugates: equality at the slope, inequality everywhere else; a gap is certified by these."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.losses import LOSSES

KNOWN = [name for name, make in LOSSES.items() if getattr(make(), "conjugate", lambda a: None)(np.zeros(1)) is not None]


def test_which_are_known():
    assert {"log", "logistic", "squared_hinge", "squared", "huber", "modified_huber"} <= set(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_fenchel_and_young(name):
    loss = LOSSES[name]()
    m = np.linspace(-4, 4, 81)
    slope = loss.slope(m)
    conjugate = loss.conjugate(slope)
    np.testing.assert_allclose(loss.value(m) + conjugate, slope * m, atol=1e-12)
    for other in (-3.0, 0.2, 2.5):
        assert (loss.value(np.full_like(m, other)) + conjugate >= slope * other - 1e-12).all()
    # Zero is a slope every loss with a lower bound has or approaches: shrinking slopes towards it stays in the domain.
    assert np.isfinite(loss.conjugate(0.3 * slope)).all()
