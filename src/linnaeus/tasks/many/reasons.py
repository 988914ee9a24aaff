"""Why a label is the best of very many: the words that chose each branch on the path to it, and the label itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.explain.explanation import Explanation, Reason, contrast_of
from linnaeus.explain.found import Found, find
from linnaeus.learners.label_tree.chunks import Chunks
from linnaeus.learners.label_tree.fitted import FittedLabels
from linnaeus.tasks.many.answers import best, decide
from linnaeus.types import Doubles, Ints, Label, LabelSets, Longs

if TYPE_CHECKING:
    from linnaeus.data import Batch
    from linnaeus.explain.models import Kind
    from linnaeus.model.model import Model

SHOWN = 3
"""Labels that a branch is named by."""


def explained(model: Model, row: Batch, classes: Sequence[Label]) -> Explanation:
    """The explanation of the best label, or of those predicted: exact contributions of words on each step of the path.

    Of several trees the first is explained.
    """
    body: FittedLabels = model.body
    found, answer = find(model.features, row), best(model, row, 2)
    decided = decide(model, answer)
    sets = isinstance(decided, LabelSets)
    every = decided.labels.tolist() if isinstance(decided, LabelSets) else decided.tolist()
    chosen = [label for label in every if label >= 0]
    others = [label for label in answer.labels[0].tolist() if label >= 0 and label not in chosen][:1]
    asked = body.names.find(classes).tolist()
    for name, label in zip(classes, asked, strict=True):
        if label < 0:
            raise UsageError(f"The model has no label {str(name)!r}; `linnaeus inspect` says how many it has.")
    chances = dict(zip(answer.labels[0].tolist(), answer.chances[0].tolist(), strict=True))
    labels = dict.fromkeys([*chosen, *others, *asked])
    reasons = [_leaf(body, found, label, chances.get(label)) for label in labels]
    branches = [] if not chosen else _branches(body, found, chosen[0])
    contrast = contrast_of(reasons[0], reasons[1]) if len(reasons) > 1 else None
    predicted = tuple(str(body.names[label]) for label in chosen)
    kind: Kind = "many" if sets else "one"
    exact = len(body.trees) == 1
    return Explanation(kind, found, predicted, tuple(reasons), contrast, exact=exact, path=tuple(branches))


def _leaf(body: FittedLabels, found: Found, label: int, chance: float | None) -> Reason:
    return _reason(body, found, path_to(body.labeled[0], label)[-1], str(body.names[label]), chance)


def _branches(body: FittedLabels, found: Found, label: int) -> list[Reason]:
    """The steps that lead to the node of the label, from the root."""
    tree = body.labeled[0]
    steps = path_to(tree, label)[:-1]
    told = []
    for step in steps:
        node = int(tree.targets[step[1]])
        if body.nodes:
            told.append(_reason(body, found, step, body.nodes[node], None))
            continue
        inside = below(tree, node)
        most = inside[np.argsort(-body.counts[inside], kind="stable")[:SHOWN]]
        names = ", ".join(str(body.names[int(one)]) for one in most)
        more = f" and {len(inside) - len(most):,} more" if len(inside) > len(most) else ""
        told.append(_reason(body, found, step, f"{names}{more}", None))
    return told


def _reason(body: FittedLabels, found: Found, step: tuple[int, int], name: str, chance: float | None) -> Reason:
    node, child = step
    tree = body.sound(node)
    weights = weights_of(tree, node, child, found.columns)
    bias = float(tree.biases[child])
    score = bias + float(found.values @ weights)
    return Reason(name, score, bias, weights, found, score, probability=chance)


def path_to(tree: Chunks, label: int) -> list[tuple[int, int]]:
    """The nodes from the root to a label, each with the child that leads on.

    A label that stands in several places is looked for in the first.
    """
    steps: list[tuple[int, int]] = []
    wanted = ~label
    while not steps or steps[-1][0] != 0:
        child = int(np.flatnonzero(tree.targets == wanted)[0])
        node = int(np.searchsorted(tree.starts, child, side="right")) - 1
        steps.append((node, child))
        wanted = node
    return steps[::-1]


def below(tree: Chunks, node: int) -> Ints:
    """The labels below a node."""
    waiting, found = [node], []
    while waiting:
        at = waiting.pop()
        targets = tree.targets[tree.starts[at] : tree.starts[at + 1]]
        found.append(~targets[targets < 0])
        waiting.extend(targets[targets >= 0].tolist())
    return np.sort(np.concatenate(found))


def weights_of(tree: Chunks, node: int, child: int, columns: Longs) -> Doubles:
    """The weights of a child for these columns; 0 where it has none."""
    first, last = int(tree.firsts[node]), int(tree.firsts[node + 1])
    own, lane = tree.columns[first:last], child - int(tree.starts[node])
    begin, end = int(tree.begins[node]), int(tree.begins[node + 1])
    ends = np.append(tree.spots[first:last], end - begin).astype(np.int64) + begin
    found = np.zeros(len(columns))
    for i, column in enumerate(columns.tolist()):
        at = int(np.searchsorted(own, column))
        if at < len(own) and own[at] == column:
            lanes = tree.lanes[ends[at] : ends[at + 1]]
            there = np.flatnonzero(lanes == lane)
            if len(there):
                found[i] = float(tree.values[ends[at] + there[0]]) * float(tree.scales[node])
    return found
