"""The linear engine as a learner: sum_i weight_i loss(x_i W + b, y_i) + regularizer(W), minimized.

learner       `Linear`: the pieces of a linear model
problems      from labels and rows to the problem to solve, and its output space
solving       from a problem to weights, also over candidates
convergence   what is said of how it ended;  checkpoint  where an interrupted training goes on
streaming     one more batch of a stream;  probabilities  from scores to probabilities
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.learners.linear.convergence import NotConverged as NotConverged
    from linnaeus.learners.linear.learner import Linear as Linear


__getattr__, __dir__ = room(__name__)
