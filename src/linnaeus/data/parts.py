"""The named parts of a folder: train, dev and test, as the names of its files or of its folders tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from linnaeus.errors import DataError
from linnaeus.frozen import dataclass

PARTS = {
    "train": ("train", "training"),
    "dev": ("dev", "valid", "validation", "val", "development"),
    "test": ("test", "testing", "eval", "evaluation"),
}
"""The words of a name that tell each part."""

ALL = "all"
"""What reads every part, and files of no part too."""

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Parts:
    """Files or folders by part, and the `others` whose names tell none; there are no parts without two of them."""

    named: dict[str, tuple[Path, ...]]
    others: tuple[Path, ...] = ()

    def chosen(self, where: str, split: str | None) -> list[Path]:
        """The files or folders of a part; refused where none is chosen, or the chosen one is not there."""
        there = ", ".join(f"{name} ({listed_files(paths)})" for name, paths in self.named.items())
        if split is None:
            first = next(iter(self.named))
            raise DataError(f"{where}: has the parts {there}; choose one with split={first!r}, or split='all'.")
        if split == ALL:
            return [*(path for paths in self.named.values() for path in paths), *self.others]
        if split not in self.named:
            raise DataError(f"{where}: has no part {split!r}, but {there}; choose one with split=, or split='all'.")
        return list(self.named[split])


def part_of(name: str) -> str | None:
    """The part that one word of a name tells.

    >>> part_of("train-00000-of-00004.parquet"), part_of("en_ewt-ud-dev.conllu"), part_of("reviews.csv")
    ('train', 'dev', None)
    """
    words = re.split(r"[^a-z]+", name.casefold())
    found = [part for part, known in PARTS.items() if any(word in known for word in words)]
    return found[0] if len(found) == 1 else None


def is_part(name: str) -> bool:
    """Whether a name is that of a part, and nothing else."""
    return any(name.casefold() in known for known in PARTS.values())


def by_part(paths: Sequence[Path]) -> Parts:
    """Files or folders by part."""
    found: dict[str, list[Path]] = {name: [] for name in PARTS}
    others: list[Path] = []
    for path in paths:
        part = part_of(path.name)
        (others if part is None else found[part]).append(path)
    named = {name: tuple(paths) for name, paths in found.items() if paths}
    return Parts(named, tuple(others)) if len(named) > 1 else Parts({})


def listed_files(paths: Sequence[Path]) -> str:
    """The names of some files.

    >>> listed_files([Path(f"train-{i}.csv") for i in range(5)])
    'train-0.csv, train-1.csv, train-2.csv and 2 more'
    """
    names = ", ".join(path.name for path in paths[:_SHOWN])
    return names if len(paths) <= _SHOWN else f"{names} and {len(paths) - _SHOWN} more"
