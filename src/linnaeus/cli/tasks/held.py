"""Training of taggers with progress, and their evaluation on held-out sentences by a second training."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.evaluation import Evaluation
    from linnaeus.model.tagger import TagModel

SHARE = 0.1
"""The share that is held out."""


def fit(recipe: Any, sentences: Sentences, options: dict[str, Any], name: str = "") -> TagModel:
    """Train, and say how far it is; `name` says what the training is for."""
    from linnaeus.cli.progress import open_progress, phase_mark

    with open_progress(options["quiet"]) as progress:
        model: TagModel = recipe.fit(sentences, lambda phase: progress(phase_mark(phase, name)))
    return model


def scores(recipe: Any, sentences: Sentences, options: dict[str, Any]) -> Evaluation | None:
    """Evaluate a model trained on nine tenths of the sentences on the others; documents are kept whole.

    Equal sentences are held out together; if many are repeated, those that occur once are also evaluated separately.
    """
    from linnaeus.data.split import MANY, holdout, kept_together, repeated
    from linnaeus.tasks.keys import sentence_keys

    groups = None
    if sentences.docs is not None and sentences.docs.null_count < len(sentences):
        groups = np.unique(np.array(sentences.docs.to_pylist(), dtype=str), return_inverse=True)[1]
    keys = sentence_keys(sentences)
    groups = kept_together(keys, groups, part=SHARE * len(sentences))
    if len(sentences) < 20 or (groups is not None and groups.max() < 9):
        return None
    split = holdout(len(sentences), share=SHARE, seed=recipe.seed, groups=groups)
    model = fit(recipe, sentences.take(split.train), options, "held-out sentences")
    several = repeated(keys)
    once = split.test[~several[split.test]]
    apart = several.mean() > MANY and len(once) > 0
    return replace(model.test(sentences.take(split.test)), once=model.test(sentences.take(once)) if apart else None)
