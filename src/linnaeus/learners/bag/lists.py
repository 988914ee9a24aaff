"""What steps are told of the truth: the labels of each example, or the few scores it looks at, with their signs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError
from linnaeus.kernels.online import LOSSES, SPACES
from linnaeus.protocols import ListedSpace, OnlineLoss, PathSpace, capability
from linnaeus.types import offsets_of

if TYPE_CHECKING:
    from linnaeus.learners.bag.learner import EmbeddingBag
    from linnaeus.types import Array, Doubles, Lesson, Longs

MARGIN_LOSSES = ("perceptron", "hinge", "log", "logistic", "squared_hinge", "exponential", "modified_huber")
"""Losses of a yes or no that stands alone."""
NOISE_POWER = 0.5
"""Classes are drawn in proportion to this power of their counts, as fastText does."""


class Asked(NamedTuple):
    """A kernel, the truth of all rows for an epoch as it takes it, and the loss."""

    kernel: Callable[..., tuple[float, int]]
    truth: Callable[[int], tuple[Array, ...]]
    loss: Any


def asked_of(plan: EmbeddingBag, lesson: Lesson, seed: int) -> Asked:
    """What the kernel is asked; a loss and an output that do not fit each other are refused."""
    online = capability(plan.loss, OnlineLoss)
    assert online is not None
    space, w, weights = lesson.space, lesson.space.width(lesson.k), np.ascontiguousarray(lesson.weights, np.float64)
    largest = plan.pool == "max"
    few = capability(space, PathSpace)
    if few is not None or plan.negatives:
        _refuse_joint(plan, online.online)
        kernel = kernels.bag_max_listed_steps if largest else kernels.bag_sum_listed_steps
        if few is not None:
            paths = (*few.paths(lesson.y, w), weights)
            return Asked(kernel, lambda _: paths, online.online)
        draws = _Draws(plan, lesson, (seed, w))
        return Asked(kernel, lambda epoch: (*draws.epoch(epoch), weights), online.online)
    own = capability(space, ListedSpace)
    if own is None:
        raise UsageError(f"An embedding bag has no steps for the output {type(space).__name__}; use another output.")
    lists = own.label_lists(lesson.y, w)
    truth = (lists.offsets, lists.labels, weights)
    kernel = kernels.bag_max_steps if largest else kernels.bag_sum_steps
    return Asked(kernel, lambda _: truth, (lists.space, online.online, lists.stakes))


def _refuse_joint(plan: EmbeddingBag, loss: int) -> None:
    if list(LOSSES)[loss] not in MARGIN_LOSSES:
        name = type(plan.loss).__name__
        raise UsageError(f"Where an example looks at a few scores, the loss {name} has no steps; use log or logistic.")


class _Draws:
    """The labels of each example, and other classes that are drawn anew in each epoch."""

    def __init__(self, plan: EmbeddingBag, lesson: Lesson, of: tuple[int, int]) -> None:
        own, (self.seed, w) = capability(lesson.space, ListedSpace), of
        lists = None if own is None else own.label_lists(lesson.y, w)
        if lists is None or lists.space != SPACES["product"] or w < 2 or len(lists.stakes):
            raise UsageError("negatives are for outputs of several classes with a yes or no each: use onevsrest.")
        self.count = plan.negatives
        self.offsets, self.labels, self.w = lists.offsets, lists.labels, w
        self.row = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        self.own = np.sort(self.row * np.int64(w) + self.labels)
        counts = np.bincount(self.labels, minlength=w).astype(np.float64)
        self.chances: Doubles = np.cumsum(np.maximum(counts, 1.0) ** NOISE_POWER)

    def epoch(self, number: int) -> tuple[Longs, Array, Array]:
        """Offsets, classes and signs: the labels of a row, then what was drawn for it, without its labels."""
        n = len(self.offsets) - 1
        rng = np.random.default_rng([self.seed, number, self.w])
        drawn = np.searchsorted(self.chances, rng.random((n, self.count)) * self.chances[-1], side="right")
        drawn = np.minimum(drawn, self.w - 1)
        keys = np.sort(np.arange(n)[:, None] * np.int64(self.w) + drawn, axis=1)
        new = np.ones(keys.shape, bool)
        new[:, 1:] = keys[:, 1:] != keys[:, :-1]
        new &= ~np.isin(keys, self.own)
        row = np.concatenate([self.row, np.nonzero(new)[0]])
        at = np.concatenate([self.labels, keys[new] % self.w])
        signs = np.concatenate([np.ones(len(self.labels), np.float32), np.full(int(new.sum()), -1.0, np.float32)])
        order = np.argsort(row, kind="stable")
        offsets = offsets_of(np.bincount(row, minlength=n))
        return offsets.astype(np.int64), at[order].astype(np.int32), signs[order]
