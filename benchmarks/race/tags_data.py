"""Tagged sentences of the shared data sets."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq


def load(folder: str | Path, part: str, column: str) -> tuple[list[list[str]], list[list[str]]]:
    """Tokens and tags of a part; of `brown`, one file, every tenth document is the test part."""
    whole = Path(folder) / "all.parquet"
    if not whole.exists():
        table = pq.read_table(Path(folder) / f"{part}.parquet", columns=["tokens", column]).to_pydict()
        return table["tokens"], table[column]
    table = pq.read_table(whole, columns=["doc", "tokens", column]).to_pydict()
    number = {doc: i for i, doc in enumerate(sorted(set(table["doc"])))}
    rows = [i for i, doc in enumerate(table["doc"]) if (number[doc] % 10 == 9) == (part == "test")]
    return [table["tokens"][i] for i in rows], [table[column][i] for i in rows]
