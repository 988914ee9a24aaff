"""Where a pair of features stands: at the places of both.

Counts multiply: (sum of a) (sum of b) is the sum of a b over all pairs of an occurrence of the left member with one of
the right. Half of a b stands at either occurrence; summed up, each place of the left has a (sum of b) / 2, each of the
right b (sum of a) / 2. Where only one member has places, as a word with a category, all of the pair stands there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from linnaeus.types import Place

Grouped: TypeAlias = dict[int, list[Place]]
Sums: TypeAlias = dict[str, float]
"""The names of what stands in one column, and the amount of each; an empty name where the column's own says it."""


def group_places(places: list[Place]) -> Grouped:
    """The places of each column."""
    grouped: Grouped = {}
    for place in places:
        grouped.setdefault(place.column, []).append(place)
    return grouped


def pair_places(
    column: int, pair: tuple[int, int], sides: tuple[Grouped, Grouped], names: tuple[Sequence[str], Sequence[str]]
) -> Iterator[Place]:
    """The places of the pair with this column, from those of its members.

    >>> sides = group_places([Place(0, 0, 3)]), group_places([Place(2, 9, 13), Place(2, 20, 24)])
    >>> [(p.start, p.amount) for p in pair_places(7, (0, 2), sides, (["not"], ["", "", "good"]))]
    [(0, 1.0), (9, 0.5), (20, 0.5)]
    """
    left, right = (side.get(i, []) for side, i in zip(sides, pair, strict=True))
    scale = 0.5 if left and right else 1.0
    spelled = any(place.name for place in (*left, *right))
    one, other = _sums(left), _sums(right)
    for places, beside, order in ((left, other, 1), (right, one, -1)):
        for place in places:
            for name, amount in beside.items():
                said = (place.name, name)[::order]
                full = " & ".join(s or n[i] for s, n, i in zip(said, names, pair, strict=True)) if spelled else ""
                yield Place(column, place.start, place.end, scale * place.amount * amount, full)


def _sums(places: list[Place]) -> Sums:
    sums: Sums = {}
    for place in places:
        sums[place.name] = sums.get(place.name, 0.0) + place.amount
    return sums or {"": 1.0}
