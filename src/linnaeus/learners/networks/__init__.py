"""Networks: `by_hand` is the smallest one with its gradient, in plain NumPy, and the reference for all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.learners.networks import by_hand as by_hand

__getattr__, __dir__ = room(__name__)
