"""Limits: the share of cases above which a finding is a problem."""

from __future__ import annotations

from dataclasses import fields, replace

from linnaeus.errors import UsageError, did_you_mean, expect
from linnaeus.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest accepted share, from 0 to 1, of each kind of finding. A field has the name of its kind.

    Of the rows: `empty` texts, `duplicates` of earlier texts, `near_duplicates`, `conflicts` (one text, several
    labels), `near_conflicts`, `damaged` texts, `unlabeled`, `one_label` (all rows have the same one). Of the labels:
    `rare_labels`. Of the rows of the other data set: `leaks` (texts that the first has too), `near_leaks`,
    `unseen_labels`.

    >>> Limits().changed(["leaks=0", "duplicates=5%"]).duplicates
    0.05
    """

    empty: float = 0.01
    duplicates: float = 0.1
    near_duplicates: float = 0.25
    conflicts: float = 0.01
    near_conflicts: float = 0.05
    damaged: float = 0.001
    unlabeled: float = 0.0
    one_label: float = 0.0
    rare_labels: float = 0.1
    leaks: float = 0.01
    near_leaks: float = 0.05
    unseen_labels: float = 0.0

    def __post_init__(self) -> None:
        for name in kinds():
            value = getattr(self, name)
            expect(f"The limit of {name}", value, float)
            if not 0 <= value <= 1:
                raise UsageError(f"The limit of {name} is a share from 0 to 1, not {value}.")

    def changed(self, settings: list[str]) -> Limits:
        """A copy with some limits changed by NAME=SHARE; a share may be a percentage, and `all` means every limit."""
        changes: dict[str, float] = {}
        for setting in settings:
            name, _, share = setting.partition("=")
            name = name.strip().replace("-", "_")
            names = kinds() if name == "all" else [name]
            changes.update(dict.fromkeys(names, _share(setting, share.strip())))
        unknown = next((name for name in changes if name not in kinds()), None)
        if unknown is not None:
            raise UsageError(f"There is no limit {unknown!r}; {did_you_mean(unknown, ['all', *kinds()])}")
        return replace(self, **changes)


def kinds() -> list[str]:
    """The kinds of findings, in the order they are shown."""
    return [f.name for f in fields(Limits)]


def _share(setting: str, text: str) -> float:
    try:
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError as error:
        raise UsageError(f"{setting!r} is not a limit; write NAME=SHARE, such as leaks=0 or duplicates=5%.") from error
    if not 0 <= share <= 1:
        raise UsageError(f"{setting!r} is not a limit; a share is a number from 0 to 1, or from 0% to 100%.")
    return share
