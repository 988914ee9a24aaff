"""Regularizers: penalties that keep weights small or sparse. Each holds its own strength.

Each gives `value`, `grad` (a subgradient), `prox` for proximal solvers, and `flow` for stochastic ones: flows compose,
so rows that sparse batches did not touch are updated later in one step. `Separable` ones also give `l1` and `l2`.

To add one: a frozen dataclass, a row in `REGULARIZERS`; the contract tests compare it with brute force.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room
from linnaeus.regularizers.norms import L1 as L1
from linnaeus.regularizers.norms import L2 as L2
from linnaeus.regularizers.norms import ElasticNet as ElasticNet
from linnaeus.regularizers.norms import Group as Group
from linnaeus.regularizers.norms import NoPenalty as NoPenalty

if TYPE_CHECKING:
    from linnaeus.regularizers.norms import Separable as Separable


REGULARIZERS = {"none": NoPenalty, "l2": L2, "l1": L1, "elastic_net": ElasticNet, "group": Group}
"""Every regularizer by name."""


__getattr__, __dir__ = room(__name__)
