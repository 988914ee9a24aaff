"""The optimizer that is taken where the user leaves it open."""

from __future__ import annotations

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.erm import Objective
from linnaeus.erm.choose import choose_optimizer
from linnaeus.losses import Squared
from linnaeus.optimizers import LSQR, NormalEquations
from linnaeus.outputs import Real
from linnaeus.regularizers import L2


def _chosen(n: int, shared: int) -> type:
    """For squares of n rows, each with `shared` features that all rows have, and as many of its own."""
    common = np.tile(np.arange(shared, dtype=np.int32), (n, 1))
    own = shared + np.arange(n * shared, dtype=np.int32).reshape(n, shared)
    indices = np.hstack([common, own]).ravel()
    X = CSR(np.arange(n + 1) * 2 * shared, indices, np.ones(len(indices)), shared + n * shared)
    problem = Objective(X, np.arange(n, dtype=np.float64), Real(), Squared(), L2(1.0), np.ones(n), 1, "free")
    return type(choose_optimizer(problem, None))


def test_few_examples_are_factored():
    assert _chosen(20, 3) is NormalEquations


def test_a_matrix_of_the_examples_is_not_made_where_features_are_frequent():
    """Characters occur in every text: the products of all pairs of texts cost far more than passes over them."""
    assert _chosen(400, 3) is LSQR
