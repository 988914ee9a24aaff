"""Penalties on single weights, which are l2/2 w^2 + l1 |w| with their own l1 and l2, and on groups of weights."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.arrays.numerics import add_multiple, dot
from linnaeus.errors import expect_within
from linnaeus.frozen import dataclass
from linnaeus.protocols import SeparablePenalty
from linnaeus.types import Doubles


class Separable:
    """sum over weights of l2/2 w^2 + l1 |w|.

    >>> from linnaeus.regularizers import L1, L2
    >>> issubclass(L1, Separable), issubclass(L2, Separable)
    (True, True)
    """

    provides: ClassVar[tuple[type, ...]] = (SeparablePenalty,)

    @property
    def l1(self) -> float:
        """The factor of |w|."""
        return 0.0

    @property
    def l2(self) -> float:
        """The factor of w^2 / 2."""
        return 0.0

    def value(self, W: Doubles) -> float:
        """l2/2 ||W||^2 + l1 ||W||_1."""
        total = 0.0
        if self.l2:
            flat = np.ascontiguousarray(W, np.float64).reshape(-1)
            total += 0.5 * self.l2 * dot(flat, flat)
        if self.l1:
            total += self.l1 * float(np.abs(W).sum())
        return total

    def grad(self, W: Doubles) -> Doubles:
        """A subgradient: 0 for |w| at w = 0."""
        G = self.l2 * W
        return G + self.l1 * np.sign(W) if self.l1 else G

    def charge(self, W: Doubles, G: Doubles) -> float:
        """Add the subgradient to G and return the value, in one pass over the weights."""
        if not self.l1:
            return 0.5 * self.l2 * add_multiple(W, self.l2, G) if self.l2 else 0.0
        G += self.grad(W)
        return self.value(W)

    def prox(self, W: Doubles, step: float) -> Doubles:
        """Soft-threshold by step l1, then shrink by 1 + step l2."""
        if not self.l1:
            return W / (1.0 + step * self.l2)
        return np.sign(W) * np.maximum(0.0, np.abs(W) - step * self.l1) / (1.0 + step * self.l2)

    def flow(self, W: Doubles, time: Doubles | float) -> Doubles:
        """Exponential decay to where |w| = -l1/l2 would be, stopping at 0."""
        if not self.l1:
            return W * np.exp(-self.l2 * np.asarray(time))
        if not self.l2:
            return np.sign(W) * np.maximum(0.0, np.abs(W) - self.l1 * np.asarray(time))
        below = self.l1 / self.l2
        # expm1 avoids cancellation if l2 is small.
        left = np.abs(W) + (np.abs(W) + below) * np.expm1(-self.l2 * np.asarray(time))
        return np.sign(W) * np.maximum(0.0, left)


class Strength:
    """Base class of penalties with a strength, which is a finite number of at least 0."""

    strength: float

    def __post_init__(self) -> None:
        expect_within("strength", self.strength, float, "[0, inf)")


@dataclass(frozen=True)
class NoPenalty(Separable):
    """No regularizer.

    >>> import numpy as np
    >>> float(NoPenalty().value(np.ones((2, 1))))
    0.0
    """


@dataclass(frozen=True)
class L2(Strength, Separable):
    """strength / 2 ||w||^2: ridge, weight decay, a Gaussian prior of variance 1 / strength.

    scikit-learn's C is 1 / strength.

    >>> L2(0.5).value(np.array([[3.0, 4.0]]))
    6.25
    """

    strength: float = 1.0

    @property
    def l2(self) -> float:
        """The strength."""
        return self.strength


@dataclass(frozen=True)
class L1(Strength, Separable):
    """strength ||w||_1: the lasso; many weights become exactly zero.

    >>> L1().prox(np.array([3.0, -0.5]), 1.0).tolist()
    [2.0, -0.0]
    """

    strength: float = 1.0

    @property
    def l1(self) -> float:
        """The strength."""
        return self.strength


@dataclass(frozen=True)
class ElasticNet(Strength, Separable):
    """strength (mix ||w||_1 + (1 - mix)/2 ||w||^2). `mix` is scikit-learn's l1_ratio.

    >>> ElasticNet(1.0, mix=0.5).value(np.array([2.0]))
    2.0
    """

    strength: float = 1.0
    mix: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_within("mix", self.mix, float, "[0, 1]")

    @property
    def l1(self) -> float:
        """The strength of the L1 part."""
        return self.strength * self.mix

    @property
    def l2(self) -> float:
        """The strength of the L2 part."""
        return self.strength * (1.0 - self.mix)


@dataclass(frozen=True)
class Group(Strength):
    """strength * sum over features j of ||W_j||_2 (the group lasso of Yuan and Lin, 2006).

    >>> Group(1.0).value(np.array([[3.0, 4.0], [0.0, 0.0]]))
    5.0
    """

    strength: float = 1.0

    def value(self, W: Doubles) -> float:
        """The sum of the row lengths."""
        return self.strength * float(_lengths(W).sum())

    def grad(self, W: Doubles) -> Doubles:
        """A subgradient: 0 for rows of zeros."""
        lengths = _lengths(W)
        return self.strength * W / np.where(lengths > 0, lengths, 1.0)

    def prox(self, W: Doubles, step: float) -> Doubles:
        """Shorten every row by step * strength, down to zero at most."""
        return self.flow(W, step)

    def flow(self, W: Doubles, time: Doubles | float) -> Doubles:
        """Rows shrink towards zero at constant speed, as in `prox`. Time is one number, or one for each row (g, 1)."""
        lengths = _lengths(W)
        left = np.maximum(0.0, lengths - self.strength * np.asarray(time))
        return W * (left / np.where(lengths > 0, lengths, 1.0))


def _lengths(W: Doubles) -> Doubles:
    """||W_j||_2 for each row, as a column; a vector is one row for each entry."""
    if W.ndim == 1:
        return np.abs(W)
    return np.sqrt(np.einsum("ij,ij->i", W, W))[:, None]
