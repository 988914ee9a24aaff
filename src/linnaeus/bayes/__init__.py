"""Generative models, learned by counting: how often each feature stands in each class, and what that makes likely.

A learner is a frozen dataclass with `learn(lesson)`; its model keeps counts (`counts.py`) or means and variances
(`moments.py`), so that two models of the halves of some data merge into the model of the whole, and turns them into
log-probabilities when it is asked.

    frequencies.py   how often a class was the answer where a symbol was seen
    multinomial.py   words drawn one by one from those of the class
    bernoulli.py     each word is in a text or not
    complement.py    what the words of all other classes do not look like
    gaussian.py      each feature is normally distributed, by itself
    discriminant.py  normal classes with one covariance: linear
    quadratic.py     normal classes with a covariance each

To add a model: a file with the learner and the fitted piece (what is counts only needs a row in
`countmodel.COUNTING`), a row in `pipeline.learner.LEARNERS`, one in `pipeline.bodies.MODELS`, an example in
`tests/contracts/test_families.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import lazily

if TYPE_CHECKING:
    from linnaeus.bayes.bernoulli import Bernoulli as Bernoulli
    from linnaeus.bayes.complement import Complement as Complement
    from linnaeus.bayes.countmodel import CountModel as CountModel
    from linnaeus.bayes.counts import Counts as Counts
    from linnaeus.bayes.counts import count as count
    from linnaeus.bayes.discriminant import FittedDiscriminant as FittedDiscriminant
    from linnaeus.bayes.discriminant import LinearDiscriminant as LinearDiscriminant
    from linnaeus.bayes.frequencies import Frequencies as Frequencies
    from linnaeus.bayes.gaussian import FittedGaussian as FittedGaussian
    from linnaeus.bayes.gaussian import Gaussian as Gaussian
    from linnaeus.bayes.moments import Moments as Moments
    from linnaeus.bayes.multinomial import Multinomial as Multinomial
    from linnaeus.bayes.quadratic import FittedQuadratic as FittedQuadratic
    from linnaeus.bayes.quadratic import QuadraticDiscriminant as QuadraticDiscriminant

_HOMES = {
    "Bernoulli": "bernoulli",
    "Complement": "complement",
    "CountModel": "countmodel",
    "Counts": "counts",
    "FittedDiscriminant": "discriminant",
    "FittedGaussian": "gaussian",
    "FittedQuadratic": "quadratic",
    "Frequencies": "frequencies",
    "Gaussian": "gaussian",
    "LinearDiscriminant": "discriminant",
    "Moments": "moments",
    "Multinomial": "multinomial",
    "QuadraticDiscriminant": "quadratic",
    "count": "counts",
}
"""Where each name lives; it is imported when it is asked for: a prediction loads its own model only."""

__all__ = [
    "Bernoulli",
    "Complement",
    "CountModel",
    "Counts",
    "FittedDiscriminant",
    "FittedGaussian",
    "FittedQuadratic",
    "Frequencies",
    "Gaussian",
    "LinearDiscriminant",
    "Moments",
    "Multinomial",
    "QuadraticDiscriminant",
    "count",
]

__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
