"""Linnaeus turns labeled text into a classifier that you can train in seconds, trust, explain and deploy.

Start with `TextClassifier` or `TextRegressor`; `read` and `Recipe` do the same step by step.

This file lists every public name. A name is imported when it is first used, so that `import linnaeus` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus import audit as audit
    from linnaeus import data as data
    from linnaeus import datasets as datasets
    from linnaeus import decision as decision
    from linnaeus import embeddings as embeddings
    from linnaeus import erm as erm
    from linnaeus import errors as errors
    from linnaeus import evaluation as evaluation
    from linnaeus import explain as explain
    from linnaeus import features as features
    from linnaeus import gallery as gallery
    from linnaeus import learners as learners
    from linnaeus import losses as losses
    from linnaeus import optimizers as optimizers
    from linnaeus import outputs as outputs
    from linnaeus import regularizers as regularizers
    from linnaeus import similarities as similarities
    from linnaeus import store as store
    from linnaeus import text as text
    from linnaeus.data import Batch as Batch
    from linnaeus.data import Corpus as Corpus
    from linnaeus.data import read as read
    from linnaeus.data.group_reading import read_groups as read_groups
    from linnaeus.data.groups import Groups as Groups
    from linnaeus.data.sentence_reading import read_sentences as read_sentences
    from linnaeus.data.sentences import Sentences as Sentences
    from linnaeus.estimators.linear import LinearClassifier as LinearClassifier
    from linnaeus.estimators.matrix import MatrixClassifier as MatrixClassifier
    from linnaeus.estimators.named import AveragedPerceptron as AveragedPerceptron
    from linnaeus.estimators.named import LeastSquares as LeastSquares
    from linnaeus.estimators.named import LinearSVM as LinearSVM
    from linnaeus.estimators.named import LogisticRegression as LogisticRegression
    from linnaeus.estimators.named import MulticlassSVM as MulticlassSVM
    from linnaeus.estimators.named import PassiveAggressive as PassiveAggressive
    from linnaeus.estimators.named import Perceptron as Perceptron
    from linnaeus.estimators.ranker import CandidateClassifier as CandidateClassifier
    from linnaeus.estimators.ranker import Ranker as Ranker
    from linnaeus.estimators.regressor import LinearRegressor as LinearRegressor
    from linnaeus.estimators.tagger import Tagger as Tagger
    from linnaeus.estimators.text import TextClassifier as TextClassifier
    from linnaeus.estimators.text import TextRegressor as TextRegressor
    from linnaeus.kernels import threads as threads
    from linnaeus.model.fasttext import import_fasttext as import_fasttext
    from linnaeus.model.file import load as load
    from linnaeus.model.model import Model as Model
    from linnaeus.recipes.cookbook import recipe as recipe
    from linnaeus.recipes.recipe import Recipe as Recipe
    from linnaeus.recipes.recipe import Stage as Stage
    from linnaeus.tasks import Classify as Classify
    from linnaeus.tasks import Parse as Parse
    from linnaeus.tasks import Rank as Rank
    from linnaeus.tasks import Regress as Regress
    from linnaeus.tasks import Tag as Tag


__version__ = "0.1.0"


__getattr__, __dir__ = room(__name__)
