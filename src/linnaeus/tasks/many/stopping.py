"""Answers that stop at a node of a taxonomy: going down it as long as one is sure enough."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.learners.label_tree.fitted import FittedLabels
from linnaeus.types import Array, Bools, Doubles, Floats, Ints, Longs

LEAST_CHANCES = np.arange(0.2, 0.996, 0.005)
"""The chances that are tried as the least one of an answer."""
ROWS = 1 << 14
"""Rows that are looked at together."""


class Answers(NamedTuple):
    """For each row the level of its answer, its place there, and its chance.

    Level 0 is that of labels, level 1 that of the nodes above them, and so on; -1: no answer. The place is the number
    of the label, or of the node.
    """

    level: Longs
    at: Longs
    chance: Doubles


def levels_of(body: FittedLabels, labels: Array) -> list[Longs]:
    """The labels themselves, then the nodes above them, level by level up to below the root; -1 for no label."""
    found = [labels.astype(np.int64)]
    if not body.nodes:
        return found
    homes, parents = body.homes
    above = np.where(labels >= 0, homes[np.maximum(labels, 0)], -1)
    while (above > 0).any():
        found.append(above)
        above = np.where(above > 0, parents[np.maximum(above, 0)], -1)
    return found


def sure_of(body: FittedLabels, labels: Ints, chances: Doubles) -> tuple[Longs, Doubles]:
    """The most probable place of each row on each level, and its chance (levels, n): the sum of its labels' chances."""
    places, best = [], []
    rows = np.arange(len(labels))
    for level in levels_of(body, labels):
        same = (level[:, :, None] == level[:, None, :]) & (level >= 0)[:, None, :]
        sums = np.where(level >= 0, (same * chances[:, None, :]).sum(axis=2), 0.0)
        at = sums.argmax(axis=1)
        places.append(level[rows, at])
        best.append(np.minimum(sums[rows, at], 1.0))
    return np.array(places), np.array(best)


def answers_at(body: FittedLabels, best: tuple[Ints, Doubles], least: float) -> Answers:
    """The lowest place of each row whose chance is at least this."""
    labels, chances = best
    parts = [_answers(body, labels[a : a + ROWS], chances[a : a + ROWS], least) for a in range(0, len(labels), ROWS)]
    if not parts:
        return Answers(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    return Answers(*(np.concatenate([part[i] for part in parts]) for i in range(3)))


def _answers(body: FittedLabels, labels: Ints, chances: Doubles, least: float) -> Answers:
    places, sums = sure_of(body, labels, chances)
    sure: Bools = sums >= least
    level = np.where(sure.any(axis=0), sure.argmax(axis=0), -1)
    rows = np.arange(len(labels))
    there = np.maximum(level, 0)
    return Answers(level, np.where(level >= 0, places[there, rows], -1), sums[there, rows])


def right_answers(body: FittedLabels, found: Answers, truth: Longs) -> Bools:
    """Whether the true label of each row is the answer, or stands below it."""
    levels = np.array([level[:, 0] for level in levels_of(body, truth[:, None])])
    rows = np.arange(len(truth))
    level = np.minimum(np.maximum(found.level, 0), len(levels) - 1)
    return (found.level >= 0) & (truth >= 0) & (levels[level, rows] == found.at)


def learn_stops(body: FittedLabels, best: tuple[Ints, Floats], truth: Array, weights: Doubles) -> Floats:
    """For each least chance the share of wrong answers, and the share of rows with an answer (m, 3).

    The share of wrong ones is one standard error above that on these rows: it shall hold for others, too.
    """
    labels, chances = best[0], body.chances(best[1])
    told = []
    for least in LEAST_CHANCES.tolist():
        found = answers_at(body, (labels, chances), least)
        answered = weights * (found.level >= 0)
        right = weights * right_answers(body, found, truth.astype(np.int64))
        total = float(answered.sum())
        wrong = 1 - float(right.sum()) / total if total else 0.0
        wrong += math.sqrt(wrong * (1 - wrong) / max(total, 1.0))
        told.append((least, wrong, total / float(weights.sum())))
    return np.array(told, np.float32)


def least_chance(body: FittedLabels, risk: float) -> float:
    """The least chance with which at most this share of the answers to held-out rows was wrong: with most answers."""
    if not len(body.stops):
        raise UsageError("How sure an answer has to be is not known, because no rows were held out in training.")
    fits = body.stops[body.stops[:, 1] <= risk]
    if not len(fits):
        return float("inf")
    return float(fits[int(fits[:, 2].argmax()), 0])
