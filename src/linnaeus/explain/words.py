"""Contributions word by word: the features of a text folded into the words they stand in.

A feature belongs to the words that its place overlaps: runs of characters to their word, a pair of words to both of
them as one row. A feature that stands in several places is divided over them. What stands nowhere in the text, such as
another column or a length, has a row of its own. The rows and the bias add up to the score.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from linnaeus.explain.segments import words
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.explain.records import Reason


@dataclass(frozen=True, slots=True)
class Within:
    """The features of one name within a row, and their contribution; `products` are their values and weights.

    A short word has the name of one of its runs of characters: then there are two.
    """

    name: str
    products: tuple[tuple[float, float], ...]
    contribution: float

    def __str__(self) -> str:
        """The products as text.

        >>> str(Within("good", ((0.5, 2.0), (0.25, -1.0)), 0.75))
        '0.5 x +2, 0.25 x -1'
        """
        return ", ".join(f"{value:.3g} x {weight:+.3g}" for value, weight in self.products)


@dataclass(frozen=True, slots=True)
class WordRow:
    """A word, several words, or a feature that is not in the text (`placed` is False), with its contribution."""

    name: str
    contribution: float
    features: tuple[Within, ...]
    placed: bool = True


def word_rows(reason: Reason) -> list[WordRow]:
    """The order: the largest contribution first, equal ones by name."""
    found, contributions = reason.found, reason.contributions
    name_at = _Names(found.text)
    amounts = found.over_places(contributions)
    sums: dict[tuple[str, bool], dict[int, float]] = {}
    spots = zip(found.owners.tolist(), found.starts.tolist(), found.ends.tolist(), amounts.tolist(), strict=True)
    for owner, start, end, amount in spots:
        inside = sums.setdefault((name_at(start, end), True), {})
        inside[owner] = inside.get(owner, 0.0) + amount
    for i in (found.placed == 0).nonzero()[0].tolist():
        sums.setdefault((found.names[i], False), {})[i] = float(contributions[i])
    rows = [_row(reason, name, inside, placed) for (name, placed), inside in sums.items()]
    return sorted((row for row in rows if row.contribution), key=lambda row: (-abs(row.contribution), row.name))


def _row(reason: Reason, name: str, inside: dict[int, float], placed: bool) -> WordRow:
    found, same = reason.found, dict[str, list[int]]()
    for i in inside:
        same.setdefault(" | ".join(found.terms[i]) or found.names[i], []).append(i)
    features = [
        Within(
            each,
            tuple((float(found.values[i]), float(reason.weights[i])) for i in sorted(some)),
            sum(inside[i] for i in some),
        )
        for each, some in same.items()
    ]
    features.sort(key=lambda part: (-abs(part.contribution), part.name))
    return WordRow(name, sum(inside.values()), tuple(features), placed)


class _Names:
    """The words that a part of the text overlaps, as shown: in lower case, with one space between them."""

    def __init__(self, text: str) -> None:
        self.text, spans = text, words(text)
        self.starts, self.ends = [start for start, _ in spans], [end for _, end in spans]
        self.known: dict[tuple[int, int], str] = {}

    def __call__(self, start: int, end: int) -> str:
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end)
        span = (start, end) if first >= last else (self.starts[first], self.ends[last - 1])
        if span not in self.known:
            shown = self.text[span[0] : span[1]]
            self.known[span] = " ".join(shown.split()).casefold() or shown
        return self.known[span]
