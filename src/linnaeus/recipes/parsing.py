"""Recipes for parsers; each is described in docs/parsing.md."""

from __future__ import annotations

from collections.abc import Callable

from linnaeus.features.arcs import Arcs
from linnaeus.learners.dependencies import Dependencies
from linnaeus.recipes.recipe import Recipe
from linnaeus.recipes.tuning import Tuning


def parser(learner: Dependencies, features: Arcs | None = None) -> Recipe:
    """A parser that is evaluated on a tenth of the sentences, which a second training does not see."""
    return Recipe(task="parse", features=features, learner=learner, tuning=Tuning(folds=1, share=0.1))


MAKERS: dict[str, Callable[[], Recipe]] = {
    "parse": lambda: parser(Dependencies()),
    "parse-fast": lambda: parser(Dependencies(), Arcs(second=())),
    "parse-any": lambda: parser(Dependencies(space="spanning")),
    "parse-crf": lambda: parser(Dependencies(loss="log"), Arcs(second=())),
}
"""What makes each recipe for parsers in `cookbook`."""
