"""Generative models: naive Bayes, discriminant analysis and the frequency classifier, learned by counting.

A learner is a frozen dataclass with `learn(lesson)`; its model keeps counts (`counts.py`) or means and variances
(`gaussian.py`), so that the models of two parts of the data can be merged into the model of all data. It computes
log-probabilities from them when it predicts.

    naive_bayes.py   `Frequencies`: the share of each class among the occurrences of a symbol; `Multinomial`:
                     word counts with one word distribution for each class; `Bernoulli`: presence of each word;
                     `Complement`: word counts of all other classes
    gaussian.py      independent, normally distributed features
    discriminant.py  normal classes that share one covariance (linear), or have one each (quadratic)

To add a model: the learner and the fitted piece (a learner that derives from `counts.Counting` needs none), a row in
`learners.LEARNERS`, one in `learners.restore.MODELS`, an example in `tests/contracts/test_families.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.learners.bayes.counts import CountModel as CountModel
    from linnaeus.learners.bayes.counts import Counts as Counts
    from linnaeus.learners.bayes.counts import count as count
    from linnaeus.learners.bayes.discriminant import FittedDiscriminant as FittedDiscriminant
    from linnaeus.learners.bayes.discriminant import FittedQuadratic as FittedQuadratic
    from linnaeus.learners.bayes.discriminant import LinearDiscriminant as LinearDiscriminant
    from linnaeus.learners.bayes.discriminant import QuadraticDiscriminant as QuadraticDiscriminant
    from linnaeus.learners.bayes.gaussian import FittedGaussian as FittedGaussian
    from linnaeus.learners.bayes.gaussian import Gaussian as Gaussian
    from linnaeus.learners.bayes.gaussian import Moments as Moments
    from linnaeus.learners.bayes.naive_bayes import Bernoulli as Bernoulli
    from linnaeus.learners.bayes.naive_bayes import Complement as Complement
    from linnaeus.learners.bayes.naive_bayes import Frequencies as Frequencies
    from linnaeus.learners.bayes.naive_bayes import Multinomial as Multinomial


__getattr__, __dir__ = room(__name__)
