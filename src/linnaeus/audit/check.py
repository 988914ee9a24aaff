"""Check labeled data: read them once, compare rows, run every search; and the limits above which it is a problem."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from linnaeus.audit.findings import FINDINGS, Case, Scene, find_matches
from linnaeus.audit.labels import LabelBook
from linnaeus.audit.near import Near
from linnaeus.audit.records import Audit, Example, Finding
from linnaeus.audit.tally import Ledger, tally
from linnaeus.errors import UsageError, did_you_mean, expect
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.protocols import Stream


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


RARE = 5
"""A label with fewer rows is rare."""


def check(
    data: Stream,
    other: Stream | None = None,
    *,
    limits: Limits | None = None,
    near: Near | None = None,
    examples: int = 3,
    watch: Callable[[str], None] | None = None,
) -> Audit:
    """Check labeled text before training; with two data sets, also find the rows that they share.

    Each data set is read once, and about 250 bytes are kept of each row, for any length. Texts that differ in ASCII
    case and white space only count as equal; near-duplicates are estimated, see `Near`. `examples` rows are shown for
    each finding, and `watch` is called with the name of each phase: reading, reading the other, comparing.

    >>> import linnaeus
    >>> audit = check(linnaeus.read({"text": ["Play jazz", "play jazz", "stop"], "label": ["on", "off", "off"]}))
    >>> [finding.kind for finding in audit.findings]
    ['duplicates', 'conflicts', 'rare_labels']
    """
    near, book, watch = near or Near(), LabelBook(), watch or _silent
    watch("reading")
    first = tally(data, near, book)
    second = None
    if other is not None:
        watch("reading the other")
        second = tally(other, near, book)
    watch("comparing")
    scene = Scene(first, second, book, find_matches(near, first, second), RARE)
    found = [_finding(kind, search(scene), scene, limits or Limits(), examples) for kind, search in FINDINGS.items()]
    seen = sorted((f for f in found if f.count), key=lambda finding: not finding.problem)
    return Audit(first.summary, second.summary if second else None, tuple(seen))


def _silent(phase: str) -> None:
    pass


def _finding(kind: str, case: Case, scene: Scene, limits: Limits, examples: int) -> Finding:
    shown = range(min(examples, len(case.pairs)))
    return Finding(
        kind=kind,
        count=case.count,
        total=case.total,
        limit=getattr(limits, kind),
        sentence=case.sentence,
        examples=tuple(_example(case, scene, i) for i in shown),
    )


def _example(case: Case, scene: Scene, i: int) -> Example:
    left, right = int(case.pairs.left[i]), int(case.pairs.right[i])
    mine: Ledger = scene.other if case.of_other and scene.other is not None else scene.data
    similarity = float(case.pairs.similarity[i])
    alone = right < 0
    return Example(
        row=left,
        text=case.excerpts.get(left) or mine.head(left),
        label=scene.book.show(int(mine.labels[left])),
        match=None if alone else right,
        match_label=None if alone else scene.book.show(int(scene.data.labels[right])),
        match_text=None if alone else scene.data.head(right),
        similarity=None if math.isnan(similarity) else round(similarity, 3),
    )
