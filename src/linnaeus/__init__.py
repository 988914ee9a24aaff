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
    from linnaeus.data.grouping import read_groups as read_groups
    from linnaeus.data.groups import Groups as Groups
    from linnaeus.data.sentences import Sentences as Sentences
    from linnaeus.data.tagged import read_sentences as read_sentences
    from linnaeus.kernels import threads as threads
    from linnaeus.pipeline import AveragedPerceptron as AveragedPerceptron
    from linnaeus.pipeline import Classifier as Classifier
    from linnaeus.pipeline import LeastSquares as LeastSquares
    from linnaeus.pipeline import LinearClassifier as LinearClassifier
    from linnaeus.pipeline import LinearRegressor as LinearRegressor
    from linnaeus.pipeline import LinearSVM as LinearSVM
    from linnaeus.pipeline import LogisticRegression as LogisticRegression
    from linnaeus.pipeline import MatrixClassifier as MatrixClassifier
    from linnaeus.pipeline import MulticlassSVM as MulticlassSVM
    from linnaeus.pipeline import PassiveAggressive as PassiveAggressive
    from linnaeus.pipeline import Perceptron as Perceptron
    from linnaeus.pipeline import Recipe as Recipe
    from linnaeus.pipeline import Tagger as Tagger
    from linnaeus.pipeline import TagModel as TagModel
    from linnaeus.pipeline import TagRecipe as TagRecipe
    from linnaeus.pipeline import TextClassifier as TextClassifier
    from linnaeus.pipeline import TextRegressor as TextRegressor
    from linnaeus.pipeline.opening import load as load
    from linnaeus.pipeline.ranking import CandidateClassifier as CandidateClassifier
    from linnaeus.pipeline.ranking import Ranker as Ranker
    from linnaeus.pipeline.ranking import RankModel as RankModel
    from linnaeus.pipeline.ranking import RankRecipe as RankRecipe
    from linnaeus.pipeline.stack import StackModel as StackModel
    from linnaeus.pipeline.stack import StackRecipe as StackRecipe
    from linnaeus.pipeline.stack import Stage as Stage


__version__ = "0.1.0"


__getattr__, __dir__ = room(__name__)
