"""Training of taggers with progress, and an honest account: sentences held out from a training of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.evaluation.tagging import TagScores
    from linnaeus.pipeline.tagging.model import TagModel

SHARE = 0.1
"""What is held out."""


def fit(recipe: Any, sentences: Sentences, options: dict[str, Any], phase: str = "training") -> TagModel:
    """Train, and say how far it is."""
    from linnaeus.cli.progress import Mark, open_progress

    with open_progress(options["quiet"]) as progress:
        model: TagModel = recipe.fit(sentences, lambda note: progress(Mark(phase, note=note)))
    return model


def scores(recipe: Any, sentences: Sentences, options: dict[str, Any]) -> TagScores | None:
    """How good a model of nine tenths of the sentences is on the others; whole documents, where there are any."""
    from linnaeus.data.split import holdout

    groups = None
    if sentences.docs is not None and sentences.docs.null_count < len(sentences):
        groups = np.unique(np.array(sentences.docs.to_pylist(), dtype=str), return_inverse=True)[1]
    if len(sentences) < 20 or (groups is not None and groups.max() < 9):
        return None
    split = holdout(len(sentences), share=SHARE, seed=recipe.seed, groups=groups)
    model = fit(recipe, sentences.take(split.train), options, "training to judge")
    return model.test(sentences.take(split.test))
