"""A quick search for near-duplicates during training, in a sample of bounded size; `check` searches every row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.audit.near import Near, within
from linnaeus.frozen import dataclass
from linnaeus.text import as_texts

if TYPE_CHECKING:
    from linnaeus.protocols import Stream

ROWS, BYTES = 20_000, 1 << 24
"""The largest sample in rows and bytes of text, which takes a fraction of a second."""


@dataclass(frozen=True, slots=True)
class NearShare:
    """How many rows of the sample nearly repeat an earlier one."""

    near: int
    rows: int

    @property
    def share(self) -> float:
        """The share of the rows."""
        return self.near / self.rows if self.rows else 0.0


def near_share(stream: Stream, rows: int, near: Near | None = None) -> NearShare:
    """Near-duplicates among rows taken at equal distances; equal texts count once. A sample shows fewer than there are.

    >>> from linnaeus import read
    >>> near_share(read(["turn it up a little bit please", "turn it up a little bit please!", "stop"]), 3, Near(0.7))
    NearShare(near=1, rows=3)
    """
    near, found = near or Near(), _sampled(stream, max(1, -(-rows // ROWS)))
    if found is None:
        return NearShare(0, 0)
    sizes = np.diff(as_texts(found).offsets)
    step = max(1, -(-int(sizes.sum()) // BYTES))
    texts = as_texts(found.take(pa.array(np.arange(0, len(found), step))))
    folded = kernels.fingerprint_folded(texts.data, texts.offsets, kernels.thread_count())
    first = np.sort(np.unique(folded, return_index=True)[1])
    return NearShare(len(within(near, near.sketch(texts), first)), len(texts))


def _sampled(stream: Stream, step: int) -> pa.Array | None:
    """Texts at equal distances."""
    parts, seen = [], 0
    for batch in (stream.watch(None) if hasattr(stream, "watch") else stream).batches():
        if batch.text is not None:
            parts.append(batch.text.take(pa.array(np.arange(-seen % step, len(batch), step))))
        seen += len(batch)
    return pa.concat_arrays(parts) if parts else None
