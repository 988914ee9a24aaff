"""Word vectors beside gensim's and fastText's: words per second of training, and what the vectors know.

    python benchmarks/vectors.py --peer-python PYTHON [--seeds 5] [--threads 2] [--words N] [--entries NAMES] [--dev]

The text is that of `corpus_imdb_unsup`, cut into words and folded once, one review on a line; all read the same file.
Dimension 100, window 5, 5 negatives, 5 epochs, words that occur 5 times, threshold 0.001. PYTHON has gensim and
fasttext-wheel (dependency group `vectors`), in an environment of its own.

Words per second are all words of the file times the epochs, divided by the seconds of training. The pass that counts
words is not part of it, but for fastText, whose one call does both; `count_s` is that pass. gensim is fed from lists
in memory and from the file (`gensim-file`). Quality: Spearman's rank correlation on WordSim-353 and SimLex-999, and the
share of Google's analogies answered right among the 30,000 most frequent words, each by the same code; `--dev` takes
MEN, MTurk-771 and SimVerb instead, by which settings were chosen. Entries run in turns, seed by seed. JSON lines.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import linnaeus
from linnaeus.embeddings import CBOW, PPMI, GloVe, SkipGram, analogy_score, encoded, similarity_score
from linnaeus.features import read_vectors, write_vectors
from measure import data_folder, say, say_machine

OURS = {
    "skipgram": SkipGram(),
    "skipgram-subwords": SkipGram(subwords=(3, 6)),
    "cbow": CBOW(),
    "glove": GloVe(),
    "ppmi": PPMI(),
}
PEERS = ("gensim", "gensim-file", "gensim-cbow", "fasttext")
AGAINST = {"skipgram": ("gensim", "gensim-file"), "skipgram-subwords": ("fasttext",), "cbow": ("gensim-cbow",)}
TEST, DEV = ("wordsim353", "simlex999"), ("men3000", "mturk771", "simverb3500")


def write_text(path: Path, words: int | None) -> int:
    """The words of the reviews, a review on each line; at most about so many of them."""
    texts = pq.read_table(data_folder() / "corpus_imdb_unsup" / "train.parquet").column("text").to_pylist()
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, len(texts), 1000):
            for found in linnaeus.text.tokens(texts[start : start + 1000]):
                file.write(" ".join(found) + "\n")
                count += len(found)
            if words is not None and count >= words:
                break
    return count


def ours(entry: str, text: Path, out: Path, seed: int) -> dict[str, float]:
    """One training; counting words apart."""
    from dataclasses import replace

    began = time.perf_counter()
    with encoded(linnaeus.read(text, format="lines", label=""), min_count=5) as words:
        counted, cpu = time.perf_counter(), time.process_time()
        table = replace(OURS[entry], seed=seed).learn(words)
        took, cpu = time.perf_counter() - counted, time.process_time() - cpu
    write_vectors(out, table, "word2vec", force=True)
    return {"train_s": took, "cpu_s": cpu, "count_s": counted - began}


def peer(entry: str, text: Path, out: Path, arguments: argparse.Namespace, seed: int) -> dict[str, float] | None:
    """The same by a peer, in its own process."""
    script = Path(__file__).parent / "vectors_peers.py"
    command = [arguments.peer_python, str(script), entry, str(text), str(out), str(arguments.threads), str(seed)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        say(entry=entry, skipped=str(getattr(error, "stderr", error))[-200:])
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def judged(path: Path, dev: bool) -> dict[str, float]:
    """The figures of a file of vectors."""
    table, folder = read_vectors(path, "word2vec"), data_folder()
    found = {}
    for name in DEV if dev else TEST:
        rows = pq.read_table(folder / "word_similarity" / f"{name}.parquet").to_pylist()
        pairs = [(row["word1"], row["word2"], float(row["score"])) for row in rows]
        found[name] = similarity_score(table, pairs).value
    if not dev:
        rows = pq.read_table(folder / "word_analogy" / "google.parquet").to_pylist()
        found["analogies"] = analogy_score(table, [(row["a"], row["b"], row["c"], row["d"]) for row in rows]).value
    return found


def one(entry: str, text: Path, total: int, arguments: argparse.Namespace, seed: int) -> dict[str, Any] | None:
    """One training with its figures."""
    out = text.with_name("vectors.txt")
    if entry in OURS:
        found: dict[str, Any] | None = ours(entry, text, out, seed)
    else:
        found = peer(entry, text, out, arguments, seed)
    if found is None:
        return None
    if entry not in ("glove", "ppmi"):
        found["words_per_s"] = 5 * total / found["train_s"]
    row = {**found, **judged(out, arguments.dev)}
    say(entry=entry, seed=seed, **row)
    return row


def main() -> None:
    """All entries, seed by seed; then means, and ratios to the peers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer-python", default="")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--words", type=int, default=None)
    parser.add_argument("--entries", default=",".join([*OURS, *PEERS]))
    parser.add_argument("--dev", action="store_true")
    arguments = parser.parse_args()
    say_machine()
    entries = [name for name in arguments.entries.split(",") if name in OURS or arguments.peer_python]
    rows: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as folder, linnaeus.threads(arguments.threads):
        text = Path(folder) / "text.txt"
        total = write_text(text, arguments.words)
        say(what="text", words=total, bytes=text.stat().st_size)
        for seed in range(arguments.seeds):
            for entry in entries:
                found = one(entry, text, total, arguments, seed)
                if found is not None:
                    rows.setdefault(entry, []).append(found)
    means = {name: {key: statistics.mean(row[key] for row in some) for key in some[0]} for name, some in rows.items()}
    for entry, mean in means.items():
        ratios = {
            f"speed_of_{other}": mean["words_per_s"] / means[other]["words_per_s"]
            for other in AGAINST.get(entry, ())
            if other in means
        }
        say(what="mean", entry=entry, runs=len(rows[entry]), **mean, **ratios)


if __name__ == "__main__":
    sys.exit(main())
