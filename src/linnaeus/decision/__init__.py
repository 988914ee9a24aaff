"""Decisions: from scores and probabilities to what is predicted.

`costs` takes the prediction that costs least on average.
"""

from linnaeus.decision.costs import cheapest, expected_costs

__all__ = ["cheapest", "expected_costs"]
