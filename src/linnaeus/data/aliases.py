"""`AliasTable`: which candidates a name may mean, for mentions without candidates."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from linnaeus.data.groups import Groups
from linnaeus.data.wordlists import entries
from linnaeus.errors import DataError, expect
from linnaeus.frozen import dataclass


@dataclass(frozen=True, eq=False)
class AliasTable:
    """Case-folded names, and how often each name meant each candidate.

    >>> table = AliasTable.of([("Georgia", "Georgia (country)", 7), ("georgia", "Georgia, Texas", 2)])
    >>> table.candidates("GEORGIA")
    [('Georgia (country)', 7.0), ('Georgia, Texas', 2.0)]
    """

    entries: Mapping[str, tuple[tuple[str, float], ...]]

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def of(cls, triples: Iterable[tuple[str, str, float]]) -> AliasTable:
        """From tuples of name, candidate and count; counts of the same pair are added."""
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for alias, candidate, count in triples:
            counts = found[folded(alias)]
            counts[candidate] = counts.get(candidate, 0.0) + count
        return cls({alias: _sorted(counts) for alias, counts in found.items()})

    @classmethod
    def learn(cls, groups: Groups) -> AliasTable:
        """From examples with answers: count the right candidates of each text; others are kept with count 0."""
        gold, texts = groups.truth().gold, groups.text.to_pylist()
        rows = zip(groups.group.tolist(), groups.candidates.to_pylist(), gold.tolist(), strict=True)
        return cls.of((texts[group], candidate, float(right)) for group, candidate, right in rows if candidate)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> AliasTable:
        """From a file, maybe compressed, with a name, a candidate and optionally a count per line, split by tabs."""
        return cls.of(_triple(parts, where) for where, parts in entries(path))

    def candidates(self, name: str, top: int = 30) -> list[tuple[str, float]]:
        """The candidates of a name, most frequent first."""
        return list(self.entries.get(folded(name), ())[:top])

    def groups(self, mentions: Sequence[str], top: int = 30, columns: Mapping[str, Any] | None = None) -> Groups:
        """The mentions as examples with their candidates; the detail `count` holds the counts.

        A name that is not in the table has no candidates: "none of these" is the answer.
        """
        expect("top", top, int)
        found = [self.candidates(mention, top) for mention in mentions]
        counts = {"count": [[count for _, count in some] for some in found]}
        names = [[candidate for candidate, _ in some] for some in found]
        return Groups.from_lists(list(mentions), names, columns=columns, details=counts)

    def recall(self, groups: Groups, top: int = 30) -> float:
        """The share of examples whose right candidate is among those the table gives."""
        texts, words = groups.text.to_pylist(), groups.candidates.to_pylist()
        right = np.flatnonzero(groups.truth().gold)
        met = {
            int(groups.group[at]) for at in right if words[at] in dict(self.candidates(texts[groups.group[at]], top))
        }
        return len(met) / max(len(groups), 1)


def folded(name: str) -> str:
    """A name in the table's form: case-folded, one space between words."""
    return " ".join(name.casefold().split())


def _sorted(counts: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """The most frequent first, by name among equals."""
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _triple(parts: list[str], where: str) -> tuple[str, str, float]:
    try:
        alias, candidate, count = (*parts, "1")[:3] if len(parts) in (2, 3) else (*parts,)
        found = float(count)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise DataError(f"{where}: a line needs a name, a candidate and a count from 0 up, separated by tabs.")
    return alias, candidate, found
