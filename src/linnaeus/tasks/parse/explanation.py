"""Explain the head of a token: what each feature of arcs adds to the best tree compared with the next best one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.explain.explanation import Explanation, Reason, contrast_of
from linnaeus.explain.found import listed
from linnaeus.render.trees import tree_svg
from linnaeus.tasks.sentences import as_sentence

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.model.model import Model
    from linnaeus.tasks.parse.task import Parse
    from linnaeus.types import Doubles, Ints, Source

ROOT = "the root"


class _Part(NamedTuple):
    """One feature of an arc: the token that it leads to, the column, and what it adds to the best and the next tree."""

    dependent: int
    name: str
    column: int
    chosen: float
    rival: float


def explain_arc(task: Parse, model: Model, sentence: Source, position: int) -> Explanation:
    """Compare the best tree of a sentence with the best one in which the token at this position has another head.

    The text is that of the tokens with spaces between them. Scores count the arcs in which the two trees differ. Of a
    parser with two passes, the second one is explained, with the tree that the first one gave it.
    """
    sentences: Sentences = model.ready(as_sentence(sentence))
    tokens = sentences.lists()[0]
    if not 0 <= position < len(tokens):
        raise UsageError(f"There is no position {position}; the sentence has {len(tokens)} tokens, numbered from 0.")
    S = task.scores(model, sentences)
    heads = model.space.decode(S[:, None])
    relations = [model.names[i] for i in task.relations(model, sentences, heads)]
    rival = _without(model, S, heads, position)
    parts = _differing(model, sentences, heads, rival)
    ends = np.cumsum([len(token) + 1 for token in tokens]).tolist()
    spans = [(end - 1 - len(token), end - 1) for token, end in zip(tokens, ends, strict=True)]
    names = [one.name if one.dependent == position else f"{one.name} at {tokens[one.dependent]}" for one in parts]
    columns, places = [one.column for one in parts], [spans[one.dependent] for one in parts]
    found = listed(" ".join(tokens), names, columns, np.ones(len(parts)), places)
    reasons = []
    for tree, amounts in ((heads, [one.chosen for one in parts]), (rival, [one.rival for one in parts])):
        score = float(sum(amounts))
        name = _name_of(tokens, int(tree[position]))
        reasons.append(Reason(name, score, 0.0, np.array(amounts, np.float64), found, score))
    first, second = reasons
    picture = tree_svg(tokens, heads.tolist(), relations, marked={position})
    said, alone = f"{first.name} ({relations[position]})", len(tokens) == 1
    contrast = None if alone else contrast_of(first, second)
    shown = (first,) if alone else (first, second)
    return Explanation("arc", found, (said,), shown, contrast, at=spans[position], svg=picture)


def _name_of(tokens: list[str], head: int) -> str:
    """A head as it is said; of a word that stands there twice, with its number."""
    if not head:
        return ROOT
    word = tokens[head - 1]
    return f"{word} ({head})" if tokens.count(word) > 1 else word


def _without(model: Model, S: Doubles, heads: Ints, position: int) -> Ints:
    """The best tree in which the token at this position has another head."""
    other = S.copy()
    other[position * (len(heads) + 1) + heads[position]] = -np.inf
    found: Ints = model.space.decode(other[:, None])
    return found


def _differing(model: Model, sentences: Sentences, heads: Ints, rival: Ints) -> list[_Part]:
    """The features of the arcs that only one of the trees has."""
    table, W, tree = model.body.last_pass(model.features, sentences)
    found: list[_Part] = []
    for m in np.flatnonzero(heads != rival).tolist():
        for column, name in table.named(sentences, int(heads[m]), m + 1, tree):
            found.append(_Part(m, name, column, float(W[column]), 0.0))
        for column, name in table.named(sentences, int(rival[m]), m + 1, tree):
            found.append(_Part(m, name, column, 0.0, float(W[column])))
    return found
