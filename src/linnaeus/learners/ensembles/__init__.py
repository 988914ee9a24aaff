"""Decision trees, random forests and boosting: many weak rules that vote or correct each other.

`trees.py` stores decision trees as flat arrays, which are checked when they are loaded, evaluates them, and converts
the trees of scikit-learn into such arrays; nothing is pickled. AdaBoost with stumps is implemented here: a
stump on the presence of a word is a weight, so its model is linear and easy to explain.

To add a learner: a file with the learner and the fitted piece, a row in `learners.LEARNERS`, one in
`learners.restore.MODELS`, an example in `tests/contracts/test_families.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.learners.ensembles.adaboost import AdaBoost as AdaBoost
    from linnaeus.learners.ensembles.adaboost import FittedAdaBoost as FittedAdaBoost
    from linnaeus.learners.ensembles.forest import FittedVotes as FittedVotes
    from linnaeus.learners.ensembles.forest import Forest as Forest
    from linnaeus.learners.ensembles.forest import Tree as Tree
    from linnaeus.learners.ensembles.gradient import FittedGradient as FittedGradient
    from linnaeus.learners.ensembles.gradient import GradientBoosting as GradientBoosting
    from linnaeus.learners.ensembles.trees import Trees as Trees


__getattr__, __dir__ = room(__name__)
