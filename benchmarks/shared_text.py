"""The shared text: what word vectors for the benchmarks of networks learn from, one text per line.

    python benchmarks/shared_text.py shared.txt
    linnaeus vectors train shared.txt --format lines --keep-case --width 300 -o shared.lin

The texts of the training parts of the data sets in English, without their labels; of the sets that the networks are
judged on, and of those that share sentences with them, nothing (`LEFT_OUT`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from measure import data_folder, say

TEXTS = (
    *("corpus_imdb_unsup", "imdb", "newsgroups20", "ag_news_small", "dbpedia_14k", "wiki_person_en", "r52"),
    *("wordnet_lexname", "debian_section", "swda", "goemotions", "banking77", "clinc150", "snips"),
)
LEFT_OUT = ("mr", "sst2", "sst5", "trec")


def texts() -> Iterator[str]:
    """Every text of the training parts, and the sentences and stories of the sets that are no rows of texts."""
    for name in TEXTS:
        yield from pq.read_table(data_folder() / name / "train.parquet", columns=["text"])["text"].to_pylist()
    for tokens in pq.read_table(data_folder() / "brown" / "all.parquet", columns=["tokens"])["tokens"].to_pylist():
        yield " ".join(tokens)
    for name in ("mctest_mc160", "mctest_mc500"):
        rows = pq.read_table(data_folder() / name / "train.parquet", columns=["story", "question"]).to_pydict()
        yield from dict.fromkeys(rows["story"])
        yield from rows["question"]


def main() -> None:
    """Write the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    asked = parser.parse_args()
    lines = words = 0
    with asked.output.open("w", encoding="utf-8") as out:
        for text in texts():
            row = text.split()
            lines, words = lines + 1, words + len(row)
            out.write(" ".join(row) + "\n")
    say(what="shared text", lines=lines, words=words, bytes=asked.output.stat().st_size)


if __name__ == "__main__":
    main()
