"""Explain a prediction: exactly for linear models, and approximately (`Local`) for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import TypeAlias

import numpy as np

from linnaeus.data.batch import Batch
from linnaeus.errors import InputTypeError, UsageError
from linnaeus.explain.explanation import Explanation, Neighbor, Reason, contrast_of
from linnaeus.explain.flip import Decide, Search, Trial, find_flip
from linnaeus.explain.found import Found
from linnaeus.explain.models import Answer, Linear, Local, RowSum, answer_of
from linnaeus.features.base import Fitted, as_stream
from linnaeus.protocols import HashedColumns, capability
from linnaeus.types import Crowding

Near: TypeAlias = Callable[[Batch], Sequence[Neighbor]]
"""Finds the training examples most similar to a batch of one row."""


def explain(
    row: str | Batch,
    model: Linear | Local | RowSum,
    classes: Sequence[str] = (),
    search: Search | None = Search(),  # noqa: B008  (frozen)
    near: Near | None = None,
    decide: Decide | None = None,
) -> Explanation:
    """Explain the prediction for a text or a batch of one row; `classes` are explained in addition.

        score of a class = bias + sum over features of value * weight

    Each product is divided over the characters that its feature came from. `search` looks for the smallest set of words
    whose removal changes the prediction (None: no search); `near` finds similar training examples; `decide` turns
    scores and rows into predictions if that is not the output space's own `decode`.

    >>> from linnaeus.explain import Linear
    >>> from linnaeus.features import Words
    >>> from linnaeus.outputs import Binary
    >>> features = Words().fit(["good", "bad"])
    >>> model = Linear(features, np.array([[-1.0], [2.0]]), np.array([0.5]), Binary(), ("neg", "pos"))
    >>> why = explain("Good and bad", model)
    >>> why.predicted, why.reason().score, [(part.name, part.contribution) for part in why.reason().parts()]
    (('pos',), 1.5, [('good', 2.0), ('bad', -1.0)])
    >>> [why.text[start:end] for start, end in why.flip.words], why.flip.predicted
    (['Good'], ('neg',))
    """
    row, decide = as_row(row), decide or (lambda S, _: model.space.decode(S))
    if isinstance(classes, str):
        raise InputTypeError(f"classes takes several names; write [{classes!r}].")
    asked = [model.number(name) for name in classes]
    found, S = model.found(row), model.scores(row)
    answer = answer_of(decide(S, row), model.class_scores(S))
    chosen = list(dict.fromkeys([*answer.about, *asked]))
    reasons, contrast = _reasons(model, found, chosen, answer), _contrast(model, found, answer)
    trial = Trial(row, model, decide, answer, search) if search and row.text is not None else None
    return Explanation(
        answer.kind,
        found,
        tuple(model.classes[i] for i in answer.predicted),
        reasons,
        contrast,
        find_flip(trial, (contrast or reasons[0]).characters()) if trial else None,
        tuple(_tables(model.features)),
        tuple(near(row)) if near else (),
        model.exact,
    )


def as_row(row: str | Batch) -> Batch:
    """A text as a batch of one row; a batch with another number of rows is refused.

    >>> as_row("a good film").text.to_pylist()
    ['a good film']
    """
    if isinstance(row, str):
        row = next(iter(as_stream([row]).batches()))
    if not isinstance(row, Batch):
        raise InputTypeError(f"explain takes one text or a Batch of one row, not {type(row).__name__}.")
    if len(row) != 1:
        raise UsageError(f"explain takes one row at a time, not {len(row)}; take one: batch.slice(i, 1).")
    return row


def _reasons(model: Linear | Local | RowSum, found: Found, chosen: list[int], answer: Answer) -> tuple[Reason, ...]:
    V = model.read(model.weights(found.columns), chosen)
    bias = model.read(np.asarray(model.b, np.float64), chosen)
    scores = found.values @ V + bias
    return tuple(
        Reason(model.classes[c], float(scores[i]), float(bias[i]), V[:, i], found, float(answer.standings[c]))
        for i, c in enumerate(chosen)
    )


def _contrast(model: Linear | Local | RowSum, found: Found, answer: Answer) -> Reason | None:
    """The first class minus the second; with one score for two classes, that score."""
    if answer.kind != "one" or len(answer.about) < 2:
        return None
    first, second = _reasons(model, found, list(answer.about[:2]), answer)
    return contrast_of(first, second, 0.0 if len(model.b) == 1 else 1.0)


def _tables(features: Fitted) -> Iterator[Crowding]:
    """The tables of hashed features, also of nested ones."""
    hashed = capability(features, HashedColumns)
    if hashed is not None:
        yield hashed.crowding()
    names: list[str] = [field.name for field in fields(features)] if is_dataclass(features) else []
    for value in (getattr(features, name) for name in names):
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Fitted):
                yield from _tables(inner)
