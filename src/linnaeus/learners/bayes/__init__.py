"""Generative models: naive Bayes, discriminant analysis and the frequency classifier, learned by counting.

A learner is a frozen dataclass with `learn(lesson)`; its model keeps counts (`counts.py`) or means and variances
(`moments.py`), so that the models of two parts of the data can be merged into the model of all data. It computes
log-probabilities from them when it predicts.

    frequencies.py   the share of each class among the occurrences of a symbol
    multinomial.py   word counts with one word distribution for each class
    bernoulli.py     presence or absence of each word
    complement.py    word counts of all other classes
    gaussian.py      independent, normally distributed features
    discriminant.py  normal classes that share one covariance: linear
    quadratic.py     normal classes, each with its own covariance

To add a model: a file with the learner and the fitted piece (a model of counts only needs a row in
`countmodel.COUNTING`), a row in `learners.LEARNERS`, one in `learners.restore.MODELS`, an example in
`tests/contracts/test_families.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.learners.bayes.bernoulli import Bernoulli as Bernoulli
    from linnaeus.learners.bayes.complement import Complement as Complement
    from linnaeus.learners.bayes.countmodel import CountModel as CountModel
    from linnaeus.learners.bayes.counts import Counts as Counts
    from linnaeus.learners.bayes.counts import count as count
    from linnaeus.learners.bayes.discriminant import FittedDiscriminant as FittedDiscriminant
    from linnaeus.learners.bayes.discriminant import LinearDiscriminant as LinearDiscriminant
    from linnaeus.learners.bayes.frequencies import Frequencies as Frequencies
    from linnaeus.learners.bayes.gaussian import FittedGaussian as FittedGaussian
    from linnaeus.learners.bayes.gaussian import Gaussian as Gaussian
    from linnaeus.learners.bayes.moments import Moments as Moments
    from linnaeus.learners.bayes.multinomial import Multinomial as Multinomial
    from linnaeus.learners.bayes.quadratic import FittedQuadratic as FittedQuadratic
    from linnaeus.learners.bayes.quadratic import QuadraticDiscriminant as QuadraticDiscriminant


__getattr__, __dir__ = room(__name__)
