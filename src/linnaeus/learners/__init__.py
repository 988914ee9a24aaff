"""Learners that are not trained by an optimizer over a loss: a lesson in, a fitted model out.

A learner is a frozen dataclass with `learn(lesson)`. Its fitted model gives scores over the same output spaces as a
linear model, so that decisions, evaluation, explanations and model files do not depend on the learner.

    bayes/           naive Bayes, discriminant analysis and class frequencies, learned by counting
    neighbors/       nearest neighbors, nearest centroids, and the search for them
    kernel_methods/  perceptron, ridge, SVM and Gaussian process on similarities
    ensembles/       decision trees, random forests and boosting

To add a learner: a file with the learner and its fitted model, a row in `pipeline.learner.LEARNERS`, one in
`pipeline.bodies.MODELS`, an example in `tests/contracts/test_families.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.learners import bayes as bayes
    from linnaeus.learners import ensembles as ensembles
    from linnaeus.learners import kernel_methods as kernel_methods
    from linnaeus.learners import neighbors as neighbors


__getattr__, __dir__ = room(__name__)
