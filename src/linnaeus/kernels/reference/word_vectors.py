"""Twins of `word_rounds.cpp`, `cooccur.cpp` and `subwords.cpp`: word vectors by negative sampling and from counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linnaeus.kernels.hashes import GOLDEN, scramble
from linnaeus.kernels.reference.rows import outside, refuse
from linnaeus.kernels.reference.tokens import pieces_of
from linnaeus.types import offsets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Bytes, Doubles, Floats, Ints, Longs

    Chances: TypeAlias = NDArray[np.uint32]
    Tables: TypeAlias = tuple[Floats, Floats]
    Words: TypeAlias = tuple[Chances, Chances, Ints]
    Subwords: TypeAlias = tuple[Longs, Ints]
    Clock: TypeAlias = tuple[int, int, Doubles]
    Shape: TypeAlias = tuple[int, int, int, int, int]
    Plan: TypeAlias = tuple[Clock, Shape]
    Pairs: TypeAlias = tuple[Ints, Ints, Floats, Floats]

LANES = 16
LOSS_EVERY = 16
MOST_OUTPUTS = 64
PULL = 0.3
"""How fast an update pulls a vector to where it wants it, times the rate."""


class Draws:
    """Random numbers of one shard in one round, from a counter."""

    def __init__(self, key: int, number: int, shard: int) -> None:
        with np.errstate(over="ignore"):
            of_round = scramble(np.uint64(key) + np.uint64(number + 1) * GOLDEN)
            self._at = scramble(of_round + np.uint64(shard + 1) * GOLDEN)

    def next(self) -> int:
        """64 bits."""
        with np.errstate(over="ignore"):
            self._at = self._at + GOLDEN
            return int(scramble(self._at))


@dataclass
class Copy:
    """A vector as the round found it and as it is now, and how many updates it has had."""

    before: Floats
    now: Floats
    updates: int = 0


@dataclass
class Copies:
    """The vectors that a shard has touched, in the order in which it first did."""

    read: Callable[[int], Floats]
    held: dict[int, Copy] = field(default_factory=dict)

    def find(self, row: int) -> Copy:
        """The copy of a row, made the first time."""
        if row not in self.held:
            found = self.read(row)
            self.held[row] = Copy(found, found.copy())
        return self.held[row]


@dataclass
class Problem:
    """The arrays of a training, checked against each other."""

    tables: Tables
    words: Words
    subwords: Subwords
    text: Ints
    plan: Plan

    def __post_init__(self) -> None:
        (inputs, outputs), count = self.tables, len(self.tables[1])
        refuse(inputs.shape[1] != outputs.shape[1] or outputs.shape[1] % LANES, "the tables do not have lines of 16")
        refuse(any(len(part) != count for part in self.words) or not count, "there is not one chance for each word")
        refuse(outside(self.words[2], count), "the noise names a word that does not exist")
        self._check_parts(len(inputs), count)
        refuse(len(self.text) and not -1 <= self.text.min() <= self.text.max() < count, "the text names a word that")
        (_, _, rates), (window, negatives, shards, stretch, pool) = self.plan
        fits = 1 <= window <= 1000 and 0 <= negatives < MOST_OUTPUTS and 1 <= shards <= 1024 and 1 <= stretch <= 1 << 24
        fits = fits and 1 <= pool <= 1 << 24
        refuse(not fits, "the window, the negatives, the shards, the stretch or the pool is out of range")
        refuse(len(self.text) > len(rates) * shards * stretch, "there are not as many rounds as the text needs")

    def _check_parts(self, rows: int, count: int) -> None:
        offsets, parts = self.subwords
        if not len(offsets):
            refuse(rows != count, "there is not one input row for each word")
            return
        fits = len(offsets) == count + 1 and offsets[0] == 0 and offsets[-1] == len(parts)
        refuse(not fits, "the rows of words do not fit the words")
        refuse((np.diff(offsets) <= 0).any(), "a word has no rows")
        refuse(outside(parts, rows), "a word names a row that does not exist")

    def rows_of(self, word: int) -> Ints | Longs:
        """The input rows of a word."""
        offsets, parts = self.subwords
        return parts[offsets[word] : offsets[word + 1]] if len(offsets) else np.array([word])

    def read_input(self, word: int) -> Floats:
        """The vector of a word: the mean of its rows, added one by one."""
        rows, total = self.rows_of(word), np.zeros(self.tables[0].shape[1], np.float32)
        for row in rows:
            total += self.tables[0][row]
        total *= np.float32(1) / np.float32(len(rows))
        return total

    def read_output(self, word: int) -> Floats:
        """The output vector of a word."""
        found: Floats = self.tables[1][word].copy()
        return found


def dot(x: Floats, o: Floats) -> np.float32:
    """X . o in 16 lanes, which are added in halves."""
    lanes = np.zeros(LANES, np.float32)
    for a, b in zip(x.reshape(-1, LANES), o.reshape(-1, LANES), strict=True):
        lanes = lanes + a * b
    lanes = lanes[:8] + lanes[8:]
    lanes = lanes[:4] + lanes[4:]
    return np.float32((lanes[0] + lanes[2]) + (lanes[1] + lanes[3]))


def step(inputs: list[Floats], outputs: list[Floats], rate: np.float32) -> Floats:
    """One step for all pairs, in place; the label of output 0 is 1. Returns the chances before it (C, T)."""
    one = np.float32(1)
    scores = np.array([[dot(x, o) for o in outputs] for x in inputs], np.float32)
    chances: Floats = one / (one + np.exp(-scores))
    steps = -rate * chances
    steps[:, 0] += rate
    old = [o.copy() for o in outputs]
    for i, x in enumerate(inputs):
        before = x.copy()
        for t, o in enumerate(outputs):
            x += steps[i, t] * old[t]
            o += steps[i, t] * before
    return chances


@dataclass
class Shard:
    """The work of one shard in one round."""

    problem: Problem
    inputs: Copies
    outputs: Copies
    draws: Draws
    loss: float = 0.0
    pairs: int = 0

    def sentences(self, ids: Ints) -> list[list[int]]:
        """The words of a stretch that stay, between the ends of texts."""
        found: list[list[int]] = [[]]
        for word in ids.tolist():
            if word < 0:
                found.append([])
            elif self.draws.next() >> 32 <= int(self.problem.words[0][word]):
                self.inputs.find(word), self.outputs.find(word)
                found[-1].append(word)
        return found

    def draw_pool(self) -> list[int]:
        """Words of noise for all steps of a stretch."""
        _, noise, alias = self.problem.words
        found = []
        for _ in range(self.problem.plan[1][4]):
            z = self.draws.next()
            slot = (z >> 32) * len(noise) >> 32
            found.append(slot if z & 0xFFFFFFFF <= int(noise[slot]) else int(alias[slot]))
            self.outputs.find(found[-1])
        return found

    def draw(self, center: int, pool: list[int]) -> list[int]:
        """The word, then noise from the pool, each word once."""
        found = [center]
        for _ in range(self.problem.plan[1][1]):
            word = pool[(self.draws.next() >> 32) * len(pool) >> 32]
            if word not in found:
                found.append(word)
        return found

    def steps(self, ids: Ints) -> Iterator[tuple[list[Copy], list[Copy]]]:
        """The words around each word, and the word itself with its noise."""
        window = self.problem.plan[1][0]
        sentences, pool = self.sentences(ids), self.draw_pool()
        for sentence in sentences:
            for i, center in enumerate(sentence):
                reach = 1 + ((self.draws.next() >> 32) * window >> 32)
                around = sentence[max(0, i - reach) : i] + sentence[i + 1 : i + reach + 1]
                if around:
                    outputs = [self.outputs.find(word) for word in self.draw(center, pool)]
                    yield [self.inputs.find(word) for word in around], outputs

    def count(self, chances: Floats) -> None:
        """Add the loss of a step."""
        right = np.concatenate([chances[:, :1], 1.0 - chances[:, 1:].astype(np.float64)], axis=1)
        self.loss -= float(np.log(np.maximum(right, 1e-12)).sum())
        self.pairs += len(chances)


def _skipgram(inputs: list[Copy], outputs: list[Copy], rate: np.float32) -> Floats:
    for copy in inputs:
        copy.updates += len(outputs)
    for copy in outputs:
        copy.updates += len(inputs)
    return step([copy.now for copy in inputs], [copy.now for copy in outputs], rate)


def _cbow(inputs: list[Copy], outputs: list[Copy], rate: np.float32) -> Floats:
    mean = np.zeros_like(inputs[0].now)
    for copy in inputs:
        mean = mean + copy.now
    mean *= np.float32(np.float32(1) / np.float32(len(inputs)))
    before = mean.copy()
    chances = step([mean], [copy.now for copy in outputs], rate)
    for copy in inputs:
        copy.now += mean - before
        copy.updates += len(outputs)
    for copy in outputs:
        copy.updates += 1
    return chances


Learn: TypeAlias = "Callable[[list[Copy], list[Copy], np.float32], Floats]"


def _run(problem: Problem, learn: Learn) -> tuple[float, int]:
    (key, first, rates), (_, _, shards, stretch, _) = problem.plan
    loss, pairs = 0.0, 0
    for number, rate in enumerate(rates.astype(np.float32)):
        done = []
        for s in range(shards):
            shard = Shard(
                problem, Copies(problem.read_input), Copies(problem.read_output), Draws(key, first + number, s)
            )
            begin = (number * shards + s) * stretch
            for i, (inputs, outputs) in enumerate(shard.steps(problem.text[begin : begin + stretch])):
                chances = learn(inputs, outputs, rate)
                if i % LOSS_EVERY == 0:
                    shard.count(chances)
            done.append(shard)
        for shard in done:
            _merge(problem, shard, rate)
        loss, pairs = loss + sum(shard.loss for shard in done), pairs + sum(shard.pairs for shard in done)
    return loss, pairs


def _merge(problem: Problem, shard: Shard, rate: np.float32) -> None:
    """What earlier shards changed decays as it would have done had this shard begun from there."""
    inputs, outputs = problem.tables
    for word, copy in shard.outputs.held.items():
        outputs[word] = copy.now + _stays(copy.updates, rate) * (outputs[word] - copy.before)
    for word, copy in shard.inputs.held.items():
        at = problem.read_input(word)
        change = copy.now + _stays(copy.updates, rate) * (at - copy.before) - at
        rows = problem.rows_of(word)
        for row in rows[np.append(True, rows[1:] != rows[:-1])]:
            inputs[row] += change


def _stays(updates: int, rate: np.float32) -> np.float32:
    return np.float32(np.exp(-PULL * float(rate) * updates))


def skipgram_rounds(
    tables: Tables, words: Words, subwords: Subwords, text: Ints, plan: Plan, _threads: int
) -> tuple[float, int]:
    """Skip-gram with negative sampling over some rounds of a text, in place.

    `tables` are inputs (rows, size) and outputs (words, size) in lines of 16 numbers; `words` the chance of each word
    to be kept, and the noise as an alias table (Walker 1977), in units of 2^-32; `subwords` the offsets and the input
    rows of each word, or two empty arrays where a word has the row of its number; a row that stands several times side
    by side is moved once. `text` holds numbers of words, and
    -1 at the end of each text. `plan` is the clock (key, first round, rate of each round) and the shape (window,
    negatives, shards, words of a shard in a round, words of noise for these). Returns the loss of every 16th step, and
    the pairs that it is of.
    """
    return _run(Problem(tables, words, subwords, text, plan), _skipgram)


def cbow_rounds(
    tables: Tables, words: Words, subwords: Subwords, text: Ints, plan: Plan, _threads: int
) -> tuple[float, int]:
    """Continuous bag of words, with the same arguments: the mean of the words around a word predicts it."""
    return _run(Problem(tables, words, subwords, text, plan), _cbow)


def subword_buckets(data: Bytes, offsets: Longs, cut: tuple[int, int, int]) -> tuple[Longs, Ints]:
    """Offsets and buckets of the n-grams of each word, of low to high characters of <word>, as in fastText.

    >>> word = np.frombuffer(b"as", np.uint8)
    >>> subword_buckets(word, np.array([0, 2]), (3, 3, 1000))[1].tolist()  # <as, as>
    [31, 177]
    """
    low, high, buckets = cut
    refuse(not 1 <= low <= high <= 64, "n-grams do not run from at least 1 to at most 64")
    refuse(not 1 <= buckets < 1 << 31, "there are between 1 and 2^31 - 1 buckets")
    found = [[_fnv(gram) % buckets for gram in _grams(word, low, high)] for word in pieces_of(data, offsets)]
    return offsets_of([len(row) for row in found]), np.array([bucket for row in found for bucket in row], np.int32)


def word_hashes(data: Bytes, offsets: Longs) -> NDArray[np.uint32]:
    """The hash of each word (n,), of which fastText makes those of n-grams of words.

    >>> word_hashes(np.frombuffer(b"asa", np.uint8), np.array([0, 2, 3])).tolist()
    [1579491469, 3826002220]
    """
    return np.array([_fnv(word) for word in pieces_of(data, offsets)], np.uint32)


def _grams(word: bytes, low: int, high: int) -> Iterator[bytes]:
    raw = b"<" + word + b">"
    begins = [i for i, byte in enumerate(raw) if byte & 0xC0 != 0x80]
    ends = [*begins[1:], len(raw)]
    for i, begin in enumerate(begins):
        for n in range(low, high + 1):
            last = i + n - 1
            if last < len(ends) and not (n == 1 and (begin == 0 or ends[last] == len(raw))):
                yield raw[begin : ends[last]]


def _fnv(gram: bytes) -> int:
    value = 2166136261
    for byte in gram:
        value = (value ^ (byte | 0xFFFFFF00 if byte >= 128 else byte)) * 16777619 & 0xFFFFFFFF
    return value


def count_near(text: Ints, weights: Doubles, words: int, _threads: int) -> tuple[Longs, Ints, Doubles]:
    """For each word and word near it the sum of `weights[d]` over the places where they stand d + 1 apart, as CSR.

    `text` holds numbers of words, and -1 at the end of each text.

    >>> [part.tolist() for part in count_near(np.array([0, 1, -1, 1], np.int32), np.array([1.0, 0.5]), 2, 1)]
    [[0, 1, 2], [1, 0], [1.0, 1.0]]
    """
    refuse(not 0 <= words < 1 << 31, "there are between 0 and 2^31 - 1 words")
    refuse(len(text) and not -1 <= text.min() <= text.max() < words, "the text names a word that does not exist")
    rows: list[dict[int, float]] = [{} for _ in range(words)]
    ids = text.tolist()
    for here, word in enumerate(ids):
        for side in (-1, 1) if word >= 0 else ():
            for d, weight in enumerate(weights.tolist(), 1):
                there = here + side * d
                if not 0 <= there < len(ids) or ids[there] < 0:
                    break
                rows[word][ids[there]] = rows[word].get(ids[there], 0.0) + weight
    found = [sorted(row.items()) for row in rows]
    flat = [item for row in found for item in row]
    columns, values = [c for c, _ in flat], [v for _, v in flat]
    return offsets_of([len(row) for row in found]), np.array(columns, np.int32), np.array(values, np.float64)


def glove_blocks(tables: Tables, pairs: Pairs, bounds: Longs, shape: tuple[int, float], _threads: int) -> float:
    """One AdaGrad step for each pair of some blocks, in place: f (w . c + b + b' - log x)^2 / 2 gets smaller.

    `tables` are those of words and of contexts (words, 2 size) in lines of 16 numbers: a vector, its bias and a one
    (for contexts a one and the bias) from the place `shape[0]` on, then the sums of squares; `shape[1]` is the rate.
    `pairs` are word, context, log of the count and weight; `bounds` where each block begins and ends among them. Blocks
    have no word and no context in common. Returns the sum of losses.
    """
    (W, C), (words, contexts, logs, weights), (bias_at, rate) = tables, pairs, shape
    size, n = W.shape[1] // 2, len(words)
    refuse(C.shape[1] != 2 * size or not size or size % LANES, "the tables do not have lines of 16 numbers")
    refuse(not 0 <= bias_at <= size - 2, "there is no place for the bias")
    refuse(any(len(part) != n for part in pairs), "pairs lack a number")
    refuse(len(bounds) % 2, "a block has no end")
    refuse(len(bounds) and not 0 <= bounds.min() <= bounds.max() <= n, "a block leaves the pairs")
    refuse(outside(words, len(W)) or outside(contexts, len(C)), "a pair names a word that does not exist")
    total = 0.0
    for begin, end in bounds.reshape(-1, 2).tolist():
        for i in range(begin, end):
            v, u = W[words[i]], C[contexts[i]]
            error = dot(v[:size], u[:size]) - logs[i]
            total += 0.5 * float(weights[i]) * float(error) ** 2
            _adapt(v, u, np.float32(np.float32(rate) * (weights[i] * error)))
            v[bias_at + 1] = u[bias_at] = 1.0
    return total


def _adapt(v: Floats, u: Floats, e: np.float32) -> None:
    size = len(v) // 2
    to_v, to_u = e * u[:size], e * v[:size]
    v[:size] -= to_v / np.sqrt(v[size:])
    u[:size] -= to_u / np.sqrt(u[size:])
    v[size:] += to_v * to_v
    u[size:] += to_u * to_u
