"""Generative models, learned by counting: how often each feature stands in each class, and what that makes likely.

A learner is a frozen dataclass with `learn(lesson)`; its model keeps counts (`counts.py`), so that two models of the
halves of some data merge into the model of the whole, and turns them into log-probabilities when it is asked.

To add a model: a file with the learner and the fitted piece, a row in `pipeline.learner.LEARNERS`, one in
`pipeline.bodies.MODELS`, an example in `tests/contracts/test_families.py`.
"""

from linnaeus.bayes.counts import Counts, count
from linnaeus.bayes.multinomial import FittedMultinomial, Multinomial

__all__ = ["Counts", "FittedMultinomial", "Multinomial", "count"]
