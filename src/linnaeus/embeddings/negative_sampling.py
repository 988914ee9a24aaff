"""Skip-gram and continuous bag of words with negative sampling (word2vec), with subwords as an option (fastText).

    skip-gram   for a word w and each word c around it:  -log s(x_c . o_w) - sum_k log s(-x_c . o_k)
    CBOW        the same for the mean of the x_c
    noise       words k are drawn in proportion to count^0.75; with subwords count^0.5, as fastText does
    sample      a word of frequency f is kept with probability sqrt(t / f) + t / f
    window      of each word it is drawn from 1 .. window
    rate        falls in a straight line to a ten-thousandth

Work is cut into rounds of `SHARDS` stretches of words. Each stretch is learned from the tables as the round found them,
and the changes are put together in order (`kernels/native/word_shards.hpp`): the same bits for any number of threads.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from linnaeus import kernels
from linnaeus.arrays.word_table import SubwordRows, WordTable, packed
from linnaeus.embeddings.progress import Checkpoint, Report, Stand, fingerprint, unheard
from linnaeus.errors import LinnaeusWarning, MachineError, UsageError, expect
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.embeddings.encoding import EncodedText
    from linnaeus.kernels.reference.word_vectors import Subwords, Tables, Words
    from linnaeus.types import Doubles, Floats, Ints, Longs

    Words32: TypeAlias = NDArray[np.uint32]

SHARDS = 8
"""Stretches of a round; no more threads than these have work."""
STRETCH = 512
"""Words of a stretch."""
POOL = 256
"""Words of noise that are drawn for each stretch; each word takes its own from these."""
POOL_OF_SUBWORDS = 1024
"""The same where words have subwords: their copies cost more than those of noise."""
LANES = 16
"""Vectors lie in lines of so many numbers."""
LAST_RATE = 1e-4
"""The rate at the end, as a share of the first."""
PAUSE = 0.1
"""Seconds that a call of the kernel should take."""
NOISE_POWER, NOISE_POWER_OF_SUBWORDS = 0.75, 0.5
MOST_NEGATIVES = 63
"""What the kernel has room for."""
MOST_HALVINGS = 8
MOST_KEPT = 1 << 28
"""Bytes of tables of which a copy is kept, to return to if a loss is not finite."""


@dataclass(frozen=True, kw_only=True)
class SkipGram:
    """Skip-gram with negative sampling (Mikolov, Sutskever, Chen, Corrado and Dean 2013).

    `width` numbers for each word; `window` words on either side at most; `negatives` words of noise for each word;
    `epochs` passes; `rate` of the first steps (by default 0.025, with subwords 0.05); `sample`, the threshold t of
    frequent words (0: all are kept). With `subwords=(3, 6)` the vector of a word is the mean of its own row and those
    of its n-grams of 3 to 6 characters, hashed to `buckets`, so that unknown words have vectors, too.

    >>> from linnaeus.embeddings import encoded
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug"] * 50
    >>> with encoded(texts, min_count=1) as text:
    ...     table = SkipGram(width=10, epochs=3).learn(text)
    >>> table
    WordTable(7 words, 10 numbers each)
    """

    kernel: ClassVar[str] = "skipgram_rounds"
    usual_rate: ClassVar[float] = 0.025
    usual_rate_of_subwords: ClassVar[float] = 0.05

    width: int = 100
    window: int = 5
    negatives: int = 5
    epochs: int = 5
    rate: float | None = None
    sample: float = 1e-3
    subwords: tuple[int, int] | None = None
    buckets: int = 2_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in {"width": 1, "window": 1, "negatives": 1, "epochs": 1, "buckets": 1, "seed": 0}.items():
            expect(f"{type(self).__name__}({name}=...)", getattr(self, name), int, least=least)
        expect(f"{type(self).__name__}(sample=...)", self.sample, float, least=0)
        if self.rate is not None and not 0 < self.rate < np.inf:
            raise UsageError(f"{type(self).__name__}(rate=...) must be a number above zero, not {self.rate!r}.")
        if self.negatives > MOST_NEGATIVES:
            raise UsageError(f"{type(self).__name__}(negatives=...) is at most {MOST_NEGATIVES}, not {self.negatives}.")
        lengths = self.subwords
        if lengths is not None and not (len(lengths) == 2 and 1 <= lengths[0] <= lengths[1] <= 64):
            raise UsageError(f"{type(self).__name__}(subwords=...) takes two numbers such as (3, 6), not {lengths}.")

    def learn(self, text: EncodedText, report: Report = unheard, checkpoint: Checkpoint | None = None) -> WordTable:
        """Learn the vectors of a text's words."""
        run = _Run(self, text, checkpoint or Checkpoint())
        run.go(report)
        return run.table()


@dataclass(frozen=True, kw_only=True)
class CBOW(SkipGram):
    """Continuous bag of words: the mean of the words around a word predicts it (Mikolov et al. 2013).

    It is faster than skip-gram, and weaker for rare words. The settings are those of `SkipGram`.

    >>> CBOW().usual_rate
    0.05
    """

    kernel: ClassVar[str] = "cbow_rounds"
    usual_rate: ClassVar[float] = 0.05


class _Run:
    """One training: its tables, and how many rounds are done."""

    def __init__(self, method: SkipGram, text: EncodedText, checkpoint: Checkpoint) -> None:
        self.method, self.text, self.checkpoint = method, text, checkpoint
        self.of = fingerprint(method, text)
        self.buckets, self.subwords = _subwords(method, text.words)
        self.tables = _tables(method, len(text.words), len(self.buckets))
        power = NOISE_POWER if method.subwords is None else NOISE_POWER_OF_SUBWORDS
        self.words = word_chances(text.counts, method.sample, power)
        self.per_epoch = max(1, -(-len(text.ids) // (SHARDS * STRETCH)))
        self.done, self.halvings = 0, 0
        self._resume()

    @property
    def total(self) -> int:
        """Rounds of all epochs."""
        return self.per_epoch * self.method.epochs

    def rates(self, first: int, count: int) -> Doubles:
        """The rate of some rounds."""
        method = self.method
        usual = method.usual_rate if method.subwords is None else method.usual_rate_of_subwords
        start = (method.rate or usual) / 2**self.halvings
        left = 1.0 - np.arange(first, first + count) / self.total
        rates: Doubles = start * np.maximum(left, LAST_RATE)
        return rates

    def go(self, report: Report) -> None:
        """All rounds; after each call of the kernel somebody may look, or stop it."""
        rounds, began, before = 1, time.monotonic(), self.done
        good = self._keep()
        try:
            while self.done < self.total:
                start = time.monotonic()
                count = min(rounds, self.per_epoch - self.done % self.per_epoch)
                loss, pairs = self._call(count)
                if not np.isfinite(loss):
                    self._go_back(good)
                    continue
                self.done += count
                if self.done % self.per_epoch == 0:
                    good = self._keep()
                took = time.monotonic() - start
                rounds = max(1, min(2 * rounds, int(rounds * PAUSE / max(took, 1e-6))))
                speed = self.text.total / self.per_epoch * (self.done - before) / max(time.monotonic() - began, 1e-9)
                report(Stand(self.done / self.total, self.done // self.per_epoch, speed, loss / max(pairs, 1)))
                if self.checkpoint.due():
                    self._save()
        except BaseException:  # Ctrl-C or the end of the process, between two calls: the tables are whole
            self._save()
            raise
        self.checkpoint.remove()

    def _call(self, count: int) -> tuple[float, int]:
        per_round, method = SHARDS * STRETCH, self.method
        at = self.done % self.per_epoch * per_round
        ids = np.ascontiguousarray(self.text.ids[at : at + count * per_round])
        clock = (method.seed, self.done, self.rates(self.done, count))
        pool = POOL if method.subwords is None else POOL_OF_SUBWORDS
        plan = (clock, (method.window, method.negatives, SHARDS, STRETCH, pool))
        run = kernels.skipgram_rounds if method.kernel == "skipgram_rounds" else kernels.cbow_rounds
        return run(self.tables, self.words, self.subwords, ids, plan, kernels.thread_count())

    def _keep(self) -> tuple[int, Tables] | None:
        if sum(table.nbytes for table in self.tables) > MOST_KEPT:
            return None
        return self.done, (self.tables[0].copy(), self.tables[1].copy())

    def _go_back(self, good: tuple[int, Tables] | None) -> None:
        """Return to the last good tables with half the rate."""
        import warnings

        self.halvings += 1
        if good is None or self.halvings > MOST_HALVINGS:
            raise MachineError(f"The loss is not finite at a rate of {2 * self.rates(0, 1)[0]:.3g}; give a lower rate.")
        self.done, (self.tables[0][:], self.tables[1][:]) = good[0], good[1]
        said = f"The loss is not finite; training goes on with a rate of {self.rates(0, 1)[0]:.3g}."
        warnings.warn(LinnaeusWarning(said), stacklevel=2)

    def _save(self) -> None:
        tensors = {"inputs": self.tables[0], "outputs": self.tables[1]}
        if all(np.isfinite(table).all() for table in self.tables):
            self.checkpoint.save(self.of, {"rounds": self.done, "halvings": self.halvings}, tensors)

    def _resume(self) -> None:
        state = self.checkpoint.begin(self.method, self.text)
        if state is not None:
            self.done, self.halvings = int(state.manifest["rounds"]), int(state.manifest["halvings"])
            self.tables = (state.tensors["inputs"].copy(), state.tensors["outputs"].copy())

    def table(self) -> WordTable:
        """What was learned."""
        inputs, width, n = self.tables[0], self.method.width, len(self.text.words)
        own = inputs[:n, :width].copy()
        if self.method.subwords is None:
            return WordTable(self.text.words, own, None, self.text.lowercase)
        low, high = self.method.subwords
        grams = SubwordRows(low, high, self.method.buckets, self.buckets, inputs[n:, :width].copy())
        return WordTable(self.text.words, composed(inputs[:, :width], self.subwords), grams, self.text.lowercase)


def composed(rows: Floats, subwords: Subwords) -> Floats:
    """The vector of each word: the mean of its rows."""
    offsets, parts = subwords
    found = np.empty((len(offsets) - 1, rows.shape[1]), np.float32)
    for word in range(len(found)):
        found[word] = rows[parts[offsets[word] : offsets[word + 1]]].mean(axis=0)
    return found


def _tables(method: SkipGram, words: int, buckets: int) -> Tables:
    """Input rows of words and of subwords, drawn from -1/2 .. 1/2 over the width; output rows of zeros."""
    size = -(-method.width // LANES) * LANES
    rng = np.random.default_rng(method.seed)
    inputs = np.zeros((words + buckets, size), np.float32)
    for start in range(0, len(inputs), 1 << 16):
        piece = inputs[start : start + (1 << 16)]
        piece[:, : method.width] = (rng.random((len(piece), method.width), np.float32) - 0.5) / method.width
    return inputs, np.zeros((words, size), np.float32)


def _subwords(method: SkipGram, words: list[str]) -> tuple[Ints, Subwords]:
    """The buckets that the words use, and the input rows of each word: its own, then those of its buckets."""
    nothing = np.zeros(0, np.int32)
    if method.subwords is None:
        return nothing, (np.zeros(0, np.int64), nothing)
    offsets, found = kernels.subword_buckets(*packed(words), (*method.subwords, method.buckets))
    used, at = np.unique(found, return_inverse=True)
    rows = np.insert(at + len(words), offsets[:-1], np.arange(len(words))).astype(np.int32)
    offsets = offsets + np.arange(len(words) + 1)
    owners = np.repeat(np.arange(len(words)), np.diff(offsets))
    return used.astype(np.int32), (offsets, rows[np.lexsort((rows, owners))])  # so that equal rows stand side by side


def word_chances(counts: Longs, sample: float, power: float = NOISE_POWER) -> Words:
    """The chance of each word to be kept, and the noise by a power of its count, in units of 2^-32.

    >>> kept, _, _ = word_chances(np.array([9_000, 1_000]), 1e-3)
    >>> (kept / 2**32).round(3).tolist()
    [0.034, 0.11]
    """
    share = counts / counts.sum()
    kept = np.sqrt(sample / share) + sample / share if sample else np.ones(len(counts))
    return (_units(kept), *alias_table(counts.astype(np.float64) ** power))


def alias_table(weights: Doubles) -> tuple[Words32, Ints]:
    """A table from which a word is drawn in one look, by its weight (Walker 1977; Vose 1991).

    Slot i gives i if a number of 32 bits is at most `chance[i]`, else `alias[i]`.

    >>> chance, alias = alias_table(np.array([3.0, 1.0]))
    >>> (chance / 2**32).round(3).tolist(), alias.tolist()
    ([1.0, 0.5], [0, 0])
    """
    heights = (weights * (len(weights) / weights.sum())).tolist()
    alias = list(range(len(heights)))
    low = [i for i, height in enumerate(heights) if height < 1]
    high = [i for i, height in enumerate(heights) if height >= 1]
    while low and high:
        small, large = low.pop(), high[-1]
        alias[small] = large
        heights[large] -= 1 - heights[small]
        if heights[large] < 1:
            low.append(high.pop())
    for i in (*low, *high):  # what rounding has left over
        heights[i] = 1.0
    return _units(np.array(heights)), np.array(alias, np.int32)


def _units(chances: Doubles) -> Words32:
    return np.clip(np.floor(chances * 2.0**32), 0, 2.0**32 - 1).astype(np.uint32)
