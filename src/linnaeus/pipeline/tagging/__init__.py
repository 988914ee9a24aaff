"""Taggers: a tag for each token of a sentence. Recipes, their training, and what they train.

    recipe.py       TagRecipe: templates, learner, encoding    learner.py    Chain, Greedy, BatchChain
    training.py     sentences to a model                       weights.py    weights, and how they find tags
    model.py        TagModel: tag, marginals, nbest, explain   encoding.py   BIO and BIOES, what may follow what
    explanation.py  why a token got its tag                    nbest.py      the best taggings of a sentence
    modelfile.py    manifest and tensors                       given.py      sentences as users give them
    cookbook.py     TAGGERS: recipes with names                tagger.py     Tagger: scikit-learn's face
    tables.py       the pieces by their plain names

To add a learner: a frozen dataclass with `learn_tags(X, y, k, seed, told)` that gives `ChainWeights`, a row in
`tables.TAG_LEARNERS`. To add a recipe: a row in `TAGGERS` and its section in docs/tagging.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.pipeline.tagging.cookbook import TAGGERS as TAGGERS
    from linnaeus.pipeline.tagging.cookbook import clustered as clustered
    from linnaeus.pipeline.tagging.cookbook import tag_recipe as tag_recipe
    from linnaeus.pipeline.tagging.learner import BatchChain as BatchChain
    from linnaeus.pipeline.tagging.learner import Chain as Chain
    from linnaeus.pipeline.tagging.learner import Greedy as Greedy
    from linnaeus.pipeline.tagging.model import TagModel as TagModel
    from linnaeus.pipeline.tagging.recipe import TagRecipe as TagRecipe
    from linnaeus.pipeline.tagging.tagger import Tagger as Tagger


__getattr__, __dir__ = room(__name__)
