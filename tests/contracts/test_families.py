"""Every learner that enters at scores: it learns, scores, saves, loads, and gives the same bits again."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

from linnaeus import Recipe
from linnaeus.features import Letters, Reduced, Words, WordSequence
from linnaeus.learners import IMPORTED, LEARNERS
from linnaeus.learners.bag import EmbeddingBag
from linnaeus.learners.bayes import (
    Bernoulli,
    Complement,
    Frequencies,
    Gaussian,
    LinearDiscriminant,
    Multinomial,
    QuadraticDiscriminant,
)
from linnaeus.learners.ensembles import AdaBoost, Forest, GradientBoosting, Tree
from linnaeus.learners.kernel_methods import (
    AveragedKernelPerceptron,
    GaussianProcess,
    KernelPerceptron,
    KernelRidge,
    KernelSVM,
)
from linnaeus.learners.label_tree import LabelTree
from linnaeus.learners.neighbors import Centroid, Neighbors
from linnaeus.learners.networks import Convolution, Network, SequenceNetwork
from linnaeus.learners.restore import MODELS
from linnaeus.model.model import Model
from linnaeus.recipes.tuning import Tuning
from linnaeus.similarities import RBF, Polynomial, Subsequence

FAMILIES = {
    "frequencies": Recipe(features=Words(), learner=Frequencies(smoothing=0.1)),
    "multinomial": Recipe(features=Words(), learner=Multinomial()),
    "bernoulli": Recipe(features=Words(), learner=Bernoulli()),
    "complement": Recipe(features=Words(), learner=Complement()),
    "gaussian": Recipe(features=Words(), learner=Gaussian(smoothing=0.1)),
    "linear_discriminant": Recipe(features=Reduced(Words(), width=8), learner=LinearDiscriminant(shrinkage="auto")),
    "quadratic_discriminant": Recipe(features=Reduced(Words(), width=4), learner=QuadraticDiscriminant(shrinkage=0.5)),
    "neighbors": Recipe(features=Words(), learner=Neighbors(k=3)),
    "centroid": Recipe(features=Words(), learner=Centroid()),
    "tree": Recipe(features=Words(values="binary"), learner=Tree()),
    "forest": Recipe(features=Words(values="binary"), learner=Forest(trees=20)),
    "adaboost": Recipe(features=Words(values="binary"), learner=AdaBoost(rounds=20)),
    "gradient_boosting": Recipe(features=Words(values="binary"), learner=GradientBoosting(rounds=10)),
    "kernel_perceptron": Recipe(features=Words(), learner=KernelPerceptron(kernel=Polynomial(2))),
    "averaged_kernel_perceptron": Recipe(features=Words(), learner=AveragedKernelPerceptron(kernel="linear")),
    "kernel_ridge": Recipe(features=Words(), learner=KernelRidge(kernel="rbf", strength=0.1)),
    "kernel_svm": Recipe(features=Letters(), learner=KernelSVM(kernel=Subsequence(2), strength=0.1)),
    "bag": Recipe(features=Words(), learner=EmbeddingBag(width=5)),
    "gaussian_process": Recipe(features=Words(), learner=GaussianProcess(kernel=RBF(0.5))),
    "label_tree": Recipe(features=Words(), learner=LabelTree(leaf=1)),
}
"""A recipe for each learner."""
NEURAL = {
    "network": Recipe(features=Words(), learner=Network(hidden=(8,), rate=0.02, dropout=0.1, epochs=15, batch=8)),
    "sequence_network": Recipe(
        features=WordSequence(),
        learner=SequenceNetwork(encoder=Convolution(width=8, widths=(1, 2), filters=8), rate=0.02, epochs=15, batch=8),
    ),
}
"""Those that PyTorch trains."""
MISSING = set() if importlib.util.find_spec("torch") else set(NEURAL)
"""Learners that are not tested, because PyTorch is not installed."""
FAMILIES |= {name: recipe for name, recipe in NEURAL.items() if name not in MISSING}

WORDS = {"fruit": ("apple", "pear", "plum"), "metal": ("iron", "zinc", "lead"), "tree": ("oak", "elm", "ash")}


def rows(classes: int, count: int = 12) -> list[tuple[str, str]]:
    rng = np.random.default_rng(0)
    names = list(WORDS)[:classes]
    found = []
    for i in range(count * classes):
        name = names[i % classes]
        found.append((" ".join([*rng.choice(WORDS[name], 3), *rng.choice(["a", "the", "one"], 2)]), name))
    return found


def test_every_learner_and_every_model_is_here():
    assert set(FAMILIES) == set(LEARNERS) - {"linear"} - MISSING
    assert set(MODELS) - {"chain", "dependencies", "tag_network", *IMPORTED} - ({"network"} if MISSING else set()) == {
        recipe.fit(rows(2)).body.state().manifest["kind"] for recipe in FAMILIES.values()
    }


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", FAMILIES)
def test_it_learns_saves_and_loads(name, classes, tmp_path):
    model = FAMILIES[name].fit(rows(classes))
    texts = ["apple and plum", "the zinc", "one oak, an elm", "", "unknown things"][: classes + 2]
    assert model.predict(texts[:2]).tolist() == ["fruit", "metal"]
    P = model.probabilities(texts)
    assert np.allclose(P.sum(axis=1), 1)
    assert (P >= 0).all()
    model.save(tmp_path / "m.lin")
    again = Model.load(tmp_path / "m.lin")
    assert np.array_equal(model.scores(texts), again.scores(texts))
    assert np.array_equal(P, again.probabilities(texts))
    assert again.recipe == model.recipe
    again.save(tmp_path / "n.lin")
    assert (tmp_path / "m.lin").read_bytes() == (tmp_path / "n.lin").read_bytes()


@pytest.mark.parametrize("name", FAMILIES)
def test_tuned_it_judges_itself_on_held_out_rows(name):
    model = replace(FAMILIES[name], tuning=Tuning(folds=3)).fit(rows(3))
    assert model.evaluation is not None
    assert model.evaluation.metrics["accuracy"] > 0.9


@pytest.mark.parametrize("name", FAMILIES)
def test_label_sets(name):
    if "sets" not in FAMILIES[name].learner.answers:
        pytest.skip("learns no label sets")
    data = [(text, [label]) for text, label in rows(3)] + [("apple iron", ["fruit", "metal"])] * 4
    model = FAMILIES[name].fit(data)
    assert "fruit" in model.predict(["apple plum pear"])[0]
