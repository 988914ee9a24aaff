"""Pools: one row of numbers for each text, from those of its places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linnaeus.errors import UsageError
from linnaeus.learners.networks.operations import Operations
from linnaeus.types import Array

POOLS = ("max", "mean", "sum", "attention")
"""The largest number of each column; the mean, the sum; or a mean whose weights are learned."""

LOWEST = -1e30
"""Below any number of a network, for places that do not count."""


def check_pool(pool: str, known: tuple[str, ...] = POOLS) -> None:
    """Refuse a pool that is not known."""
    if pool not in known:
        raise UsageError(f"pool is one of {', '.join(known)}, not {pool!r}.")


def pool_shapes(pool: str, width: int, name: str = "pool") -> dict[str, tuple[int, ...]]:
    """The weights of a pool over places of this width."""
    if pool != "attention":
        return {}
    return {f"{name}.W": (width, width), f"{name}.b": (width,), f"{name}.v": (width, 1)}


def pooled(ops: Operations, params: Mapping[str, Any], x: Any, counts: Any, how: tuple[str, str]) -> Any:
    """The pool (n, width) over the first `counts` places of x (n, places, width); `how` is the pool, and its name.

    Of a text without places it is zero.
    """
    pool, name = how
    there = ops.below(x.shape[1], counts)[:, :, None]
    if pool == "max":
        found = ops.highest(ops.where(there, x, LOWEST), 1)
        return ops.where(counts[:, None] > 0, found, 0.0)
    if pool == "attention":
        shares = attention(ops, params, x, counts, name)
        return ops.sum(x * shares, 1)[:, 0]
    sums = ops.sum(ops.where(there, x, 0.0), 1)[:, 0]
    if pool == "sum":
        return sums
    return sums / ops.numbers(counts.clip(1), sums)[:, None]


def attention(ops: Operations, params: Mapping[str, Any], x: Any, counts: Any, name: str = "pool") -> Array:
    """The share of each place (n, places, 1): the softmax of v . tanh(W x + b)."""
    there = ops.below(x.shape[1], counts)[:, :, None]
    hidden = ops.tanh(ops.dot(x, params[f"{name}.W"]) + params[f"{name}.b"])
    scores = ops.where(there, ops.dot(hidden, params[f"{name}.v"]), LOWEST)
    shares = ops.swap(ops.softmax(ops.swap(scores, 1, 2)), 1, 2)
    return ops.where(there, shares, 0.0)
