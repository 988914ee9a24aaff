"""Fitted models of the families that enter at scores: counting, neighbors, kernels, trees; what output spaces see."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnaeus.arrays.linear import stored
from linnaeus.errors import damaged
from linnaeus.lazy import Table
from linnaeus.protocols import Model, OneScore, SpaceScores, has
from linnaeus.types import Doubles, Floats, State

MODELS = Table(
    "linnaeus",
    {
        "frequencies": "learners.bayes.counts.CountModel",
        "multinomial": "learners.bayes.counts.CountModel",
        "bernoulli": "learners.bayes.counts.CountModel",
        "complement": "learners.bayes.counts.CountModel",
        "gaussian": "learners.bayes.gaussian.FittedGaussian",
        "linear_discriminant": "learners.bayes.discriminant.FittedDiscriminant",
        "quadratic_discriminant": "learners.bayes.discriminant.FittedQuadratic",
        "neighbors": "learners.neighbors.learner.FittedNeighbors",
        "centroid": "learners.neighbors.centroid.FittedCentroid",
        "votes": "learners.ensembles.forest.FittedVotes",
        "adaboost": "learners.ensembles.adaboost.FittedAdaBoost",
        "gradient_boosting": "learners.ensembles.gradient.FittedGradient",
        "expansion": "learners.kernel_methods.expansion.Expansion",
        "process": "learners.kernel_methods.gaussian_process.FittedProcess",
        "bag": "learners.bag.fitted.FittedBag",
        "network": "learners.networks.fitted.FittedNetwork",
        "chain": "learners.chain.weights.ChainWeights",
        "tag_network": "learners.networks.fitted_tagger.FittedTagNetwork",
        "dependencies": "learners.dependencies.weights.TreeWeights",
        "label_tree": "learners.label_tree.fitted.FittedLabels",
        "fasttext": "learners.fasttext.fitted.FittedFastText",
    },
)
"""What restores a model of each kind, with `from_state`."""

LATER = Table("linnaeus", {"label_tree": "learners.label_tree.fitted.checked_later"})
"""Of some kinds: which tensors of a large file are checked when they are used, by its manifest."""


def scores_of(model: Model, X: Any, space: Any) -> Doubles:
    """The score columns of the output space (n, w): of two classes the difference."""
    S = model.scores(X)
    return S[:, 1:] - S[:, :1] if has(space, OneScore) and not has(model, SpaceScores) else S


def weights_of(model: Model, space: Any) -> dict[str, Floats]:
    """The float32 weights of a model that is linear, in the columns of the output space; nothing of others."""
    found = model.linear()
    if found is None:
        return {}
    W, b = found
    if has(space, OneScore) and not has(model, SpaceScores):
        W, b = W[:, 1:] - W[:, :1], b[1:] - b[:1]
    return stored({"W": np.ascontiguousarray(W), "b": b})


def model_of(state: State) -> Model:
    """The model of a state; a kind that is not known is refused."""
    kind = str(state.manifest.get("kind"))
    if kind not in MODELS:
        raise damaged(f"its model is of an unknown kind {kind!r}")
    return MODELS[kind].from_state(state)
