"""Small problems for the contract tests: every output space with its truth, every piece by its name."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus.arrays import CSR
from linnaeus.losses import LOSSES, PointLoss
from linnaeus.outputs import OUTPUTS, Multiclass
from linnaeus.types import LabelSets

COSTS = {2: [[0, 2], [5, 0]], 3: [[0, 1, 4], [2, 0, 1], [3, 0.5, 0]]}


def cover(cells, ways=()):
    """Few cells such that every pair of values of two factors stands in one, and all values of the factors of each way.

    Next is the cell that has most of those left.
    """
    cells = [cells[i] for i in np.random.default_rng(0).permutation(len(cells))]
    ways, numbers = [*itertools.combinations(range(len(cells[0])), 2), *ways], {}
    found = [[numbers.setdefault((way, *(cell[i] for i in way)), len(numbers)) for way in ways] for cell in cells]
    held, left, chosen = np.array(found), np.ones(len(numbers), bool), []
    while left.any():
        best = left[held].sum(axis=1).argmax()
        left[held[best]] = False
        chosen.append(cells[best])
    return chosen


def covered(cells, ways=()):
    """All cells as parameters of a test: a cover of them runs in `make test`, the others in `make test-slow`."""
    quick = set(cover(cells, ways))
    marks = [[] if cell in quick else [pytest.mark.slow] for cell in cells]
    return [pytest.param(*cell, marks=mark) for cell, mark in zip(cells, marks, strict=True)]


def truth(output, n, rng):
    """Encoded truth of n examples and the number of classes."""
    if output == "binary":
        return rng.integers(0, 2, n).astype(np.int32), 2
    if output == "real":
        return rng.normal(size=(n, 2)), 2
    if output == "multilabel":
        member = rng.random((n, 3)) < 0.4
        offsets = np.concatenate([[0], np.cumsum(member.sum(axis=1))]).astype(np.int64)
        return LabelSets(offsets, np.nonzero(member)[1].astype(np.int32)), 3
    return rng.integers(0, 3, n).astype(np.int32), 3


def sparse_rows(n, d, rng, density=0.6):
    matrix = sp.random(n, d, density, format="csr", rng=rng, dtype=np.float32, data_rvs=rng.standard_normal)
    return CSR(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float32), d)


def pairs_of_loss_and_output():
    """Every combination with a meaning: numbers take point losses only."""
    for output in OUTPUTS:
        for loss, piece in LOSSES.items():
            if output != "real" or issubclass(piece, PointLoss):
                yield loss, output


def spaces(output, k):
    """The space without costs, and with them where it takes any."""
    yield OUTPUTS[output]()
    if hasattr(OUTPUTS[output](), "costs"):
        yield OUTPUTS[output](costs=COSTS[k])


def outputs_of(space, y, k):
    """All outputs an example may have, as parts (count, w), and what each costs: by enumeration."""
    w = space.width(k)
    if isinstance(space, Multiclass):
        matrix = 1.0 - np.eye(k) if space.costs is None else np.asarray(space.costs)
        return np.eye(k), matrix[:, int(y[0])]
    signs = space.signs(y, w)[0]
    stakes = space.stakes(y, w)
    stakes = np.ones(w) if stakes is None else stakes[0]
    asked = np.flatnonzero(signs)
    parts = np.zeros((2 ** len(asked), w))
    for row in range(len(parts)):
        parts[row, asked] = [(row >> bit) & 1 for bit in range(len(asked))]
    wrong = parts[:, asked] != (signs[asked] > 0)
    return parts, wrong @ stakes[asked]
