"""Explain the head of a token: what each feature of arcs adds to the best tree compared with the next best one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.data.sentences import Sentences
from linnaeus.errors import UsageError
from linnaeus.explain.explanation import Explanation, Reason, contrast_of
from linnaeus.explain.found import listed
from linnaeus.render.trees import tree_svg
from linnaeus.tasks.parse.task import with_read_columns
from linnaeus.tasks.sentences import as_sentence
from linnaeus.types import Doubles, Ints, Source

if TYPE_CHECKING:
    from linnaeus.model.model import Model
    from linnaeus.tasks.parse.task import Parse

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
    sentences = with_read_columns(model, model.ready(as_sentence(sentence).without_tags()))
    tokens = sentences.lists()[0]
    if not 0 <= position < len(tokens):
        raise UsageError(f"There is no position {position}; the sentence has {len(tokens)} tokens, numbered from 0.")
    S = task.scores(model, sentences)
    heads = model.space.decode(S[:, None])
    rival = _without(model, S, heads, position)
    relations, others = ([model.names[i] for i in task.relations(model, sentences, tree)] for tree in (heads, rival))
    parts = _differing(model, sentences, heads, rival)
    ends = np.cumsum([len(token) + 1 for token in tokens]).tolist()
    spans = [(end - 1 - len(token), end - 1) for token, end in zip(tokens, ends, strict=True)]
    names = [one.name if one.dependent == position else f"{one.name} at {tokens[one.dependent]}" for one in parts]
    columns, places = [one.column for one in parts], [spans[one.dependent] for one in parts]
    found = listed(" ".join(tokens), names, columns, np.ones(len(parts)), places)
    reasons = []
    own = (heads, relations, [one.chosen for one in parts])
    for tree, said, amounts in (own, (rival, others, [one.rival for one in parts])):
        score = float(sum(amounts))
        name = f"{_name_of(tokens, int(tree[position]))} ({said[position]})"
        reasons.append(Reason(name, score, 0.0, np.array(amounts, np.float64), found, score))
    first, second = reasons
    picture = tree_svg(tokens, heads.tolist(), relations, marked={position})
    shown = (first,) if len(tokens) == 1 else (first, second)
    contrast = contrast_of(*shown) if len(shown) == 2 else None
    return Explanation("arc", found, (first.name,), shown, contrast, at=spans[position], svg=picture)


def _name_of(tokens: list[str], head: int) -> str:
    """A head as it is said; of a word that stands there twice, with its number."""
    if not head:
        return ROOT
    word = tokens[head - 1]
    return f"{word} {head}" if tokens.count(word) > 1 else word


def _without(model: Model, S: Doubles, heads: Ints, position: int) -> Ints:
    """The best tree in which the token at this position has another head."""
    other = S.copy()
    other[position * (len(heads) + 1) + heads[position]] = -np.inf
    return model.space.decode(other[:, None])


def _differing(model: Model, sentences: Sentences, heads: Ints, rival: Ints) -> list[_Part]:
    """The features of the arcs that only one of the trees has."""
    table, W, tree = model.body.last_pass(model.features, sentences)

    def named(head: int, m: int) -> list[tuple[int, str]]:
        return table.named(sentences, head, m + 1, tree, model.names)

    found: list[_Part] = []
    for m in np.flatnonzero(heads != rival).tolist():
        found += [_Part(m, name, column, float(W[column]), 0.0) for column, name in named(int(heads[m]), m)]
        found += [_Part(m, name, column, 0.0, float(W[column])) for column, name in named(int(rival[m]), m)]
    return found
