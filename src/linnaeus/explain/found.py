"""The features of one row, with their names, their values and the characters they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linnaeus.explain.words import Span, cut
from linnaeus.frozen import dataclass
from linnaeus.types import Doubles, Longs, Place

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.features.base import Fitted

CANCELED = 1e-6
"""If the amounts cancel to less than this share of their size, all occurrences get equal shares."""


@dataclass(frozen=True, eq=False)
class Found:
    """f features of the row, and m places where they occur: `owners[i]` is the feature of place i.

    The `shares` of a feature add up to 1: its value is divided over its places by their part of its count. `terms` are
    the different terms of this text in a hashed column. If it is not `folded`, features are listed by their own names,
    not by the words in which they stand.
    """

    text: str
    columns: Longs
    values: Doubles
    names: tuple[str, ...]
    terms: tuple[tuple[str, ...], ...]
    owners: Longs
    starts: Longs
    ends: Longs
    shares: Doubles
    folded: bool = True

    @cached_property
    def placed(self) -> Doubles:
        """1 for features that have a place, 0 for the others (f,)."""
        return np.minimum(np.bincount(self.owners, minlength=len(self.columns)), 1).astype(np.float64)

    @cached_property
    def spans(self) -> list[Span]:
        """The text in segments: words, and the characters between them."""
        return cut(self.text)

    @cached_property
    def _cover(self) -> tuple[Longs, Longs, Doubles]:
        """Characters, the place each belongs to, and its part of that place.

        A place is spread evenly over its characters without the white space, where color is invisible; a place that
        is nothing but white space, over all of them.
        """
        sizes = self.ends - self.starts
        owner = np.repeat(np.arange(len(sizes)), sizes)
        at = np.arange(len(owner)) + np.repeat(self.starts - (np.cumsum(sizes) - sizes), sizes)
        ink = np.fromiter((not char.isspace() for char in self.text), np.bool_, len(self.text))
        inked = np.bincount(owner[ink[at]], minlength=len(sizes))
        kept = ink[at] | (inked == 0)[owner]
        parts = 1.0 / np.maximum(np.where(inked > 0, inked, sizes), 1)  # an empty token has no characters
        return at[kept], owner[kept], parts[owner[kept]]

    def over_places(self, contributions: Doubles) -> Doubles:
        """The contributions of features (f,) divided over their places (m,)."""
        return contributions[self.owners] * self.shares

    def over_characters(self, contributions: Doubles) -> Doubles:
        """The contributions of features (f,) divided over the characters of the text."""
        at, owner, parts = self._cover
        amounts = self.over_places(contributions)[owner] * parts
        return np.bincount(at, weights=amounts, minlength=len(self.text)).astype(np.float64)


Placed: TypeAlias = tuple[int, int, int, float]
"""A place: the number of its feature, its characters from start to end, and its share of the feature."""


def located(text: str, columns: Longs, values: Doubles, names: Sequence[str], places: Sequence[Placed]) -> Found:
    """Features with their places."""
    owners, starts, ends = np.array([place[:3] for place in places], np.int64).reshape(-1, 3).T
    shares = np.array([place[3] for place in places], np.float64)
    return Found(text, columns, values, tuple(names), ((),) * len(names), owners, starts, ends, shares)


def listed(
    text: str, names: Sequence[str], columns: Sequence[int], values: Doubles, places: Sequence[Span | None]
) -> Found:
    """Features that are listed by their names, each at one place of the text or at none."""
    spots = [(i, *place, 1.0) for i, place in enumerate(places) if place is not None]
    return replace(located(text, np.array(columns, np.int64), values, names, spots), folded=False)


def find(features: Fitted, row: Batch) -> Found:
    """The features of a batch of one row; a word that occurs several times, in words in their order, is one of them."""
    X, text = features.rows(row), "" if row.text is None else row.text[0].as_py()
    columns: Longs = X.indices[: X.nnz].astype(np.int64)
    values: Doubles = X.data[: X.nnz].astype(np.float64)
    if features.ordered:
        columns, at = np.unique(columns, return_inverse=True)
        values = np.bincount(at, values, len(columns)).astype(np.float64)
    numbers = {column: i for i, column in enumerate(columns.tolist())}
    places = [place for place in features.places(row)[0] if place.column in numbers]
    owners = [numbers[place.column] for place in places]
    shares = _shares(np.array(owners, np.int64), np.array([p.amount for p in places], np.float64), len(columns))
    terms, every = _terms(places, numbers), features.names()
    names = [" | ".join(said) or every[column] for column, said in zip(columns.tolist(), terms, strict=True)]
    spots = [(i, p.start, p.end, share) for i, p, share in zip(owners, places, shares.tolist(), strict=True)]
    return replace(located(text, columns, values, names, spots), terms=terms)


def _terms(places: list[Place], numbers: dict[int, int]) -> tuple[tuple[str, ...], ...]:
    terms: list[dict[str, None]] = [{} for _ in numbers]
    for place in places:
        if place.name:
            terms[numbers[place.column]][place.name] = None
    return tuple(map(tuple, terms))


def _shares(owners: Longs, amounts: Doubles, f: int) -> Doubles:
    totals = np.bincount(owners, weights=amounts, minlength=f)
    sizes = np.bincount(owners, weights=np.abs(amounts), minlength=f)
    counts = np.bincount(owners, minlength=f)
    fair = np.abs(totals) > CANCELED * sizes
    by_amount = amounts / np.where(fair, totals, 1.0)[owners]
    return np.where(fair[owners], by_amount, 1.0 / np.maximum(counts, 1)[owners])
