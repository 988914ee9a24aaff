"""The facts of ranked labels, for tasks with very many of them: which of the best labels of each row are true.

    precision at k     hits / k: how many of the k best labels are true
    recall at k        hits / true labels of the row
    nDCG at k          sum of 1 / log2(place + 1) over the hits / the largest such sum for as many true labels
    hit at k           whether there is a hit
    ps-precision at k  sum over rows of 1 / p of each hit / the largest such sum, where p is the propensity of a label

A row without true labels has no hits, and counts as 0 in each mean, as in the programs that published figures of
extreme classification come from. The propensity of a label is the chance that it is given where it is true:

    p = 1 / (1 + C (N_l + B)^-A),  C = (log N - 1) (B + 1)^A

with N_l of N training rows (Jain, Prabhu and Varma, "Extreme multi-label loss functions", 2016); C is at least 0.
Recall is also computed by frequency: labels are ordered from frequent to rare, and cut into head, middle and tail, each
with about a third of all labels given in the training data.

Nothing here has a number for each row and label. Hits are found by a search among sorted pairs of row and label.
"""

from __future__ import annotations

from math import log

import numpy as np

from linnaeus.errors import DataError, UsageError, expect
from linnaeus.evaluation.facts import Facts, offsets_of, owners, runs, singles
from linnaeus.evaluation.formulas import TOP
from linnaeus.evaluation.metrics import DEPTHS, GROUPED, GROUPS
from linnaeus.evaluation.outcome import UNKNOWN, agree, refuse_no_rows, weights_of
from linnaeus.types import Array, Arrays, Bools, Doubles, Ints, LabelSets, Longs

A, B = 0.55, 1.5
"""The constants of propensities that are usual where nothing else is known of the data."""


def observe_ranked(
    best: Ints, truth: LabelSets, frequencies: Longs | None = None, rows: int = 0, weights: Doubles | None = None
) -> Facts:
    """The facts of the best labels of each row (n, depth), best first, -1 where there are no more, against the truth.

    A true label of -1 is one the model does not know: it is never found. `frequencies` says how many of the `rows` of
    the training data have each label; without it, there are no metrics of rare and frequent labels.

    >>> from linnaeus.evaluation import evaluate
    >>> truth = LabelSets(np.array([0, 2, 3]), np.array([4, 900_000, 7], np.int32))
    >>> found = evaluate(observe_ranked(np.array([[4, 7, 900_000], [3, 7, -1]]), truth), rounds=0)
    >>> found.value("P@1"), found.value("R@3"), found.value("hit@3")
    (0.5, 1.0, 1.0)
    """
    n = len(truth)
    agree("best", len(best), n)
    refuse_no_rows(n)
    answers, true = _answers(best), _tidied(truth)
    hits = _hits(answers, true)
    values = _values(hits, true)
    if frequencies is not None:
        known = _counts(frequencies, rows, 1 + max(_largest(answers), _largest(true.labels)))
        values |= _scored(answers, hits, true, known, rows)
        values |= _grouped(answers, hits, true, known)
    none = singles(np.full(n, UNKNOWN))
    return Facts("many", (), weights_of(weights, n), none, none, values)


def _largest(labels: Array) -> int:
    return int(labels.max(initial=UNKNOWN))


def _answers(best: Ints) -> Longs:
    """As many of the best labels as metrics use; each label once in a row."""
    array = np.asarray(best)
    if array.ndim != 2 or array.dtype.kind not in "iu" or not array.shape[1]:
        raise DataError("best takes label numbers, as many for each row, best first; -1 where there are no more.")
    answers: Longs = array[:, : DEPTHS[-1]].astype(np.int64)
    ordered = np.sort(answers, axis=1)
    if ordered.min() < UNKNOWN:
        raise DataError("best has label numbers below -1; -1 stands for no label.")
    if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any():
        raise DataError("best names a label twice in a row; give each label once.")
    return answers


def _tidied(truth: LabelSets) -> LabelSets:
    """Labels of each row sorted, known ones once, unknown ones (-1) as often as they are given."""
    if truth.labels.min(initial=UNKNOWN) < UNKNOWN:
        raise DataError("truth has label numbers below -1; -1 is a label that the model does not know.")
    width = _largest(truth.labels) + 2
    keys = np.sort(owners(truth) * width + truth.labels + 1)
    labels = keys % width - 1
    kept = labels < 0
    kept[runs(keys)] = True
    counts = np.bincount(keys[kept] // width, minlength=len(truth))
    return LabelSets(offsets_of(counts), labels[kept].astype(np.int32))


def _hits(best: Longs, truth: LabelSets) -> Bools:
    """Which of the best labels (n, depth) are true."""
    width = max(_largest(best), _largest(truth.labels)) + 2
    keys = np.append(owners(truth) * width + truth.labels, np.iinfo(np.int64).max)  # a row's -1 is the key of no label
    asked = np.arange(len(best))[:, None] * width + best
    return (keys[np.searchsorted(keys, asked)] == asked) & (best >= 0)


def _values(hits: Bools, truth: LabelSets) -> Arrays:
    """The values that need no frequencies; where there are no true labels, there are no hits to divide."""
    sizes = np.diff(truth.offsets)
    unknown = np.bincount(owners(truth)[truth.labels < 0], minlength=len(truth))
    found = np.cumsum(hits, axis=1, dtype=np.uint8)
    discounts = 1.0 / np.log2(np.arange(hits.shape[1]) + 2.0)
    gains, most = np.cumsum(hits * discounts, axis=1), np.cumsum(discounts)
    values: Arrays = {"true_labels": sizes.astype(np.int32), "unknown_labels": unknown.astype(np.int32)}
    for at in _depths(TOP, hits):
        values[f"found_at_{at}"] = found[:, at - 1].copy()
        values[f"hit_at_{at}"] = (found[:, at - 1] > 0).astype(np.uint8)
        values[f"gain_at_{at}"] = gains[:, at - 1] / most[np.clip(sizes, 1, at) - 1]
    return values | {f"recalled_at_{at}": found[:, at - 1] / np.maximum(sizes, 1) for at in _depths(DEPTHS, hits)}


def _depths(wanted: tuple[int, ...], hits: Bools) -> list[int]:
    return [at for at in wanted if at <= hits.shape[1]]


def _counts(frequencies: Longs, rows: int, labels: int) -> Longs:
    """The training rows of each label, checked; the last one is of labels that the model does not know."""
    expect("rows", rows, int)
    found = np.asarray(frequencies)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise DataError("frequencies takes one whole number for each label: how many training rows have it.")
    if len(found) < labels:
        raise DataError(f"There are frequencies of {len(found)} labels, but label {labels - 1} occurs; give them all.")
    if rows < 1:
        raise UsageError("frequencies need the number of training rows; give it as rows.")
    if found.min(initial=0) < 0 or found.max(initial=0) > rows:
        raise DataError(f"frequencies must lie between 0 and the {rows} rows of the training data.")
    return np.append(found.astype(np.int64, copy=False), 0)


def inverse_propensities(frequencies: Longs, rows: int) -> Doubles:
    """1 / p of labels that occur so often in these rows; the rarer a label, the larger.

    >>> inverse_propensities(np.array([0, 10, 1000]), rows=1000).round(2).tolist()
    [8.82, 3.55, 1.22]
    """
    c = max(0.0, log(rows) - 1.0) * (B + 1.0) ** A
    return 1.0 + c * (frequencies + B) ** -A


def _scored(best: Longs, hits: Bools, truth: LabelSets, counts: Longs, rows: int) -> Arrays:
    """The sum of 1 / p of the hits, and the largest possible sum; the divisor k of both is left out."""
    depths = _depths(TOP, hits)
    gains = hits[:, : depths[-1]] * inverse_propensities(counts[best[:, : depths[-1]]], rows)
    most = np.cumsum(_rarest(truth, counts, rows, depths[-1]), axis=1)
    found = np.minimum(np.cumsum(gains, axis=1), most)  # another order of adding may be larger in the last bit
    values: Arrays = {}
    for at in depths:
        values |= {f"ps_found_at_{at}": found[:, at - 1].copy(), f"ps_best_at_{at}": most[:, at - 1].copy()}
    return values


def _rarest(truth: LabelSets, counts: Longs, rows: int, depth: int) -> Doubles:
    """1 / p of the rarest true labels of each row (n, depth), rarest first, and 0 where there are no more."""
    width = int(counts.max()) + 1
    ordered = np.sort(owners(truth) * width + counts[truth.labels]) % width
    places = truth.offsets[:-1, None] + np.arange(depth)
    there = places < truth.offsets[1:, None]
    found = np.zeros(there.shape)
    found[there] = inverse_propensities(ordered[places[there]], rows)
    return found


def _grouped(best: Longs, hits: Bools, truth: LabelSets, counts: Longs) -> Arrays:
    """How many true labels of each row belong to each group, and how many of them are among the best."""
    if hits.shape[1] < GROUPED:
        return {}
    ends = _ends(counts)
    found = hits[:, :GROUPED]
    answered, true, rows = _group(best[:, :GROUPED], counts, ends), _group(truth.labels, counts, ends), owners(truth)
    values: Arrays = {}
    for i, name in enumerate(GROUPS):
        there = np.bincount(rows[true == i], minlength=len(truth)).astype(np.int32)
        values |= {f"{name}_labels": there, f"{name}_found": (found & (answered == i)).sum(axis=1).astype(np.uint8)}
    return values


def _group(labels: Array, counts: Longs, ends: list[tuple[int, int]]) -> Longs:
    """The group of each label: how many ends it comes after; labels without training rows are in the last."""
    own = counts[labels]
    after = [(own < count) | ((own == count) & (labels > last)) for count, last in ends]
    return np.where(own > 0, np.sum(after, axis=0, dtype=np.int64), len(GROUPS) - 1)


def _ends(counts: Longs) -> list[tuple[int, int]]:
    """The last label of each group but the tail, as its frequency and its number.

    Labels are ordered by frequency, then by number; a group ends with the label that completes its share of the sum.
    """
    labels = np.bincount(counts)  # labels by frequency
    sums = labels * np.arange(len(labels))
    reached = np.cumsum(sums[::-1])[::-1]  # the sum over labels of at least this frequency
    total, found = int(reached[0]), []
    for i in range(1, len(GROUPS)) if total else ():
        count = int(np.flatnonzero(len(GROUPS) * reached >= i * total)[-1])
        missing = i * total - len(GROUPS) * int(reached[count] - sums[count])
        place = -(-missing // (len(GROUPS) * count)) - 1
        found.append((count, int(np.flatnonzero(counts == count)[place])))
    return found
