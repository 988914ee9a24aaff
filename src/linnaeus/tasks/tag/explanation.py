"""Explain the tag of a token: what each feature and transition adds to the best tagging compared with the next best."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.data.sentences import Sentences
from linnaeus.errors import UsageError
from linnaeus.explain.explanation import Explanation, Reason, contrast_of
from linnaeus.explain.found import listed
from linnaeus.protocols import Occluded, has
from linnaeus.tasks.sentences import as_sentence
from linnaeus.types import Doubles, Ints

if TYPE_CHECKING:
    from linnaeus.model.model import Model
    from linnaeus.tasks.tag.task import Tag


class _Part(NamedTuple):
    """One feature or transition, at a token: what it adds to the chosen tagging, and to the rival one."""

    position: int
    name: str
    column: int
    chosen: float
    rival: float


def explain_tag(task: Tag, model: Model, sentence: list[str] | Sentences, position: int) -> Explanation:
    """Compare the best tagging of a sentence with the best one that has another tag at this position.

    The text is that of the tokens with spaces between them. The rival is the tag at this position in the other tagging;
    scores count what stands where the two taggings differ, and the contrast is the difference of their scores. Effects
    of features that are approximate do not add up to the score; the rest is its bias.
    """
    sentences = model.ready(as_sentence(sentence))
    tokens = sentences.lists()[0]
    if not 0 <= position < len(tokens):
        raise UsageError(f"There is no position {position}; the sentence has {len(tokens)} tokens, numbered from 0.")
    E, offsets, allowed = task.scores(model, sentences), np.array([0, len(tokens)]), task.rules(model)
    z = model.body.transitions.decode(E, offsets, allowed)
    said = task.answers_by_class(model, sentences.tokens.slice(position, 1))[0]
    other = E.copy()
    other[position, [answer == said[z[position]] for answer in said]] = -np.inf
    rival = model.body.transitions.decode(other, offsets, allowed)
    exact, own = not has(model.body, Occluded), _features(model, sentences, z, rival)
    parts = own + _transitions(model, z, rival)
    ends = np.cumsum([len(token) + 1 for token in tokens]).tolist()
    spans = [(end - 1 - len(token), end - 1) for token, end in zip(tokens, ends, strict=True)]
    names = [part.name if part.position == position else f"{part.name} at {tokens[part.position]}" for part in parts]
    places = [spans[part.position] for part in parts]
    found = listed(" ".join(tokens), names, [part.column for part in parts], np.ones(len(parts)), places)
    differ = np.flatnonzero(z != rival)
    reasons = []
    for tags, which in ((z, "chosen"), (rival, "rival")):
        amounts = np.array([getattr(part, which) for part in parts], np.float64)
        rest = 0.0 if exact else float(E[differ, tags[differ]].sum(dtype=np.float64) - amounts[: len(own)].sum())
        score = float(amounts.sum()) + rest
        reasons.append(Reason(said[tags[position]], score, rest, amounts, found, score))
    first, second = reasons
    contrast = contrast_of(first, second)
    return Explanation("tag", found, (first.name,), (first, second), contrast, exact=exact, at=spans[position])


def _features(model: Model, sentences: Sentences, z: Ints, rival: Ints) -> list[_Part]:
    return [
        _Part(part.position, part.name, part.column, float(part.amounts[z[t]]), float(part.amounts[rival[t]]))
        for t in np.flatnonzero(z != rival).tolist()
        for part in model.body.effects(model.features, sentences, t)
    ]


def _transitions(model: Model, z: Ints, rival: Ints) -> list[_Part]:
    """Transitions into tokens where the two taggings differ, or differ before; their columns follow the features."""
    found = []
    for t in range(len(z)):
        ours, theirs = _links(model, z, t), _links(model, rival, t)
        if any(a.name != b.name for a, b in zip(ours, theirs, strict=True)):
            found += ours + [part._replace(chosen=0.0, rival=part.chosen) for part in theirs]
    return found


def _links(model: Model, z: Ints, t: int) -> list[_Part]:
    """Each row of transitions that leads to token t."""
    tags = ["<s>", *(model.names[c] for c in z[: t + 1])]
    shared: Doubles = model.body.transitions.shared.astype(np.float64)
    return [
        _Part(t, " > ".join(tags[-2 - i :]), model.features.width + int(row), float(shared[row, z[t]]), 0.0)
        for i, row in enumerate(model.body.transitions.rows(z, t))
    ]
