"""The audit itself: read the data once, compare rows, and report the findings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from linnaeus.audit.findings import FINDINGS, Case, Scene
from linnaeus.audit.labels import LabelBook
from linnaeus.audit.limits import Limits
from linnaeus.audit.matches import find_matches
from linnaeus.audit.near import Near
from linnaeus.audit.records import Audit, Example, Finding
from linnaeus.audit.tally import Ledger, tally

if TYPE_CHECKING:
    from linnaeus.protocols import Stream

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
