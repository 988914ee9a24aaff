"""The results of an audit as plain frozen records."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from linnaeus.frozen import dataclass
from linnaeus.render.page import Shown
from linnaeus.types import Json

if TYPE_CHECKING:
    from linnaeus.render import Glyphs, Page

SCHEMA = "linnaeus.check/1"
"""The version of the JSON form; within it keys are only ever added."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of numbers: five of them, and a histogram where bin i holds edges[i] <= x < edges[i+1].

    >>> Spread(smallest=1, median=2, mean=2.5, high=4, largest=5).median
    2
    """

    smallest: float
    median: float
    mean: float
    high: float
    """The 95th percentile."""
    largest: float
    edges: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """A name, how often it occurs, and its share of all from 0 to 1.

    >>> Share("music", 3, 0.75)
    Share(name='music', count=3, share=0.75)
    """

    name: str
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of one data set.

    `label_kind` is one, many, numeric or none; `labels` is sorted by count, then name, and `numbers` stands in its
    place for numeric labels. `scripts` counts letters only. What needs text is None or empty where there is none.

    >>> from linnaeus import read
    >>> from linnaeus.audit import check
    >>> summary = check(read([("play jazz", "music"), ("stop", "stop")])).data
    >>> summary.rows, [share.name for share in summary.labels]
    (2, ['music', 'stop'])
    """

    rows: int
    bytes: int
    label_kind: str
    labels: tuple[Share, ...]
    numbers: Spread | None
    characters: Spread | None
    words: Spread | None
    vocabulary: int
    scripts: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """One case of a finding: its row and label, the beginning of its text, and the row it agrees with, if any.

    Rows are numbered from 0, as `Corpus.take` wants them; the page counts them from 1, as messages about files do.

    >>> from linnaeus import read
    >>> from linnaeus.audit import check
    >>> audit = check(read([("play jazz", "music"), ("play jazz", "music")]))
    >>> example = next(found for found in audit.findings if found.kind == "duplicates").examples[0]
    >>> example.row, example.match, example.text
    (1, 0, 'play jazz')
    """

    row: int
    text: str
    label: str | None = None
    match: int | None = None
    match_label: str | None = None
    match_text: str | None = None
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding: `count` of `total` cases; it is a problem if their share exceeds the limit.

    >>> Finding("empty", 3, 100, 0.01, "3 texts are empty").problem
    True
    """

    kind: str
    count: int
    total: int
    limit: float
    sentence: str
    examples: tuple[Example, ...] = ()

    @property
    def share(self) -> float:
        """The share of all cases, from 0 to 1."""
        return self.count / self.total if self.total else 0.0

    @property
    def problem(self) -> bool:
        """Whether the share exceeds the limit."""
        return self.share > self.limit


@dataclass(frozen=True, slots=True)
class Audit(Shown):
    """The result of `check`: a summary of each data set, and the findings, problems first.

    >>> from linnaeus import read
    >>> from linnaeus.audit import check
    >>> audit = check(read([("play jazz", "music"), ("play jazz", "music"), ("stop", "stop")]))
    >>> audit.ok, audit.data.rows, audit.findings[0].kind
    (False, 3, 'duplicates')
    """

    data: Summary
    other: Summary | None
    findings: tuple[Finding, ...]

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The findings that exceed their limits."""
        return tuple(finding for finding in self.findings if finding.problem)

    @property
    def ok(self) -> bool:
        """Whether no finding exceeds its limit."""
        return not self.problems

    def page(self, glyphs: Glyphs) -> Page:
        """The page that the command line shows."""
        from linnaeus.audit.page import audit_page

        return audit_page(self, ["data", "other"], glyphs)

    def to_json(self) -> dict[str, Json]:
        """One JSON object: schema, ok, data, other, findings with share and problem."""
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "data": asdict(self.data),
            "other": asdict(self.other) if self.other else None,
            "findings": [{**asdict(f), "share": f.share, "problem": f.problem} for f in self.findings],
        }
