"""Learning to choose: examples that bring their own candidates, ranked by one set of weights.

`RankRecipe.fit(groups)` gives a `RankModel`, which ranks, predicts, explains, tests and saves itself; `RANKERS` are
ready recipes. `Ranker` and `CandidateClassifier` are the scikit-learn faces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.pipeline.ranking.cookbook import RANKERS as RANKERS
    from linnaeus.pipeline.ranking.face import CandidateClassifier as CandidateClassifier
    from linnaeus.pipeline.ranking.face import Ranker as Ranker
    from linnaeus.pipeline.ranking.model import RankModel as RankModel
    from linnaeus.pipeline.ranking.recipe import RankRecipe as RankRecipe


__getattr__, __dir__ = room(__name__)
