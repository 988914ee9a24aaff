"""Explanations of classifiers: contributions, character by character."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import explain as room
from linnaeus.tasks.classify.answers import chosen, known
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.data import Batch
    from linnaeus.explain import Explanation
    from linnaeus.model.model import Model
    from linnaeus.types import Doubles

NEIGHBORS = 5
"""Training texts that an explanation shows."""


def reasons(model: Model, row: Batch, classes: Any, search: Any) -> Explanation:
    """They are exact if the model is linear in the contents of the text, else approximate, word by word."""
    how = room.Search() if search == "default" else search
    whole = not model.params or model.opaque
    local = room.local(row, model.features, model.raw_scores, model.space, model.names) if whole else model.linear
    near = None if model.kept is None else lambda row: model.search(row, NEIGHBORS)[0]
    found = room.explain(row, local, tuple(classes), how, near, lambda S, rows: _decoded(model, S, rows))
    if model.decision is None:
        return found
    return found.with_probabilities(
        dict(zip(model.names, model.task.probabilities(model, row)[0].tolist(), strict=True))
    )


def _decoded(model: Model, S: Doubles, rows: Batch) -> Any:
    """The answers to raw scores of these rows, as `explain` asks for them."""
    K = model.class_scores(S)
    if model.classes is None:
        return K
    found = chosen(model, K, known=known(model, rows))
    if not isinstance(found, LabelSets):
        return found
    given = np.zeros((len(found), len(model.classes)), bool)
    given[np.repeat(np.arange(len(found)), np.diff(found.offsets)), found.labels] = True
    return given
