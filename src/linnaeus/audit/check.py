"""Check labeled data: read them once, compare rows, search for problems; and the limits above which it is one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, fields, replace

import numpy as np

from linnaeus.audit.near import Matches, Near, Pairs, find_matches
from linnaeus.audit.records import Audit, Example, Finding
from linnaeus.audit.tally import MISSING, LabelBook, Ledger, tally
from linnaeus.errors import UsageError, did_you_mean, expect_within
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.types import Longs


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
            expect_within(f"The limit of {name}", getattr(self, name), float, "[0, 1]")

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
    near, book, watch = near or Near(), LabelBook(), watch or (lambda _: None)
    watch("reading")
    first = tally(data, near, book)
    second = None
    if other is not None:
        watch("reading the other")
        second = tally(other, near, book)
    watch("comparing")
    scene = Scene(first, second, book, find_matches(near, first, second))
    found = [_finding(kind, search(scene), scene, limits or Limits(), examples) for kind, search in FINDINGS.items()]
    seen = sorted((f for f in found if f.count), key=lambda finding: not finding.problem)
    return Audit(first.summary, second.summary if second else None, tuple(seen))


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


@dataclass(frozen=True, slots=True)
class Scene:
    """The input of the searches."""

    data: Ledger
    other: Ledger | None
    book: LabelBook
    matches: Matches


@dataclass(frozen=True, slots=True)
class Case:
    """The result of a search: `count` of `total`, a sentence, and pairs of rows as examples.

    The left rows are those of `other` where `of_other` is set; the right rows, or -1 for none, are always of `data`.
    """

    count: int
    total: int
    sentence: str
    pairs: Pairs
    of_other: bool = False
    excerpts: Mapping[int, str] = field(default_factory=dict)
    """The part of a text that shows what was found, by row; else its beginning is shown."""


def empty(scene: Scene) -> Case:
    """Texts that are empty or white space."""
    rows = np.flatnonzero(scene.data.empty)
    return _rows_case(rows, len(scene.data), f"{_count(len(rows), 'text is', 'texts are')} empty or white space")


def duplicates(scene: Scene) -> Case:
    """Rows that repeat the text of an earlier one."""
    pairs, data = scene.matches.repeats, scene.data
    exact = int((data.exact[pairs.left] == data.exact[pairs.right]).sum())
    rest = "" if exact == len(pairs) else f", ignoring case and spaces ({exact:,} exactly)"
    sentence = f"{_count(len(pairs), 'row repeats', 'rows repeat')} the text of an earlier one{rest}"
    return Case(len(pairs), len(data), sentence, pairs)


def near_duplicates(scene: Scene) -> Case:
    """Rows that nearly repeat the text of an earlier one."""
    pairs = scene.matches.near
    sentence = f"{_count(len(pairs), 'row repeats', 'rows repeat')} an earlier one with small changes"
    return Case(len(pairs), len(scene.data), sentence, pairs)


def conflicts(scene: Scene) -> Case:
    """Rows whose text occurs with another label too."""
    repeats, labels = scene.matches.repeats, scene.data.labels
    against = labels[repeats.left] != labels[repeats.right]
    pairs = repeats.take(against)
    # Every row with such a text may be wrong, not only the later ones.
    doubtful = np.isin(repeats.right, pairs.right)
    count = len(np.unique(np.concatenate([repeats.left[doubtful], pairs.right])))
    sentence = f"{_count(count, 'row has', 'rows have')} a text that occurs with different labels"
    return Case(count, len(scene.data), sentence, pairs)


def near_conflicts(scene: Scene) -> Case:
    """Rows that nearly repeat an earlier one under another label."""
    near, labels = scene.matches.near, scene.data.labels
    pairs = near.take(labels[near.left] != labels[near.right])
    sentence = f"{_count(len(pairs), 'row nearly repeats', 'rows nearly repeat')} an earlier one that has another label"
    return Case(len(pairs), len(scene.data), sentence, pairs)


def damaged(scene: Scene) -> Case:
    """Texts that show signs of wrong decoding."""
    rows = np.flatnonzero(scene.data.damaged)
    sentence = (
        f"{_count(len(rows), 'text looks', 'texts look')} wrongly decoded "
        "(replacement characters, NUL, C1 control characters or mojibake)"
    )
    return replace(_rows_case(rows, len(scene.data), sentence), excerpts=scene.data.excerpts)


def unlabeled(scene: Scene) -> Case:
    """Rows without a label in data that have labels."""
    labeled = scene.data.summary.label_kind != "none"
    rows = np.flatnonzero(scene.data.labels == MISSING) if labeled else np.zeros(0, np.int64)
    return _rows_case(rows, len(scene.data), f"{_count(len(rows), 'row has', 'rows have')} no label")


def one_label(scene: Scene) -> Case:
    """Whether all rows have the same label."""
    labels = scene.data.labels[scene.data.labels != MISSING]
    count = len(labels) if len(labels) > 1 and (labels == labels[0]).all() else 0
    return _rows_case(np.zeros(0, np.int64), len(scene.data), "all rows have the same label", count)


def rare_labels(scene: Scene) -> Case:
    """Labels with too few rows to learn from."""
    table = scene.data.summary.labels
    few = [label.name for label in table if label.count < RARE]
    names = ", ".join(few[:5]) + (", ..." if len(few) > 5 else "")
    sentence = f"{_count(len(few), 'label has', 'labels have')} fewer than {RARE} rows: {names}"
    return _rows_case(np.zeros(0, np.int64), len(table), sentence, len(few))


def leaks(scene: Scene) -> Case:
    """Rows of the other data whose text is in the first."""
    pairs = scene.matches.leaks
    sentence = f"{_of_other(len(pairs), 'is', 'are')} in the first too"
    return Case(len(pairs), _size(scene.other), sentence, pairs, of_other=True)


def near_leaks(scene: Scene) -> Case:
    """Rows of the other data whose text is nearly one of the first."""
    pairs = scene.matches.near_leaks
    sentence = f"{_of_other(len(pairs), 'is', 'are')} in the first with small changes"
    return Case(len(pairs), _size(scene.other), sentence, pairs, of_other=True)


def unseen_labels(scene: Scene) -> Case:
    """Rows of the other data whose label the first does not have."""
    rows = np.zeros(0, np.int64)
    if scene.other is not None and "numeric" not in (scene.data.summary.label_kind, scene.other.summary.label_kind):
        known = {label.name for label in scene.data.summary.labels}
        codes = np.unique(scene.other.labels[scene.other.labels != MISSING])
        new = [code for code in codes.tolist() if not known.issuperset(scene.book.names(code))]
        rows = np.flatnonzero(np.isin(scene.other.labels, new)) if known else rows
    sentence = f"{_of_other(len(rows), 'has', 'have')} a label that the first lacks"
    return replace(_rows_case(rows, _size(scene.other), sentence), of_other=True)


FINDINGS: dict[str, Callable[[Scene], Case]] = {
    "empty": empty,
    "duplicates": duplicates,
    "near_duplicates": near_duplicates,
    "conflicts": conflicts,
    "near_conflicts": near_conflicts,
    "damaged": damaged,
    "unlabeled": unlabeled,
    "one_label": one_label,
    "rare_labels": rare_labels,
    "leaks": leaks,
    "near_leaks": near_leaks,
    "unseen_labels": unseen_labels,
}
"""Every kind of finding by name; `Limits` has a field for each."""


def _rows_case(rows: Longs, total: int, sentence: str, count: int | None = None) -> Case:
    pairs = Pairs(rows, np.full(len(rows), -1), np.full(len(rows), np.nan))
    return Case(len(rows) if count is None else count, total, sentence, pairs)


def _size(ledger: Ledger | None) -> int:
    return len(ledger) if ledger is not None else 0


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _of_other(count: int, one: str, many: str) -> str:
    return _count(count, f"row of the other data {one}", f"rows of the other data {many}")
