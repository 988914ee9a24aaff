"""Explain the tag of a token: what each feature and transition adds to the best tagging compared with the next best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.tasks.tag.sentences import as_sentence

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.model.tagger import TagModel
    from linnaeus.types import Doubles, Ints


@dataclass(frozen=True)
class TagReason:
    """One feature or transition, at a token: what it adds to the chosen tagging, and to the rival one."""

    position: int
    name: str
    chosen: float
    rival: float

    @property
    def difference(self) -> float:
        """How much it favors the chosen tag."""
        return self.chosen - self.rival


@dataclass(frozen=True)
class TagExplanation:
    """The chosen tag of a token, and its rival: the tag it has in the best tagging that differs there.

    `margin` is the difference of the scores of the two taggings, and the sum of the differences of all `reasons`.
    """

    token: str
    tag: str
    rival: str
    margin: float
    tags: list[str]
    rivals: list[str]
    reasons: list[TagReason]


def explain_tag(model: TagModel, sentence: list[str] | Sentences, position: int) -> TagExplanation:
    """Compare the best tagging of a sentence with the best one that has another tag at this position."""
    sentences = as_sentence(sentence)
    tokens = sentences.lists()[0]
    if not 0 <= position < len(tokens):
        raise UsageError(f"There is no position {position}; the sentence has {len(tokens)} tokens, numbered from 0.")
    E, offsets = model.scores(sentences), np.array([0, len(tokens)])
    z = model.weights.decode(E, offsets, model.allowed)
    other = E.copy()
    other[position, z[position]] = -np.inf
    rival = model.weights.decode(other, offsets, model.allowed)
    names = [str(tag) for tag in model.tags]
    reasons = _features(model, sentences, z, rival) + _transitions(model, z, rival)
    margin = sum(reason.difference for reason in reasons)
    reasons.sort(key=lambda reason: (-abs(reason.difference), reason.position, reason.name))
    tags, rivals = [names[c] for c in z], [names[c] for c in rival]
    return TagExplanation(tokens[position], tags[position], rivals[position], margin, tags, rivals, reasons)


def _features(model: TagModel, sentences: Sentences, z: Ints, rival: Ints) -> list[TagReason]:
    W = model.weights.W
    return [
        TagReason(t, name, float(W[column, z[t]]), float(W[column, rival[t]]))
        for t in np.flatnonzero(z != rival).tolist()
        for column, name in model.features.named(sentences, t)
    ]


def _transitions(model: TagModel, z: Ints, rival: Ints) -> list[TagReason]:
    """Transitions into tokens where the two taggings differ, or differ before."""
    found = []
    for t in range(len(z)):
        ours, theirs = _links(model, z, t), _links(model, rival, t)
        if any(a != b for (a, _), (b, _) in zip(ours, theirs, strict=True)):
            found += [TagReason(t, name, value, 0.0) for name, value in ours]
            found += [TagReason(t, name, 0.0, value) for name, value in theirs]
    return found


def _links(model: TagModel, z: Ints, t: int) -> list[tuple[str, float]]:
    """Name and score of each row of transitions that leads to token t."""
    tags = ["<s>", *(model.tags[c] for c in z[: t + 1])]
    shared: Doubles = model.weights.shared.astype(np.float64)
    return [(" > ".join(tags[-2 - i :]), float(shared[row, z[t]])) for i, row in enumerate(model.weights.rows(z, t))]
