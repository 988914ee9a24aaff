"""Word vectors from counts of words that stand near each other, or in the same texts: GloVe, PPMI and LSA.

counts   n(w, c) = sum over the places of c at most `window` words from w of 1 / distance
GloVe    minimize sum f(n) (x_w . y_c + b_w + b_c - log n)^2 / 2, f(n) = min(1, n / cap)^0.75; the vector is x + y
PPMI     max(0, log n(w, c) N / (n(w) n(c)^0.75)), and the leading directions of these rows
LSA      log(1 + tf) idf of the words of each text, and the leading directions of these rows
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.arrays.numerics import single_blas
from linnaeus.arrays.word_table import WordTable
from linnaeus.embeddings.encoding import END, NumberFile
from linnaeus.embeddings.progress import Checkpoint, Report, Stand, fingerprint, unheard
from linnaeus.errors import DataError, MachineError, UsageError, expect
from linnaeus.features.projections import directions
from linnaeus.features.tokens.clustering import associations, leading_vectors
from linnaeus.frozen import dataclass
from linnaeus.types import offsets_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from linnaeus.embeddings.encoding import EncodedText
    from linnaeus.kernels.reference.word_vectors import Pairs, Tables
    from linnaeus.types import Ints, Longs

PIECE = 1 << 24
"""Words whose neighbors are counted at a time."""
PARTS = 8
"""Words are dealt to so many parts; no more threads than these have work."""
LANES = 16
PAIRS = 1 << 21
"""Pairs of one call of the kernel."""
POWER = 0.75


def near_counts(text: EncodedText, window: int) -> csr_matrix:
    """How often words stand near each other (words, words), a neighbor at distance d counting 1 / d.

    >>> from linnaeus.embeddings import encoded
    >>> with encoded(["a b c"], min_count=1) as text:
    ...     near_counts(text, 2).toarray().tolist()
    [[0.0, 1.0, 0.5], [1.0, 0.0, 1.0], [0.5, 1.0, 0.0]]
    """
    from scipy.sparse import csr_matrix

    n, weights = len(text.words), 1.0 / np.arange(1, window + 1)
    found = csr_matrix((n, n))
    start = 0
    while start < len(text.ids):
        stop = _end_of_text(text.ids, start + PIECE)
        piece = np.ascontiguousarray(text.ids[start:stop])
        offsets, columns, values = kernels.count_near(piece, weights, n, kernels.thread_count())
        found = found + csr_matrix((values, columns, offsets), (n, n))
        start = stop
    if not found.nnz:
        raise DataError("No two words stand near each other in the texts; give longer texts.")
    return found


def _end_of_text(ids: Ints | NumberFile, start: int) -> int:
    """The first end of a text from a place on, or that of the last."""
    while start < len(ids):
        ends = np.flatnonzero(ids[start : start + (1 << 16)] == END)
        if len(ends):
            return start + int(ends[0]) + 1
        start += 1 << 16
    return len(ids)


def _check(method: object, **least: int) -> None:
    for name, lowest in least.items():
        expect(f"{type(method).__name__}({name}=...)", getattr(method, name), int, least=lowest)


@dataclass(frozen=True, kw_only=True)
class GloVe:
    """Global vectors (Pennington, Socher and Manning 2014), by AdaGrad.

    Counts from `cap` on have full weight. Pairs are dealt to blocks by the parts of both words, so that blocks of one
    stratum have no word in common and any number of threads gives the same bits (Gemulla, Haas, Nijkamp and Sismanis
    2011).

    >>> from linnaeus.embeddings import encoded
    >>> with encoded(["the cat sat", "the dog sat"] * 20, min_count=1) as text:
    ...     GloVe(width=5, epochs=3).learn(text)
    WordTable(4 words, 5 numbers each)
    """

    width: int = 100
    window: int = 10
    epochs: int = 25
    rate: float = 0.05
    cap: float = 100.0
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self, width=1, window=1, epochs=1, seed=0)
        for name in ("rate", "cap"):
            if not 0 < getattr(self, name) < np.inf:
                raise UsageError(f"GloVe({name}=...) must be a number above zero, not {getattr(self, name)!r}.")

    def learn(self, text: EncodedText, report: Report = unheard, checkpoint: Checkpoint | None = None) -> WordTable:
        """Learn the vectors of a text's words."""
        checkpoint, of = checkpoint or Checkpoint(), fingerprint(self, text)
        state = checkpoint.begin(self, text)
        pairs, bounds = _dealt(near_counts(text, self.window), self)
        tables, first = _tables(self, len(text.words)), 0
        if state is not None:
            tables, first = (state.tensors["words"].copy(), state.tensors["contexts"].copy()), state.manifest["epochs"]
        began = time.monotonic()
        for epoch in range(first, self.epochs):
            loss = self._epoch(tables, pairs, bounds)
            speed = (epoch + 1 - first) * len(pairs[0]) / max(time.monotonic() - began, 1e-9)
            report(Stand((epoch + 1) / self.epochs, epoch, speed, loss, "pairs"))
            if checkpoint.due():
                checkpoint.save(of, {"epochs": epoch + 1}, {"words": tables[0], "contexts": tables[1]})
        checkpoint.remove()
        return WordTable(text.words, tables[0][:, : self.width] + tables[1][:, : self.width], None, text.lowercase)

    def _epoch(self, tables: Tables, pairs: Pairs, bounds: Longs) -> float:
        """One pass, stratum by stratum; the mean loss."""
        total = 0.0
        for blocks in bounds:
            cuts = -(-int((blocks[:, 1] - blocks[:, 0]).sum()) // PAIRS)
            for cut in range(cuts):
                sizes = blocks[:, 1] - blocks[:, 0]
                ends = np.stack([blocks[:, 0] + sizes * cut // cuts, blocks[:, 0] + sizes * (cut + 1) // cuts], axis=1)
                part = np.ascontiguousarray(ends).reshape(-1)
                total += kernels.glove_blocks(tables, pairs, part, (self.width, self.rate), kernels.thread_count())
        if not np.isfinite(total):
            raise MachineError(f"The loss is not finite at a rate of {self.rate:g}; give a lower rate.")
        return total / max(len(pairs[0]), 1)


def _tables(method: GloVe, words: int) -> Tables:
    """Vectors, biases, ones, and squares of one."""
    size = -(-(method.width + 2) // LANES) * LANES
    rng = np.random.default_rng(method.seed)
    found = []
    for one in (method.width + 1, method.width):
        table = np.zeros((words, 2 * size), np.float32)
        table[:, : method.width] = (rng.random((words, method.width), np.float32) - 0.5) / method.width
        table[:, one] = 1.0
        table[:, size:] = 1.0
        found.append(table)
    return found[0], found[1]


def _dealt(counts: csr_matrix, method: GloVe) -> tuple[Pairs, Longs]:
    """The pairs in the order of their blocks, shuffled inside; where the blocks of each stratum lie (s, p, 2)."""
    words = np.repeat(np.arange(counts.shape[0], dtype=np.int32), np.diff(counts.indptr))
    contexts = counts.indices.astype(np.int32)
    part = words % PARTS
    block = (contexts % PARTS - part) % PARTS * PARTS + part
    shuffled = np.random.default_rng(method.seed).permutation(len(words))
    order = shuffled[np.argsort(block[shuffled], kind="stable")]
    values = counts.data[order]
    ends = offsets_of(np.bincount(block, minlength=PARTS * PARTS))
    bounds = np.stack([ends[:-1], ends[1:]], axis=1).reshape(PARTS, PARTS, 2)
    weights = np.minimum(1.0, values / method.cap) ** POWER
    return (words[order], contexts[order], np.log(values).astype(np.float32), weights.astype(np.float32)), bounds


@dataclass(frozen=True, kw_only=True)
class PPMI:
    """Positive pointwise mutual information of words near each other, reduced to its leading directions.

    Contexts count by the power 0.75 of their frequency, and directions by the square root of their size (Levy, Goldberg
    and Dagan, "Improving distributional similarity with lessons learned from word embeddings", 2015).

    >>> from linnaeus.embeddings import encoded
    >>> with encoded(["the cat sat", "the dog sat", "a cat ran", "a dog ran"], min_count=1) as text:
    ...     PPMI(width=2).learn(text).neighbors("cat", 1)[0].word
    'dog'
    """

    width: int = 100
    window: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self, width=1, window=1, seed=0)

    def learn(self, text: EncodedText, report: Report = unheard, checkpoint: Checkpoint | None = None) -> WordTable:
        """Learn the vectors of a text's words; there is nothing to keep in a checkpoint."""
        X = associations(near_counts(text, self.window), POWER)
        report(Stand(0.5))
        vectors = leading_vectors(X, self.width, self.seed).astype(np.float32)
        report(Stand(1.0))
        return WordTable(text.words, vectors, None, text.lowercase)


@dataclass(frozen=True, kw_only=True)
class LSA:
    """Latent semantic analysis (Deerwester, Dumais, Furnas, Landauer and Harshman 1990): words by their texts.

    The vectors of texts on the same directions are those of `features.Reduced`.

    >>> from linnaeus.embeddings import encoded
    >>> with encoded(["red apple", "green apple", "red car", "fast car"], min_count=1) as text:
    ...     LSA(width=2).learn(text)
    WordTable(5 words, 2 numbers each)
    """

    width: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self, width=1, seed=0)

    def learn(self, text: EncodedText, report: Report = unheard, checkpoint: Checkpoint | None = None) -> WordTable:
        """Learn the vectors of a text's words; there is nothing to keep in a checkpoint."""
        X = _weighted(text)
        report(Stand(0.5))
        V = directions(X, self.width, self.seed)
        with single_blas():
            vectors = V * np.linalg.norm(X.dot(V), axis=0)
        report(Stand(1.0))
        return WordTable(text.words, vectors.astype(np.float32), None, text.lowercase)


def _weighted(text: EncodedText) -> CSR:
    """log(1 + tf) log(texts / texts with the word) (texts, words)."""
    from scipy.sparse import csr_matrix

    ids = text.ids[:]
    row, there = np.cumsum(ids == END), ids != END
    counts = csr_matrix((np.ones(int(there.sum())), (row[there], ids[there])), (int(row[-1]) + 1, len(text.words)))
    counts.sum_duplicates()
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    values = np.log1p(counts.data) * np.log((1 + counts.shape[0]) / np.maximum(df, 1))[counts.indices]
    return CSR(counts.indptr.astype(np.int64), counts.indices.astype(np.int32), values, counts.shape[1])
