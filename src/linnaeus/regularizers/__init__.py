"""Regularizers: penalties that keep weights small or few. The strength is inside the piece.

Each gives `value`, `grad` (a subgradient), `prox` for proximal solvers, and `flow` for step-wise ones: flows compose,
so rows that a sparse batch did not touch catch up in one go. `Separable` ones also give `l1` and `l2`.

To add one: a frozen dataclass, a row in `REGULARIZERS`; the contract tests run it against brute force.
"""

from linnaeus.regularizers.group import Group
from linnaeus.regularizers.norms import L1, L2, ElasticNet, NoPenalty, Separable

REGULARIZERS = {"none": NoPenalty, "l2": L2, "l1": L1, "elastic_net": ElasticNet, "group": Group}
"""Every regularizer by its plain name."""

__all__ = ["L1", "L2", "REGULARIZERS", "ElasticNet", "Group", "NoPenalty", "Separable"]
