"""Memory: a file of 4 GB is read and hashed in constant memory, and making rows needs little more than the rows."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from itertools import accumulate
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.native, pytest.mark.timeout(1200)]

FILE_BYTES = 4_000_000_000
MEASURE = """
import json, os, resource, sys, time
from pathlib import Path

def status(name):
    # Not ru_maxrss: Linux lets a new process start with that of the one it came from.
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return 1024 * int(line.split()[1])
"""
STREAM = """
import linnaeus
from linnaeus.features import Hashed, Words

corpus = linnaeus.read(sys.argv[1])
features = Words(ngrams=(1, 2), terms=Hashed(20)).fit(corpus)
started, rows, values, total = time.perf_counter(), 0, 0, 0.0
for batch in corpus.batches():
    X = features.extract(batch)
    rows, values = rows + len(X), values + X.nnz
seconds = time.perf_counter() - started
print(json.dumps({"rows": rows, "values": values, "seconds": seconds, "peak": status("VmHWM")}))
"""
ROWS = """
import pyarrow as pa, pyarrow.parquet as pq
from linnaeus.features import Chars, Hashed, Words

block, whole = eval(sys.argv[2]), sys.argv[3] == "fit_rows"
texts = pq.read_table(sys.argv[1], columns=["text"])["text"].combine_chunks()
features = None if whole else block.fit(texts)
(block.fit_rows if whole else features.rows)(texts.slice(0, 100))  # what is imported at the first call
pa.default_memory_pool().release_unused()
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
if whole:
    features, X = block.fit_rows(texts)
else:
    X = features.rows(texts)
raised = status("VmHWM") - before
tables = sum(array.nbytes for array in features.state().tensors.values())
print(json.dumps({"raised": raised, "rows": X.indptr.nbytes + X.indices.nbytes + X.data.nbytes, "tables": tables}))
"""


def measure(program: str, *args: object) -> dict:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("peaks of memory are measured through /proc")
    command = [sys.executable, "-c", MEASURE + program, *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def some_rows(count: int) -> bytes:
    """Rows of a table as people keep them: short texts, some quoted, some with a line break inside, a few accents."""
    draw = random.Random(11)
    words = [f"{a}{b}{c}" for a in "kmprst" for b in ("a", "ei", "o", "ü") for c in ("", "n", "rk", "ll", "st", "ne")]
    weights = [1 / (rank + 2) for rank in range(len(words))]
    rows = []
    for _ in range(count):
        text = " ".join(draw.choices(words, weights, k=draw.randint(3, 40)))
        kind = draw.random()
        if kind < 0.05:
            text = f'"{text}\n""{draw.choice(words)}"", {draw.choice(words)}"'
        elif kind < 0.3:
            text = f'"{text}, {draw.randint(1, 9999)}."'
        rows.append(f"{text},{draw.choice(('good', 'bad', 'so so'))}\n")
    return "".join(rows).encode()


def write_large(path: Path, size: int) -> int:
    """A table of about this many bytes; the number of its rows."""
    rows, rounds = 50_000, 0
    block = some_rows(rows)
    with path.open("wb") as file:
        file.write(b"text,label\n")
        while file.tell() < size:
            file.write(block)
            rounds += 1
    return rows * rounds


def test_a_table_of_4_gb_is_read_and_hashed_in_less_than_700_mb(tmp_path: Path, capsys) -> None:
    if shutil.disk_usage(tmp_path).free < FILE_BYTES + 2_000_000_000:
        pytest.skip(f"too little space is free in {tmp_path}; point TMPDIR to a larger disk")
    path = tmp_path / "large.csv"
    try:
        rows = write_large(path, FILE_BYTES)
        found = measure(STREAM, path)
    finally:
        path.unlink(missing_ok=True)
    with capsys.disabled():
        rate = FILE_BYTES / found["seconds"] / 1e6
        print(f"\n4 GB of CSV read and hashed: peak {found['peak'] / 1e6:.0f} MB, {rate:.0f} MB/s")
    assert found["rows"] == rows
    assert found["peak"] < 700_000_000


BLOCKS = {
    "hashed words 1-2": "Words(ngrams=(1, 2), terms=Hashed(20))",
    "exact words 1-2": "Words(ngrams=(1, 2))",
    "exact words 1-2 tf-idf": "Words(ngrams=(1, 2), values='tfidf', length='l2')",
    "exact characters 3-5": "Chars(3, 5)",
    "hashed characters 3-5": "Chars(3, 5, terms=Hashed(20))",
}


@pytest.mark.parametrize("way", ["rows", "fit_rows"])
@pytest.mark.parametrize("name", BLOCKS)
def test_rows_of_real_texts_need_less_than_twice_their_size(real_data: Path, name: str, way: str, capsys) -> None:
    path = real_data / "imdb" / "train.parquet"
    if not path.exists():
        pytest.skip("no imdb here")
    found = measure(ROWS, path, BLOCKS[name], way)
    raised, rows, tables = (found[key] / 1e6 for key in ("raised", "rows", "tables"))
    with capsys.disabled():
        share = f"{raised / rows:.2f}x"
        print(f"\n{way} of {name}: +{raised:.0f} MB for {rows:.0f} MB of rows, {share}; {tables:.0f} MB of tables")
    if way == "rows":
        assert found["raised"] < 2 * found["rows"]


VECTORS_BYTES = int(os.environ.get("LINNAEUS_VECTORS_BYTES", "200000000"))
"""The size of the text; 2,000,000,000 takes more than five minutes."""

VECTORS = """
import linnaeus
from linnaeus.embeddings import SkipGram, encoded

with encoded(linnaeus.read(sys.argv[1], format="lines", label="")) as text:
    table = SkipGram(width=32, epochs=1, window=2, negatives=2).learn(text)
    words, total = len(text.words), text.total
print(json.dumps({"peak": status("VmHWM"), "tables": 2 * table.vectors.nbytes, "words": words, "total": total}))
"""


def test_word_vectors_of_a_large_text_take_less_than_1_gb_beside_the_tables(tmp_path: Path, capsys) -> None:
    if shutil.disk_usage(tmp_path).free < 2 * VECTORS_BYTES + 2_000_000_000:
        pytest.skip(f"too little space is free in {tmp_path}; point TMPDIR to a larger disk")
    draw, path = random.Random(5), tmp_path / "large.txt"
    words = [f"w{i:x}" for i in range(200_000)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    lines = [" ".join(draw.choices(words, cum_weights=weights, k=200)) for _ in range(20_000)]
    block = "\n".join(lines).encode() + b"\n"
    try:
        with path.open("wb") as file:
            while file.tell() < VECTORS_BYTES:
                file.write(block)
        found = measure(VECTORS, path)
    finally:
        path.unlink(missing_ok=True)
    with capsys.disabled():
        sizes = f"peak {found['peak'] / 1e6:.0f} MB, tables {found['tables'] / 1e6:.0f} MB"
        print(f"\n{VECTORS_BYTES / 1e9:g} GB of text, {found['total']:,} words, {found['words']:,} different: {sizes}")
    assert found["peak"] - found["tables"] < 1_000_000_000
