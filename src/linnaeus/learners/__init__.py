"""Learners: a lesson in, a fitted model out.

A learner is a frozen dataclass with `learn(lesson)`. Its fitted model gives scores over the same output spaces as a
linear model, so that decisions, evaluation, explanations and model files do not depend on the learner.

    linear/          the linear engine: any loss, regularizer and optimizer
    chain/           chains of tags
    bayes/           naive Bayes, discriminant analysis and class frequencies, learned by counting
    neighbors/       nearest neighbors, nearest centroids, and the search for them
    kernel_methods/  perceptron, ridge, SVM and Gaussian process on similarities
    ensembles/       decision trees, random forests and boosting
    bag/             embedding bags: vectors of terms that are learned, pooled over a text (fastText)
    label_tree/      trees of linear rankers over very many labels
    fasttext/        classifiers that were read from files of fastText
    networks/        neural networks, trained by PyTorch; their predictions need none

To add a learner: a file with the learner and its fitted model, a row in `LEARNERS`, one in
`restore.MODELS`, an example in `tests/contracts/test_families.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.learners import bag as bag
    from linnaeus.learners import bayes as bayes
    from linnaeus.learners import chain as chain
    from linnaeus.learners import ensembles as ensembles
    from linnaeus.learners import fasttext as fasttext
    from linnaeus.learners import kernel_methods as kernel_methods
    from linnaeus.learners import label_tree as label_tree
    from linnaeus.learners import linear as linear
    from linnaeus.learners import neighbors as neighbors
    from linnaeus.learners import networks as networks


LEARNERS = Table(
    __name__,
    {
        "linear": "linear.learner.Linear",
        "frequencies": "bayes.naive_bayes.Frequencies",
        "multinomial": "bayes.naive_bayes.Multinomial",
        "bernoulli": "bayes.naive_bayes.Bernoulli",
        "complement": "bayes.naive_bayes.Complement",
        "gaussian": "bayes.gaussian.Gaussian",
        "linear_discriminant": "bayes.discriminant.LinearDiscriminant",
        "quadratic_discriminant": "bayes.discriminant.QuadraticDiscriminant",
        "neighbors": "neighbors.learner.Neighbors",
        "centroid": "neighbors.centroid.Centroid",
        "tree": "ensembles.forest.Tree",
        "forest": "ensembles.forest.Forest",
        "adaboost": "ensembles.adaboost.AdaBoost",
        "gradient_boosting": "ensembles.gradient.GradientBoosting",
        "kernel_perceptron": "kernel_methods.perceptron.KernelPerceptron",
        "averaged_kernel_perceptron": "kernel_methods.perceptron.AveragedKernelPerceptron",
        "kernel_ridge": "kernel_methods.ridge.KernelRidge",
        "kernel_svm": "kernel_methods.svm.KernelSVM",
        "bag": "bag.learner.EmbeddingBag",
        "label_tree": "label_tree.learner.LabelTree",
        "gaussian_process": "kernel_methods.gaussian_process.GaussianProcess",
        "network": "networks.learner.Network",
        "sequence_network": "networks.learner.SequenceNetwork",
    },
)
"""Every learner of rows by its plain name."""

IMPORTED = Table(__name__, {"fasttext": "fasttext.learner.FastText"})
"""Learners whose models come from a file of another program, and are not learned here."""

__getattr__, __dir__ = room(__name__)
