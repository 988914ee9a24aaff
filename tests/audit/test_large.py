"""A large data set, made as it is read: planted faults are found exactly, and memory stays within so much a row."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import psutil
import pyarrow as pa
import pytest

import linnaeus
from linnaeus.audit import check

ROWS, BATCH = 1_000_000, 20_000


class Planted:
    """Texts of a long number each; every hundredth repeats the text of the row before it, under another label."""

    def batches(self) -> Iterator[linnaeus.Batch]:
        for start in range(0, ROWS, BATCH):
            rows = np.arange(start, start + BATCH)
            numbers = rows - (rows % 100 == 99)
            mixed = (numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).tolist()
            texts = [f"{number:016x} {number ^ 0x5DEECE66D1234567:016x} and so on" for number in mixed]
            texts[99::100] = texts[98::100]
            yield linnaeus.Batch(text=pa.array(texts), labels=pa.array((rows % 2).astype(str)), start=start)


@pytest.mark.slow
@pytest.mark.native
def test_a_million_rows_take_a_few_hundred_bytes_each():
    process = psutil.Process(os.getpid())
    before = process.memory_info().rss
    result = check(Planted())
    found = {finding.kind: finding.count for finding in result.findings}
    assert result.data.rows == ROWS
    assert (found["duplicates"], found["conflicts"]) == (ROWS // 100, ROWS // 50)
    assert process.memory_info().rss - before < 700 * ROWS
