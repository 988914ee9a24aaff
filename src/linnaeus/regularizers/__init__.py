"""Regularizers: penalties that keep weights small or sparse. Each holds its own strength.

Each gives `value`, `grad` (a subgradient), `prox` for proximal solvers, and `flow` for stochastic ones: flows compose,
so rows that sparse batches did not touch are updated later in one step. `Separable` ones also give `l1` and `l2`.

To add one: a frozen dataclass, a row in `REGULARIZERS`; the contract tests compare it with brute force.
"""

from linnaeus.regularizers.group import Group
from linnaeus.regularizers.norms import L1, L2, ElasticNet, NoPenalty, Separable

REGULARIZERS = {"none": NoPenalty, "l2": L2, "l1": L1, "elastic_net": ElasticNet, "group": Group}
"""Every regularizer by name."""

__all__ = ["L1", "L2", "REGULARIZERS", "ElasticNet", "Group", "NoPenalty", "Separable"]
