"""Trees and boosting: many weak rules, each a question about a few features, that vote or correct each other.

`trees.py` has the one way to keep and to walk decision trees: flat arrays, checked when they are loaded. What
scikit-learn grows becomes such arrays in `grown.py`; nothing of it is pickled. AdaBoost of stumps is our own: a stump
on the presence of a word is a weight, so its model is linear and explains itself.

To add a learner: a file with the learner and the fitted piece, a row in `pipeline.learner.LEARNERS`, one in
`pipeline.bodies.MODELS`, an example in `tests/contracts/test_families.py`.
"""

from linnaeus.ensembles.adaboost import AdaBoost, FittedAdaBoost
from linnaeus.ensembles.forest import Forest, Tree
from linnaeus.ensembles.gradient import FittedGradient, GradientBoosting
from linnaeus.ensembles.trees import Trees
from linnaeus.ensembles.votes import FittedVotes

__all__ = [
    "AdaBoost",
    "FittedAdaBoost",
    "FittedGradient",
    "FittedVotes",
    "Forest",
    "GradientBoosting",
    "Tree",
    "Trees",
]
