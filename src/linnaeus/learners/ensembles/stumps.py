"""Boosting stumps: coordinate descent on the exponential loss, one exact step a round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays import CSR, Transposed

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Longs

CHANCE = 1e-9
"""If all edges are below this, no stump is better than chance."""

PERFECT = 1e-12
"""An error rate below this counts as zero."""


def boost(X: CSR, Y: Doubles, weights: Doubles, rounds: int) -> Doubles:
    """The steps (d + 1, c) of c boosted votes on presence X (n, d) for signs Y (n, c); the last row is the constant.

    With D_i = weight_i e^(-y_i F_i), scaled to sum 1, the edge of stump j is r_j = sum_i D_i y_i h_j(x_i) = 1 - 2 err.
    The best step along it multiplies the loss by sqrt(1 - r_j^2), so the stump with the largest |r_j| is chosen, the
    first in a tie. Each round computes X.T (D y), in one pass over the columns for all votes.

    >>> X = CSR(np.arange(4), np.array([0, 0, 1], np.int32), np.ones(3, np.float32), 2)
    >>> boost(X, np.array([[1.0], [-1.0], [-1.0]]), np.ones(3), 1).round(3).tolist()  # wrong on one row of three
    [[0.347], [0.0], [0.0]]
    """
    held, F = Transposed(X), np.zeros_like(Y)
    steps, going = np.zeros((X.width + 1, Y.shape[1])), np.arange(Y.shape[1])
    most = 0.5 * np.log(max(2.0 * len(Y) - 1.0, 3.0))
    for _ in range(rounds):
        E = _edges(held, Y[:, going] * _shares(Y[:, going] * F[:, going], weights))
        best = np.abs(E).argmax(axis=0)
        r = E[best, np.arange(len(going))]
        useful = np.abs(r) > CHANCE
        with np.errstate(divide="ignore"):
            a = np.where(useful, np.clip(0.5 * (np.log1p(r) - np.log1p(-r)), -most, most), 0.0)
        steps[best, going] += a
        _move(held.columns, F, (best, going), a)
        going = going[useful & (1.0 - np.abs(r) > PERFECT)]
        if not len(going):
            break
    return steps


def _shares(margins: Doubles, weights: Doubles) -> Doubles:
    """The boosting weights of the rows at these margins (n, c), scaled to sum 1 in each column."""
    D: Doubles = weights[:, None] * np.exp(margins.min(axis=0) - margins)
    D /= D.sum(axis=0)
    return D


def _edges(held: Transposed, G: Doubles) -> Doubles:
    """Sum_i G_i h_j(x_i) of each stump, and of the constant (d + 1, c), limited to 1 against rounding."""
    total: Doubles = G.sum(axis=0)
    edges: Doubles = np.vstack([2.0 * held.tdot(G) - total, total])
    return edges.clip(-1.0, 1.0)


def _move(columns: CSR, F: Doubles, chosen: tuple[Longs, Longs], a: Doubles) -> None:
    """F += a h, for the chosen stump of each vote."""
    d = len(columns)
    for j, vote, step in zip(*chosen, a, strict=True):
        if j == d:
            F[:, vote] += step
            continue
        F[:, vote] -= step
        F[columns.indices[columns.indptr[j] : columns.indptr[j + 1]], vote] += 2.0 * step
