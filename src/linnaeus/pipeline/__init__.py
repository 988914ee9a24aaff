"""Where the pieces meet: recipes and what they train, and scikit-learn's faces of both.

A `Recipe` is the whole experiment as data; its `fit` gives a `Classifier`, which predicts, evaluates, explains and
saves itself. `TextClassifier` and `TextRegressor` are its scikit-learn faces. `LinearClassifier` and `LinearRegressor`
take any pieces on matrices; the named methods (`named.py`) are documented recipes of pieces, and their `composed()`
shows which. Faces load scikit-learn when they are first asked for; recipes do not need it.

To add a method on matrices: a dataclass whose fields are its knobs, with `composed()`, and a row in `faces.FACES`; the
checks of scikit-learn then run over it. To add a recipe: a row in `cookbook.RECIPES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.pipeline.classifier import Classifier as Classifier
    from linnaeus.pipeline.compact import Compact as Compact
    from linnaeus.pipeline.cookbook import RECIPES as RECIPES
    from linnaeus.pipeline.estimator import TextClassifier as TextClassifier
    from linnaeus.pipeline.estimator import TextRegressor as TextRegressor
    from linnaeus.pipeline.faces import FACES as FACES
    from linnaeus.pipeline.learner import Linear as Linear
    from linnaeus.pipeline.linear import LinearClassifier as LinearClassifier
    from linnaeus.pipeline.matrix import MatrixClassifier as MatrixClassifier
    from linnaeus.pipeline.named import AveragedPerceptron as AveragedPerceptron
    from linnaeus.pipeline.named import LeastSquares as LeastSquares
    from linnaeus.pipeline.named import LinearSVM as LinearSVM
    from linnaeus.pipeline.named import LogisticRegression as LogisticRegression
    from linnaeus.pipeline.named import MulticlassSVM as MulticlassSVM
    from linnaeus.pipeline.named import PassiveAggressive as PassiveAggressive
    from linnaeus.pipeline.named import Perceptron as Perceptron
    from linnaeus.pipeline.prediction import Prediction as Prediction
    from linnaeus.pipeline.recipe import Recipe as Recipe
    from linnaeus.pipeline.regressor import LinearRegressor as LinearRegressor
    from linnaeus.pipeline.tagging import Tagger as Tagger
    from linnaeus.pipeline.tagging import TagModel as TagModel
    from linnaeus.pipeline.tagging import TagRecipe as TagRecipe
    from linnaeus.pipeline.tuning import Tuning as Tuning
    from linnaeus.pipeline.warned import NotConverged as NotConverged


__getattr__, __dir__ = room(__name__)
