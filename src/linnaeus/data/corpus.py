"""Batch and Corpus: labeled text as Arrow columns, in memory or streamed."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive rows in memory: Arrow columns of one length.

    `text` is string or large_string without nulls; `labels` is string (one), list<string> (many) or float64
    (numeric); `features`, from libsvm files, is list<struct<index: int32, value: float32>>; `columns` holds all
    further columns by name. What the source does not have is None. `start` is the number of the first row.
    """

    text: pa.Array | None = None
    labels: pa.Array | None = None
    weights: pa.Array | None = None
    groups: pa.Array | None = None
    features: pa.Array | None = None
    columns: dict[str, pa.Array] = field(default_factory=dict)
    start: int = 0
